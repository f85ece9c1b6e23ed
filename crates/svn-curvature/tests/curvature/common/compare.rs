//! Errors relative to a reference, and the parts of a dense matrix to compare.

use ndarray::{Array2, ArrayBase, Data, Dimension};
use svn_curvature::Sequential;

/// `max |a − b| / max |b|`, with the shapes compared; no number is NaN or infinite.
pub(crate) fn relative_error<D: Dimension>(
    a: &ArrayBase<impl Data<Elem = f64>, D>,
    b: &ArrayBase<impl Data<Elem = f64>, D>,
) -> f64 {
    assert_eq!(a.shape(), b.shape());
    assert!(a.iter().chain(b).all(|x| x.is_finite()));
    let scale = b.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    a.iter()
        .zip(b)
        .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
        / scale
}

/// `d × d` with the layers' diagonal blocks kept and the rest zero.
pub(crate) fn layer_blocks(
    network: &Sequential,
    full: &ArrayBase<impl Data<Elem = f64>, ndarray::Ix2>,
) -> Array2<f64> {
    let layer_of: Vec<&str> = network
        .layout()
        .blocks()
        .iter()
        .flat_map(|block| std::iter::repeat_n(block.name().split('.').next().unwrap(), block.len()))
        .collect();
    Array2::from_shape_fn(full.raw_dim(), |(i, j)| {
        if layer_of[i] == layer_of[j] {
            full[[i, j]]
        } else {
            0.0
        }
    })
}

/// `‖a − b‖ / ‖b‖` in the Frobenius norm.
pub(crate) fn frobenius_error(
    a: &ArrayBase<impl Data<Elem = f64>, ndarray::Ix2>,
    b: &ArrayBase<impl Data<Elem = f64>, ndarray::Ix2>,
) -> f64 {
    assert_eq!(a.dim(), b.dim());
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    let norm: f64 = b.iter().map(|b| b * b).sum();
    squares.sum::<f64>().sqrt() / norm.sqrt().max(f64::MIN_POSITIVE)
}
