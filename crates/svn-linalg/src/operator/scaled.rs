//! A multiple of an operator, `c A`.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::{LinearOperator, SelfAdjoint};
use crate::input::{InputError, check_finite_vector};

/// `c A`.
#[derive(Debug, Clone)]
pub struct Scaled<A> {
    factor: f64,
    operator: A,
}

impl<A: LinearOperator> Scaled<A> {
    /// `factor · operator`.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the factor is.
    pub fn new(factor: f64, operator: A) -> Result<Self, InputError> {
        check_finite_vector("factor", ndarray::aview1(&[factor]))?;
        Ok(Self { factor, operator })
    }

    /// Of a factor that was looked at before.
    pub(crate) fn unchecked(factor: f64, operator: A) -> Self {
        Self { factor, operator }
    }

    /// `c`.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// `A`.
    pub fn operator(&self) -> &A {
        &self.operator
    }
}

impl<A: LinearOperator> LinearOperator for Scaled<A> {
    fn nrows(&self) -> usize {
        self.operator.nrows()
    }

    fn ncols(&self) -> usize {
        self.operator.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.operator.apply_into(x, out.view_mut());
        out *= self.factor;
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.operator.apply_transpose_into(x, out.view_mut());
        out *= self.factor;
    }
}

impl<A: SelfAdjoint> SelfAdjoint for Scaled<A> {}
