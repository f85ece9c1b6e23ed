//! Everything that a linearisation gives, as arrays with names.

use ndarray::{Array2, Array3, ArrayD};
use svn_curvature::{LayerBases, LayerMoments, Linearized, Sequential};

use crate::common::normal;

/// Outputs, gradients, rows, and the sums of the families, with a root of `columns` columns; cotangents, roots and bases
/// from `seed`.
pub(crate) fn products(
    network: &Sequential,
    linear: &dyn Linearized,
    columns: usize,
    seed: u64,
) -> Vec<(&'static str, ArrayD<f64>)> {
    let (n, b, c) = linear.outputs().dim();
    let (r, root) = (
        normal((n, b, c), 1.0, seed),
        normal((n, b, c, columns), 1.0, seed + 1),
    );
    let mut squares = Array2::from_elem((n, linear.dim()), 0.5);
    linear.add_squares(root.view(), squares.view_mut()).unwrap();
    let mut all = vec![
        ("outputs", linear.outputs().to_owned().into_dyn()),
        ("vjp", linear.vjp(r.view()).unwrap().into_dyn()),
        ("rows", linear.rows(root.view()).unwrap().into_dyn()),
        ("squares", squares.into_dyn()),
    ];
    let sides = sides(network, linear.dim());
    let mut moments: Vec<LayerMoments> = sides
        .iter()
        .map(|&(outputs, inputs)| LayerMoments {
            inputs: Array3::from_elem((n, inputs, inputs), 0.5),
            cotangents: Array3::from_elem((n, outputs, outputs), 0.5),
        })
        .collect();
    linear.add_moments(root.view(), &mut moments).unwrap();
    for moments in moments {
        all.push(("inputs' moments", moments.inputs.into_dyn()));
        all.push(("cotangents' moments", moments.cotangents.into_dyn()));
    }
    let bases: Vec<LayerBases> = sides
        .iter()
        .map(|&(outputs, inputs)| LayerBases {
            left: normal((n, outputs, outputs), 0.5, seed + 2),
            right: normal((n, inputs, inputs), 0.5, seed + 3),
        })
        .collect();
    let mut spectra: Vec<Array3<f64>> = sides
        .iter()
        .map(|&(outputs, inputs)| Array3::from_elem((n, outputs, inputs), 0.5))
        .collect();
    linear
        .add_spectra(root.view(), &bases, &mut spectra)
        .unwrap();
    all.extend(spectra.into_iter().map(|s| ("spectra", s.into_dyn())));
    all
}

/// `O` and `K'` of each layer that is covered: all, or the last one.
fn sides(network: &Sequential, dim: usize) -> Vec<(usize, usize)> {
    let layout = network.layout();
    let covered = layout
        .blocks()
        .iter()
        .filter(|block| block.range().start >= layout.dim() - dim);
    let mut sides = Vec::new();
    for block in covered {
        match (block.shape(), sides.last_mut()) {
            (&[outputs, inputs], _) => sides.push((outputs, inputs)),
            (_, Some((_, inputs))) => *inputs += 1,
            _ => unreachable!("a bias comes behind its weight"),
        }
    }
    sides
}
