//! A factor seen as the operator `A⁻¹`, which makes it a preconditioner.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::Factor;
use crate::operator::{LinearOperator, SelfAdjoint};

/// `x ↦ A⁻¹ x`.
#[derive(Debug, Clone)]
pub struct InverseOperator<F>(pub F);

impl<F: Factor> LinearOperator for InverseOperator<F> {
    fn nrows(&self) -> usize {
        self.0.dim()
    }

    fn ncols(&self) -> usize {
        self.0.dim()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.0.solve_into(x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.0.solve_into(x, out);
    }
}

impl<F: Factor> SelfAdjoint for InverseOperator<F> {}
