//! The sum of two operators, `A + B`; nest it for more.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::{LinearOperator, SelfAdjoint};
use crate::input::{InputError, check_shape};

/// `A + B`.
#[derive(Debug, Clone)]
pub struct Sum<A, B> {
    left: A,
    right: B,
}

impl<A: LinearOperator, B: LinearOperator> Sum<A, B> {
    /// `left + right`.
    ///
    /// # Errors
    /// [`InputError::Shape`] with both shapes if they differ.
    pub fn new(left: A, right: B) -> Result<Self, InputError> {
        check_shape(
            "right summand",
            (right.nrows(), right.ncols()),
            (left.nrows(), left.ncols()),
        )?;
        Ok(Self { left, right })
    }

    /// `A` and `B`.
    pub fn summands(&self) -> (&A, &B) {
        (&self.left, &self.right)
    }
}

impl<A: LinearOperator, B: LinearOperator> LinearOperator for Sum<A, B> {
    fn nrows(&self) -> usize {
        self.left.nrows()
    }

    fn ncols(&self) -> usize {
        self.left.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.left.apply_into(x, out.view_mut());
        let mut right = Array2::zeros(out.raw_dim());
        self.right.apply_into(x, right.view_mut());
        out += &right;
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.left.apply_transpose_into(x, out.view_mut());
        let mut right = Array2::zeros(out.raw_dim());
        self.right.apply_transpose_into(x, right.view_mut());
        out += &right;
    }
}

impl<A: SelfAdjoint, B: SelfAdjoint> SelfAdjoint for Sum<A, B> {}
