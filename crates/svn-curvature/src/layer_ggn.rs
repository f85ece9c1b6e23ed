//! Curvature of one affine layer as a matrix, kept batch by batch: for more rows `S_iᵀ J_i` than the layer has parameters.
//!
//! ```text
//! H = Σ_i Λ_i ⊗ ã_i ã_iᵀ,    Λ_i = Σ_j δ_ij δ_ijᵀ  (O × O),    ã_i = (a_i, 1)  with a bias
//! block (o, o') = Ãᵀ diag(Λ_·oo') Ã                             o ≤ o', the others by symmetry
//! ```
//!
//! One matrix product a batch: `½ O (O + 1) · K'² · b` multiplications, where the product of the rows takes
//! `(O K')² · b k`, for ten classes eighteen times as many.

use ndarray::{
    Array2, Array3, Array4, ArrayD, ArrayView2, ArrayView4, ArrayViewMut2, ArrayViewMut3, s,
};
use svn_linalg::{DenseMatrices, ParticleOperators, Shifted, dense};

use crate::linearized::{Values, check_layer_finite, homogeneous, visitors};
use crate::slots::{BatchSlots, check_shapes, fixed};
use crate::{CurvatureError, Linearized, Result};

/// `H` of the last batches for each of `N` particles, one slot a batch. Unwritten slots are zero.
#[derive(Debug, Clone)]
pub struct LayerGgn {
    /// By slot: `N × pairs × K' × K'`.
    slots: Vec<Array4<f64>>,
    /// `N × d × d`.
    matrices: Array3<f64>,
    outputs: usize,
    fan_in: usize,
}

impl LayerGgn {
    /// Room for `slots` batches of what `linear` has, or none unless that is one affine layer with one position a sample,
    /// as after [`Linearized::last_layer`].
    pub fn new(linear: &dyn Linearized, slots: usize) -> Option<Self> {
        let [block] = linear.subject().blocks() else {
            return None;
        };
        if block.positions() != 1 {
            return None;
        }
        let (o, k) = (block.outputs, block.homogeneous_fan_in());
        Some(Self {
            matrices: Array3::zeros((linear.particles(), o * k, o * k)),
            slots: vec![Array4::zeros((linear.particles(), o * (o + 1) / 2, k, k)); slots.max(1)],
            outputs: o,
            fan_in: block.fan_in,
        })
    }

    /// The sums of all slots as matrices, in the order of the flat parameters.
    fn update_matrices(&mut self) {
        let mut matrices = std::mem::take(&mut self.matrices);
        for (particle, matrix) in matrices.outer_iter_mut().enumerate() {
            self.sum_into(particle, matrix);
        }
        self.matrices = matrices;
    }

    fn sum_into(&self, particle: usize, mut out: ArrayViewMut2<'_, f64>) {
        let mut pair = 0;
        for o in 0..self.outputs {
            for q in o..self.outputs {
                let blocks = self
                    .slots
                    .iter()
                    .map(|slot| slot.slice(s![particle, pair, .., ..]));
                let sum = blocks.fold(None, |sum: Option<ndarray::Array2<f64>>, block| {
                    Some(match sum {
                        Some(sum) => sum + block,
                        None => block.to_owned(),
                    })
                });
                pair += 1;
                let Some(sum) = sum else { continue };
                for ((i, j), value) in sum.indexed_iter() {
                    // A matrix product rounds the two halves of a symmetric block apart.
                    let value = if o == q {
                        0.5 * (value + sum[[j, i]])
                    } else {
                        *value
                    };
                    let (row, column) = (self.flat(o, i), self.flat(q, j));
                    out[[row, column]] = value;
                    out[[column, row]] = value;
                }
            }
        }
    }

    /// Place of weight `(o, i)`, or of bias `o`, in the flat vector.
    fn flat(&self, o: usize, i: usize) -> usize {
        if i < self.fan_in {
            o * self.fan_in + i
        } else {
            self.outputs * self.fan_in + o
        }
    }
}

