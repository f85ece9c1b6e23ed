//! Errors relative to a reference, and the parts of a dense matrix to compare.

use ndarray::Array2;
use svn_curvature::{Sequential, convert};
use tch::{Device, Kind, Tensor};

/// `max |a − b| / max |b|`, with the shapes compared.
pub(crate) fn relative_error(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.size(), b.size());
    let scale = b.abs().max().double_value(&[]).max(f64::MIN_POSITIVE);
    (a - b).abs().max().double_value(&[]) / scale
}

pub(crate) const CPU_F64: (Kind, Device) = (Kind::Double, Device::Cpu);

/// One particle's matrix as an array.
pub(crate) fn matrix(tensor: &Tensor, particle: usize) -> Array2<f64> {
    convert::array(&tensor.get(particle as i64)).unwrap()
}

/// `d × d` with the layers' diagonal blocks kept and the rest zero.
pub(crate) fn layer_blocks(network: &Sequential, full: &Array2<f64>) -> Array2<f64> {
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
pub(crate) fn frobenius_error(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    let norm = |m: &Array2<f64>| m.iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(&(a - b)) / norm(b).max(f64::MIN_POSITIVE)
}
