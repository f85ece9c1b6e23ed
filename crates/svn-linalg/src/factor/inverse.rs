//! A factor seen as the operator `A⁻¹`, which makes it a preconditioner; and factors behind pointers.

use std::sync::Arc;

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

macro_rules! forward_to_pointee {
    ($($pointer:ty),*) => {$(
        impl<F: Factor + ?Sized> Factor for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).solve_into(b, out);
            }
            fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).inverse_sqrt_into(z, out);
            }
            fn log_det(&self) -> f64 {
                (**self).log_det()
            }
        }
    )*};
}
forward_to_pointee!(&F, Box<F>, Arc<F>);
