//! An operator plus a multiple of the identity, `A + λ I`.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::{LinearOperator, SelfAdjoint};
use crate::input::{InputError, check_finite_vector};

/// `A + λ I`.
///
/// The damping is added in the product, once; `A` itself is never changed, so a new `λ` is a new `Damped` of the
/// same `A`.
#[derive(Debug, Clone)]
pub struct Damped<A> {
    operator: A,
    damping: f64,
}

impl<A: SelfAdjoint> Damped<A> {
    /// `operator + damping · I`; the damping may have either sign.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the damping is.
    pub fn new(operator: A, damping: f64) -> Result<Self, InputError> {
        check_finite_vector("damping", ndarray::aview1(&[damping]))?;
        Ok(Self { operator, damping })
    }

    /// Of a damping that was looked at before.
    pub(crate) fn unchecked(operator: A, damping: f64) -> Self {
        Self { operator, damping }
    }

    /// `λ`.
    pub fn damping(&self) -> f64 {
        self.damping
    }

    /// `A`.
    pub fn operator(&self) -> &A {
        &self.operator
    }
}

impl<A: SelfAdjoint> LinearOperator for Damped<A> {
    fn nrows(&self) -> usize {
        self.operator.nrows()
    }

    fn ncols(&self) -> usize {
        self.operator.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.operator.apply_into(x, out.view_mut());
        out.scaled_add(self.damping, &x);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl<A: SelfAdjoint> SelfAdjoint for Damped<A> {}
