//! A matrix held as its elements, owned or borrowed.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, CowArray, Ix2};

use super::{LinearOperator, SelfAdjoint, assert_shapes};
use crate::dense;
use crate::input::{InputError, check_finite, check_symmetric};

/// `out = a x`: a matrix-vector product for one column, a matrix-matrix product for more.
pub(crate) fn multiply_into(
    a: ArrayView2<'_, f64>,
    x: ArrayView2<'_, f64>,
    out: ArrayViewMut2<'_, f64>,
) {
    assert_shapes(a.dim(), &x, &out);
    dense::multiply(1.0, a, x, 0.0, out);
}

/// A rectangular matrix as an operator; owns an `Array2`, borrows from an `ArrayView2`.
#[derive(Debug, Clone)]
pub struct Dense<'a> {
    matrix: CowArray<'a, f64, Ix2>,
}

impl<'a> Dense<'a> {
    /// Wrap a matrix.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] with row and column.
    pub fn new(matrix: impl Into<CowArray<'a, f64, Ix2>>) -> Result<Self, InputError> {
        let matrix = matrix.into();
        check_finite("matrix", matrix.view())?;
        Ok(Self { matrix })
    }

    /// The elements.
    pub fn matrix(&self) -> ArrayView2<'_, f64> {
        self.matrix.view()
    }
}

impl LinearOperator for Dense<'_> {
    fn nrows(&self) -> usize {
        self.matrix.nrows()
    }

    fn ncols(&self) -> usize {
        self.matrix.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        multiply_into(self.matrix.view(), x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        multiply_into(self.matrix.t(), x, out);
    }

    fn to_dense(&self) -> Array2<f64> {
        self.matrix.to_owned()
    }
}

/// A symmetric matrix as a self-adjoint operator; owns an `Array2`, borrows from an `ArrayView2`.
#[derive(Debug, Clone)]
pub struct Symmetric<'a> {
    matrix: CowArray<'a, f64, Ix2>,
}

impl<'a> Symmetric<'a> {
    /// Of a matrix that was looked at before.
    pub(crate) fn unchecked(matrix: impl Into<CowArray<'a, f64, Ix2>>) -> Self {
        Self {
            matrix: matrix.into(),
        }
    }

    /// Wrap a matrix that equals its transpose up to rounding (`1e-8` of its largest element).
    ///
    /// # Errors
    /// [`InputError`]: not square, empty, not finite, or not symmetric, with the worst pair.
    pub fn new(matrix: impl Into<CowArray<'a, f64, Ix2>>) -> Result<Self, InputError> {
        let matrix = matrix.into();
        check_symmetric("matrix", matrix.view())?;
        Ok(Self { matrix })
    }

    /// The elements.
    pub fn matrix(&self) -> ArrayView2<'_, f64> {
        self.matrix.view()
    }
}

impl LinearOperator for Symmetric<'_> {
    fn nrows(&self) -> usize {
        self.matrix.nrows()
    }

    fn ncols(&self) -> usize {
        self.matrix.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        multiply_into(self.matrix.view(), x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        multiply_into(self.matrix.t(), x, out);
    }

    fn to_dense(&self) -> Array2<f64> {
        self.matrix.to_owned()
    }
}

impl SelfAdjoint for Symmetric<'_> {}
