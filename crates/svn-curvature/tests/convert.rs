//! Arrays to tensors and back, in every layout.

use ndarray::{Array1, Array2, Array3, Axis, Ix1, Ix3, array, s};
use svn_curvature::{CurvatureError, convert};
use tch::{Device, Kind, Tensor};

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
        let tensor = convert::tensor(view).unwrap();
        let shape: Vec<i64> = view.shape().iter().map(|&s| s as i64).collect();
        assert_eq!(tensor.size(), shape);
        let back: Array3<f64> = convert::array(&tensor).unwrap();
        assert_eq!(back, view);
    }
    // Tensors that are views themselves.
    let transposed: Array3<f64> =
        convert::array(&convert::tensor(a.view()).unwrap().permute([2, 0, 1])).unwrap();
    assert_eq!(transposed, a.view().permuted_axes([2, 0, 1]));
    let empty: Array2<f64> =
        convert::array(&convert::tensor(Array2::<f64>::zeros((0, 3)).view()).unwrap()).unwrap();
    assert_eq!(empty.dim(), (0, 3));
}

#[test]
fn copies_into_every_layout_leave_the_rest_alone() {
    let a = numbers();
    let tensor = convert::tensor(a.view()).unwrap();
    let mut ring = Array3::from_elem((2, 9, 4), -1.0);
    convert::copy_into(&tensor, ring.slice_mut(s![.., 3..6, ..])).unwrap();
    assert_eq!(ring.slice(s![.., 3..6, ..]), a);
    assert_eq!(ring.iter().filter(|&&v| v == -1.0).count(), 2 * 6 * 4);
    let mut reversed = Array3::zeros((2, 3, 4));
    let mut view = reversed.view_mut();
    view.invert_axis(Axis(2));
    convert::copy_into(&tensor, view).unwrap();
    assert_eq!(reversed.slice(s![.., .., ..;-1]), a);
    let mut single = Array1::zeros(2);
    convert::copy_into(&Tensor::from_slice(&[0.5f32, 0.25]), single.view_mut()).unwrap();
    assert_eq!(single, array![0.5, 0.25]);
}

#[test]
fn kinds_are_kept_unless_asked_for() {
    assert_eq!(
        convert::tensor(array![1i64, 2].view()).unwrap().kind(),
        Kind::Int64
    );
    assert_eq!(
        convert::tensor(array![1.0f32].view()).unwrap().kind(),
        Kind::Float
    );
    let single = convert::tensor_on(array![0.1].view(), Kind::Float, Device::Cpu).unwrap();
    assert_eq!(single.kind(), Kind::Float);
    let error = convert::tensor_on(array![0.1].view(), Kind::Int64, Device::Cpu).unwrap_err();
    assert!(matches!(error, CurvatureError::Kind { .. }), "{error}");
    let error = convert::array::<Ix1>(&Tensor::from_slice(&[1i64])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tensor must be of kind Double or Float, found Int64"
    );
}

#[test]
fn wrong_shapes_name_both() {
    let tensor = convert::tensor(numbers().view()).unwrap();
    let error = convert::array::<Ix1>(&tensor).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tensor must have shape with 1 dimensions, found [2, 3, 4]"
    );
    let error = convert::copy_into(&tensor, Array3::zeros((2, 4, 3)).view_mut()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tensor must have shape that of the array = [2, 4, 3], found [2, 3, 4]"
    );
    assert!(convert::array::<Ix3>(&tensor).is_ok());
}
