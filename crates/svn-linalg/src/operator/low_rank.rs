//! Low rank plus a multiple of the identity, the form of a Gauss-Newton matrix kept as its rows.
//!
//! ```text
//! A = w Jᵀ J + δ I      J: R × d    w ≥ 0      product O(R d), never d × d
//! ```

use ndarray::{ArrayView2, ArrayViewMut2};

use super::{LinearOperator, Rows, SelfAdjoint, assert_shapes};
use crate::input::{InputError, check_finite, check_finite_vector, check_non_negative};

/// `w Jᵀ J + δ I` of any [`Rows`], owned or borrowed.
#[derive(Debug, Clone)]
pub struct LowRankPlusShift<R> {
    rows: R,
    weight: f64,
    shift: f64,
}

impl<R: Rows> LowRankPlusShift<R> {
    /// `weight · rowsᵀ rows + shift · I`.
    ///
    /// # Shapes
    /// `rows`: `R × d` with any `R`, zero included.
    ///
    /// # Errors
    /// [`InputError`]: NaN or infinity in weight or shift, a negative weight. Rows are not looked at: see
    /// [`checked`](Self::checked).
    pub fn new(rows: R, weight: f64, shift: f64) -> Result<Self, InputError> {
        check_non_negative("weight", weight)?;
        check_finite_vector("shift", ndarray::aview1(&[shift]))?;
        Ok(Self {
            rows,
            weight,
            shift,
        })
    }

    /// Of weight and shift that were looked at before.
    pub(crate) fn unchecked(rows: R, weight: f64, shift: f64) -> Self {
        Self {
            rows,
            weight,
            shift,
        }
    }

    /// The same with rows that may hold anything, which are written out to be looked at.
    ///
    /// # Errors
    /// Also [`InputError::NonFinite`] with the element of the rows.
    pub fn checked(rows: R, weight: f64, shift: f64) -> Result<Self, InputError> {
        check_finite("rows", rows.written_out().view())?;
        Self::new(rows, weight, shift)
    }

    /// `J`.
    pub fn rows(&self) -> &R {
        &self.rows
    }

    /// `w`.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// `δ`.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// `out = (A + damping · I) x` for the `k` *rows* of `x`, one pass over `J`.
    ///
    /// # Shapes
    /// `x` and `out`: `k × d`.
    pub fn multiply_rows_into(
        &self,
        x: ArrayView2<'_, f64>,
        damping: f64,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let projected = self.rows.project(x);
        out.assign(&x);
        self.rows
            .combine_into(self.weight, projected.view(), self.shift + damping, out);
    }
}

impl<R: Rows> LinearOperator for LowRankPlusShift<R> {
    fn nrows(&self) -> usize {
        self.rows.dim()
    }

    fn ncols(&self) -> usize {
        self.rows.dim()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        assert_shapes((self.nrows(), self.ncols()), &x, &out);
        self.multiply_rows_into(x.reversed_axes(), 0.0, out.reversed_axes());
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl<R: Rows> SelfAdjoint for LowRankPlusShift<R> {}