impl BatchSlots for LayerGgn {
    fn write(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        slot: usize,
    ) -> Result<()> {
        linear.check_root(root)?;
        let slots = self.slots.len();
        let Some(target) = self.slots.get_mut(slot) else {
            return Err(CurvatureError::OutOfRange {
                name: "slot",
                range: "below the number of slots",
                found: slot.min(slots) as f64,
            });
        };
        let block = &linear.subject().blocks()[0];
        let parts = target.outer_iter_mut().collect();
        let visit =
            |p: usize, target: &mut ArrayViewMut3<'_, f64>, _, a: Values<'_>, delta: Values<'_>| {
                let a = homogeneous(a, block);
                let sums = pair_moments(a.view(), delta);
                check_layer_finite("curvature", block, p, sums.view())?;
                if let Ok(sums) = sums.into_shape_with_order(target.raw_dim()) {
                    target.assign(&sums);
                }
                Ok(())
            };
        linear.visit_layers(root, visitors(parts, &visit))?;
        self.update_matrices();
        Ok(())
    }

    fn curvature(&self, weight: f64, shift: f64) -> Box<dyn ParticleOperators + '_> {
        // Finite and positive semi-definite by construction.
        let matrices = DenseMatrices::trusted(self.matrices.view());
        Box::new(Shifted::new(matrices, weight, shift))
    }

    fn arrays(&self) -> Vec<ArrayD<f64>> {
        let slots = self.slots.iter();
        slots.map(|slot| slot.clone().into_dyn()).collect()
    }

    fn set_arrays(&mut self, arrays: Vec<ArrayD<f64>>, _: &[usize]) -> Result<()> {
        check_shapes(&arrays, self.slots.iter().map(|slot| slot.shape()))?;
        self.slots = arrays.into_iter().map(fixed).collect::<Result<_>>()?;
        self.update_matrices();
        Ok(())
    }
}

/// `Ãᵀ diag(Λ_·oo') Ã` for the pairs `o ≤ o'`, row by row and below each other: `pairs·K' × K'`.
fn pair_moments(a: ArrayView2<'_, f64>, delta: ArrayView2<'_, f64>) -> Array2<f64> {
    let ((samples, width), outputs) = (a.dim(), delta.ncols());
    let columns = delta.nrows() / samples.max(1);
    let pairs = outputs * (outputs + 1) / 2;
    let mut weighted = Array2::zeros((samples, pairs * width));
    for (i, mut weighted) in weighted.outer_iter_mut().enumerate() {
        let delta = delta.slice(s![i * columns..(i + 1) * columns, ..]);
        let mut parts = weighted.exact_chunks_mut(width).into_iter();
        for o in 0..outputs {
            for q in o..outputs {
                let lambda = dense::dot(delta.column(o), delta.column(q));
                if let Some(mut part) = parts.next() {
                    part.zip_mut_with(&a.row(i), |part, a| *part = lambda * a);
                }
            }
        }
    }
    dense::product(weighted.t(), a)
}

