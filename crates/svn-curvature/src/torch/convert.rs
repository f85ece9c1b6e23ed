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
/// Another number of dimensions.
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
/// Another shape.
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

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, Array3, Axis, Ix1, Ix3, array, s};

    use super::*;

    fn double<D: Dimension>(array: ArrayView<'_, f64, D>) -> Tensor {
        tensor(array, Kind::Double, Device::Cpu).unwrap()
    }

    fn numbers() -> Array3<f64> {
        Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as f64)
    }

    #[test]
    fn every_layout_goes_there_and_back() {
        let a = numbers();
        let mut reversed = a.view();
        reversed.invert_axis(Axis(1));
        for view in [
            a.view(),
            a.view().reversed_axes(),
            a.slice(s![.., ..;2, 1..3]),
            reversed,
        ] {
            let tensor = double(view);
            let shape: Vec<i64> = view.shape().iter().map(|&s| s as i64).collect();
            assert_eq!(tensor.size(), shape);
            let back: Array3<f64> = super::array(&tensor).unwrap();
            assert_eq!(back, view);
        }
        // Tensors that are views themselves.
        let transposed: Array3<f64> = super::array(&double(a.view()).permute([2, 0, 1])).unwrap();
        assert_eq!(transposed, a.view().permuted_axes([2, 0, 1]));
        let empty: Array2<f64> =
            super::array(&double(Array2::<f64>::zeros((0, 3)).view())).unwrap();
        assert_eq!(empty.dim(), (0, 3));
    }

    #[test]
    fn copies_into_every_layout_leave_the_rest_alone() {
        let a = numbers();
        let tensor = double(a.view());
        let mut ring = Array3::from_elem((2, 9, 4), -1.0);
        copy_into(&tensor, ring.slice_mut(s![.., 3..6, ..])).unwrap();
        assert_eq!(ring.slice(s![.., 3..6, ..]), a);
        assert_eq!(ring.iter().filter(|&&v| v == -1.0).count(), 2 * 6 * 4);
        let mut reversed = Array3::zeros((2, 3, 4));
        let mut view = reversed.view_mut();
        view.invert_axis(Axis(2));
        copy_into(&tensor, view).unwrap();
        assert_eq!(reversed.slice(s![.., .., ..;-1]), a);
        let mut single = Array1::zeros(2);
        copy_into(&Tensor::from_slice(&[0.5f32, 0.25]), single.view_mut()).unwrap();
        assert_eq!(single, array![0.5, 0.25]);
    }

    #[test]
    fn single_precision_is_asked_for() {
        let single = tensor(array![0.1].view(), Kind::Float, Device::Cpu).unwrap();
        assert_eq!(single.kind(), Kind::Float);
        assert_eq!(
            super::array::<Ix1>(&single).unwrap(),
            array![f64::from(0.1f32)]
        );
    }

    #[test]
    fn wrong_shapes_name_both() {
        let tensor = double(numbers().view());
        let error = super::array::<Ix1>(&tensor).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tensor must have shape with 1 dimensions, found [2, 3, 4]"
        );
        let error = copy_into(&tensor, Array3::zeros((2, 4, 3)).view_mut()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tensor must have shape that of the array = [2, 4, 3], found [2, 3, 4]"
        );
        assert!(super::array::<Ix3>(&tensor).is_ok());
    }
}
