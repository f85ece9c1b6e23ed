//! The one place where `ndarray` 0.17 arrays and libtorch tensors meet; every conversion is checked and none is silent.
//!
//! (`tch` brings conversions of its own, but for another version of `ndarray`, and they panic on some inputs.)

use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, IxDyn};
use tch::{Device, Kind, Tensor};

use crate::error::check_shape;
use crate::{CurvatureError, Result};

/// A contiguous tensor of floating-point kind `kind` with the array's values.
pub(super) fn tensor<D: Dimension>(
    array: ArrayView<'_, f64, D>,
    kind: Kind,
    device: Device,
) -> Result<Tensor> {
    let shape: Vec<i64> = array.shape().iter().map(|&s| s as i64).collect();
    let standard = array.as_standard_layout();
    let tensor = match standard.as_slice() {
        Some(values) => Tensor::f_from_slice(values)?,
        None => Tensor::f_from_slice(&standard.iter().copied().collect::<Vec<f64>>())?,
    };
    Ok(tensor.f_reshape(shape)?.f_to_kind(kind)?.f_to(device)?)
}

/// The values of a floating-point tensor on any device as an f64 array of dimension `D`.
///
/// # Errors
/// Another number of dimensions; a tensor that is not of floating-point kind.
pub(super) fn array<D: Dimension>(tensor: &Tensor) -> Result<Array<f64, D>> {
    let shape: Vec<usize> = tensor.size().iter().map(|&s| s as usize).collect();
    let values = values(tensor)?;
    Array::from_shape_vec(IxDyn(&shape), values)
        .and_then(|array| array.into_dimensionality())
        .map_err(|_| {
            let expected = format!("with {} dimensions", D::NDIM.unwrap_or(shape.len()));
            CurvatureError::Shape {
                what: "tensor",
                expected,
                found: shape,
            }
        })
}

/// Copies a floating-point tensor on any device into an f64 array of the same shape.
///
/// # Errors
/// Another shape; a tensor that is not of floating-point kind.
pub(super) fn copy_into<D: Dimension>(
    tensor: &Tensor,
    mut out: ArrayViewMut<'_, f64, D>,
) -> Result<()> {
    let found: Vec<usize> = tensor.size().iter().map(|&side| side as usize).collect();
    check_shape("tensor", &found, out.shape(), "that of the array")?;
    if let Some(mut alias) = alias_mut(&mut out)? {
        tch::no_grad(|| alias.f_copy_(tensor))?;
    } else {
        for (target, value) in out.iter_mut().zip(values(tensor)?) {
            *target = value;
        }
    }
    Ok(())
}

/// A CPU tensor over the array's own memory, or none if the strides cannot be expressed. It must not outlive the view:
/// callers in this crate drop it before they return.
pub(super) fn alias_mut<D: Dimension>(
    array: &mut ArrayViewMut<'_, f64, D>,
) -> Result<Option<Tensor>> {
    if array.is_empty() || array.strides().iter().any(|&s| s <= 0) {
        return Ok(None);
    }
    let size: Vec<i64> = array.shape().iter().map(|&s| s as i64).collect();
    let strides: Vec<i64> = array.strides().iter().map(|&s| s as i64).collect();
    // SAFETY: pointer, shape and strides describe memory that `array` borrows mutably; libtorch does not free it, and
    // the tensor lives no longer than the borrow (see above).
    let tensor = unsafe {
        Tensor::f_from_blob(
            array.as_mut_ptr().cast::<u8>(),
            &size,
            &strides,
            Kind::Double,
            Device::Cpu,
        )?
    };
    Ok(Some(tensor))
}

fn values(tensor: &Tensor) -> Result<Vec<f64>> {
    let tensor = tensor
        .f_to(Device::Cpu)?
        .f_to_kind(Kind::Double)?
        .f_contiguous()?;
    let mut values = vec![0.0; tensor.numel()];
    tensor.f_copy_data(&mut values, tensor.numel())?;
    Ok(values)
}