#[cfg(feature = "torch")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activation, Backend, Layer, Loss, Sequential};
    use ndarray::{Array, Axis, Dimension, IntoDimension};
    use svn_linalg::LinearOperator as _;

    fn waves<D: IntoDimension>(shape: D, frequency: f64) -> Array<f64, D::Dim> {
        let shape = shape.into_dimension();
        let values = (0..shape.size()).map(|i| (i as f64 * frequency).sin());
        Array::from_shape_vec(shape, values.collect()).unwrap()
    }

    /// Two dense layers behind an image, with and without a last bias.
    fn perceptron(bias: bool) -> Sequential {
        let layers = vec![
            Layer::Flatten,
            Layer::linear(64, 7),
            Layer::Activation(Activation::Tanh),
            Layer::Linear {
                inputs: 7,
                outputs: 4,
                bias,
            },
        ];
        Sequential::new(&[1, 8, 8], layers).unwrap()
    }

    /// A small LeNet: two convolutions, pooling, two dense layers.
    #[cfg(feature = "torch")]
    fn convolutions(bias: bool) -> Sequential {
        use crate::{Conv2d, Pool2d};
        let layers = vec![
            Layer::Conv2d(Conv2d::new(1, 2, [3, 3]).padding([1, 1])),
            Layer::Activation(Activation::Sigmoid),
            Layer::MaxPool2d(Pool2d::new([2, 2])),
            Layer::Conv2d(Conv2d::new(2, 3, [3, 3])),
            Layer::relu(),
            Layer::Flatten,
            Layer::linear(12, 7),
            Layer::Activation(Activation::Tanh),
            Layer::Linear {
                inputs: 7,
                outputs: 4,
                bias,
            },
        ];
        Sequential::new(&[1, 8, 8], layers).unwrap()
    }

    fn last_layers(bias: bool) -> Vec<(Backend, Sequential)> {
        vec![
            (Backend::native(), perceptron(bias)),
            #[cfg(feature = "torch")]
            (Backend::torch(), perceptron(bias)),
            #[cfg(feature = "torch")]
            (Backend::torch(), convolutions(bias)),
        ]
    }

    fn linearize(
        (backend, network): &(Backend, Sequential),
        particles: usize,
        samples: usize,
        frequency: f64,
    ) -> Box<dyn Linearized> {
        let params = waves((particles, network.layout().dim()), 1.7);
        let x = waves((samples, 64), frequency);
        let samples = backend.samples(network, x.view()).unwrap();
        samples.linearize(network, params.view()).unwrap()
    }

    /// Against the rows written out and multiplied, over two slots, one of which is written twice; sums of 40 products.
    #[test]
    fn it_is_the_product_of_the_rows_of_the_last_batches() {
        for case in [true, false].into_iter().flat_map(last_layers) {
            let linearize = |frequency| linearize(&case, 3, 10, frequency).last_layer();
            let first = linearize(0.9);
            let d = first.dim();
            let mut kept = LayerGgn::new(&*first, 2).unwrap();
            let mut rows: [Array3<f64>; 2] = [(); 2].map(|()| Array3::zeros((3, 0, d)));
            for (slot, frequency) in [(0, 0.9), (1, 0.31), (0, 2.3)] {
                let linear = linearize(frequency);
                let root = Loss::Categorical.root(linear.outputs()).unwrap();
                kept.write(&*linear, root.view(), slot).unwrap();
                rows[slot] = linear.rows(root.view()).unwrap();
            }
            for p in 0..3 {
                let found = kept.curvature(0.6, 0.25).operator(p).to_dense();
                let mut expected = Array2::<f64>::eye(d) * 0.25;
                for rows in &rows {
                    let rows = rows.index_axis(Axis(0), p);
                    expected = expected + rows.t().dot(&rows) * 0.6;
                }
                for (a, b) in found.iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-13, "{a} {b}");
                }
                assert_eq!(found, found.t());
            }
        }
    }

    #[test]
    fn what_has_another_form_is_refused() {
        for case in last_layers(true) {
            let linear = || linearize(&case, 1, 2, 0.9);
            assert!(LayerGgn::new(&*linear(), 1).is_none());
            let last = linear().last_layer();
            let mut kept = LayerGgn::new(&*last, 1).unwrap();
            let root = Loss::Categorical.root(last.outputs()).unwrap();
            assert!(kept.write(&*last, root.view(), 1).is_err());
            let other = Array4::zeros((1, 10, 8, 7)).into_dyn();
            assert!(kept.set_arrays(vec![other], &[0]).is_err());
            let saved = kept.arrays();
            assert!(kept.set_arrays(saved, &[0]).is_ok());
        }
    }
}
