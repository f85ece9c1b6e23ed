//! Matrices known by their action.
//!
//! ```text
//! LinearOperator   x ↦ A x, y ↦ Aᵀ y            A: nrows × ncols, x: ncols × k, y: nrows × k
//! SelfAdjoint      A = Aᵀ                       dim × dim
//! ```
//!
//! Every operator takes `k` columns at once, so that the work ends in matrix-matrix products. Operators compose by
//! value; a reference, a `Box` and an `Arc` of an operator are operators, so any of them may be shared or erased.

mod block_diagonal;
mod damped;
mod dense;
mod diagonal;
mod low_rank;
mod rows;
mod scaled;

pub use block_diagonal::BlockDiagonal;
pub use damped::Damped;
pub use dense::{Dense, Symmetric};
pub use diagonal::Diagonal;
pub use low_rank::LowRankPlusShift;
pub use rows::Rows;
pub use scaled::Scaled;

pub(crate) use block_diagonal::for_each_block;
pub(crate) use dense::multiply_into;
pub(crate) use diagonal::diagonal_scale_into;

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};

use crate::input::{InputError, check_shape};

/// A linear map known by its action on blocks of columns.
pub trait LinearOperator {
    /// Dimension of the result.
    fn nrows(&self) -> usize;

    /// Dimension of the argument.
    fn ncols(&self) -> usize;

    /// `out = A x`, overwriting `out` whatever it holds.
    ///
    /// # Shapes
    /// `x`: `ncols × k`, `out`: `nrows × k`.
    ///
    /// # Panics
    /// If the shapes are others; [`apply`](Self::apply) checks them.
    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>);

    /// `out = Aᵀ x`, overwriting `out` whatever it holds.
    ///
    /// # Shapes
    /// `x`: `nrows × k`, `out`: `ncols × k`.
    ///
    /// # Panics
    /// If the shapes are others; [`apply_transpose`](Self::apply_transpose) checks them.
    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>);

    /// `A x` for `k` columns.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `x` does not have `ncols` rows.
    fn apply(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, InputError> {
        check_shape("x", x.dim(), (self.ncols(), x.ncols()))?;
        let mut out = Array2::zeros((self.nrows(), x.ncols()));
        self.apply_into(x, out.view_mut());
        Ok(out)
    }

    /// `Aᵀ x` for `k` columns.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `x` does not have `nrows` rows.
    fn apply_transpose(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, InputError> {
        check_shape("x", x.dim(), (self.nrows(), x.ncols()))?;
        let mut out = Array2::zeros((self.ncols(), x.ncols()));
        self.apply_transpose_into(x, out.view_mut());
        Ok(out)
    }

    /// `A x` for one vector.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `x` does not have `ncols` elements.
    fn apply_vec(&self, x: ArrayView1<'_, f64>) -> Result<Array1<f64>, InputError> {
        Ok(self.apply(x.insert_axis(Axis(1)))?.remove_axis(Axis(1)))
    }

    /// `Aᵀ x` for one vector.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `x` does not have `nrows` elements.
    fn apply_transpose_vec(&self, x: ArrayView1<'_, f64>) -> Result<Array1<f64>, InputError> {
        let columns = x.insert_axis(Axis(1));
        Ok(self.apply_transpose(columns)?.remove_axis(Axis(1)))
    }

    /// The matrix itself, column by column: for tests and for small dimensions.
    fn to_dense(&self) -> Array2<f64> {
        let mut out = Array2::zeros((self.nrows(), self.ncols()));
        self.apply_into(Array2::eye(self.ncols()).view(), out.view_mut());
        out
    }
}

/// A [`LinearOperator`] that equals its transpose.
///
/// Symmetry is a promise of the implementer: the solvers rely on it and cannot check it.
pub trait SelfAdjoint: LinearOperator {
    /// Both `nrows` and `ncols`.
    fn dim(&self) -> usize {
        self.nrows()
    }
}

/// The shape contract of [`LinearOperator::apply_into`], for implementers.
#[track_caller]
pub(crate) fn assert_shapes(
    (nrows, ncols): (usize, usize),
    x: &ArrayView2<'_, f64>,
    out: &ArrayViewMut2<'_, f64>,
) {
    assert!(
        x.nrows() == ncols && out.nrows() == nrows && x.ncols() == out.ncols(),
        "a {nrows} × {ncols} operator cannot map x of shape {:?} into out of shape {:?}",
        x.dim(),
        out.dim(),
    );
}

macro_rules! forward_to_pointee {
    ($($pointer:ty),*) => {$(
        impl<A: LinearOperator + ?Sized> LinearOperator for $pointer {
            fn nrows(&self) -> usize {
                (**self).nrows()
            }
            fn ncols(&self) -> usize {
                (**self).ncols()
            }
            fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).apply_into(x, out);
            }
            fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).apply_transpose_into(x, out);
            }
            fn to_dense(&self) -> Array2<f64> {
                (**self).to_dense()
            }
        }
        impl<A: SelfAdjoint + ?Sized> SelfAdjoint for $pointer {}
    )*};
}
forward_to_pointee!(&A, Box<A>, Arc<A>);
