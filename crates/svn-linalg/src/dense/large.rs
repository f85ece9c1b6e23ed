//! Products of large matrices by `faer`, which packs them into blocks for the caches; one thread.
#![allow(
    unsafe_code,
    reason = "views of `ndarray` become views of `faer`, strides and all"
)]

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{ArrayView2, ArrayViewMut2};

use super::lanes::Lanes;

/// `C ← α A B + β C`.
///
/// # Panics
/// If the shapes do not fit.
pub(super) fn multiply<T: Lanes + ComplexField>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut c: ArrayViewMut2<'_, T>,
) {
    let accumulate = if beta == T::zero() {
        Accum::Replace
    } else {
        if beta != T::one() {
            c.mapv_inplace(|c| beta * c);
        }
        Accum::Add
    };
    matmul(
        view_mut(&mut c),
        accumulate,
        view(&a),
        view(&b),
        alpha,
        Par::Seq,
    );
}

/// The same elements, seen by `faer`.
pub(crate) fn view<'a, T>(a: &'a ArrayView2<'_, T>) -> MatRef<'a, T> {
    // SAFETY: a live view with these dimensions and strides.
    unsafe {
        MatRef::from_raw_parts(
            a.as_ptr(),
            a.nrows(),
            a.ncols(),
            a.strides()[0],
            a.strides()[1],
        )
    }
}

/// The same elements, seen by `faer`.
pub(crate) fn view_mut<'a, T>(a: &'a mut ArrayViewMut2<'_, T>) -> MatMut<'a, T> {
    let strides = (a.strides()[0], a.strides()[1]);
    // SAFETY: a live view with these dimensions and strides, borrowed mutably; elements of a mutable view of ndarray do
    // not overlap.
    unsafe {
        MatMut::from_raw_parts_mut(a.as_mut_ptr(), a.nrows(), a.ncols(), strides.0, strides.1)
    }
}
