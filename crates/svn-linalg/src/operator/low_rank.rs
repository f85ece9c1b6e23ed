//! Low rank plus diagonal, the form of a Gauss-Newton matrix kept as its rows.
//!
//! ```text
//! A = w Jᵀ J + diag(s)      J: r × d    s: d    w ≥ 0      product O(r d), never d × d
//! ```

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, CowArray, Ix2};

use super::diagonal::diagonal_scale_into;
use super::{LinearOperator, SelfAdjoint, assert_shapes, multiply_into};
use crate::input::{
    InputError, check_finite, check_finite_vector, check_non_negative, check_shape,
};

/// `w Jᵀ J + diag(s)`; the rows `J` are owned or borrowed.
#[derive(Debug, Clone)]
pub struct LowRankPlusDiagonal<'a> {
    rows: CowArray<'a, f64, Ix2>,
    weight: f64,
    diagonal: Array1<f64>,
}

impl<'a> LowRankPlusDiagonal<'a> {
    /// `weight · rowsᵀ rows + diag(diagonal)`.
    ///
    /// # Shapes
    /// `rows`: `r × d` with any `r`, zero included; `diagonal`: `d`.
    ///
    /// # Errors
    /// [`InputError`]: shapes that do not match, NaN or infinity, negative weight.
    pub fn new(
        rows: impl Into<CowArray<'a, f64, Ix2>>,
        weight: f64,
        diagonal: Array1<f64>,
    ) -> Result<Self, InputError> {
        let rows = rows.into();
        check_shape("diagonal", (diagonal.len(), 1), (rows.ncols(), 1))?;
        check_finite("rows", rows.view())?;
        check_finite_vector("diagonal", diagonal.view())?;
        check_non_negative("weight", weight)?;
        Ok(Self {
            rows,
            weight,
            diagonal,
        })
    }

    /// `weight · rowsᵀ rows + shift · I`.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_shift(
        rows: impl Into<CowArray<'a, f64, Ix2>>,
        weight: f64,
        shift: f64,
    ) -> Result<Self, InputError> {
        let rows = rows.into();
        let diagonal = Array1::from_elem(rows.ncols(), shift);
        Self::new(rows, weight, diagonal)
    }

    /// `J`, `r × d`.
    pub fn rows(&self) -> ArrayView2<'_, f64> {
        self.rows.view()
    }

    /// `w`.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// `s`.
    pub fn diagonal(&self) -> ArrayView1<'_, f64> {
        self.diagonal.view()
    }
}

impl LinearOperator for LowRankPlusDiagonal<'_> {
    fn nrows(&self) -> usize {
        self.diagonal.len()
    }

    fn ncols(&self) -> usize {
        self.diagonal.len()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        assert_shapes((self.nrows(), self.ncols()), &x, &out);
        let mut inner = Array2::zeros((self.rows.nrows(), x.ncols()));
        multiply_into(self.rows.view(), x, inner.view_mut());
        inner *= self.weight;
        multiply_into(self.rows.t(), inner.view(), out.view_mut());
        let mut scaled = Array2::zeros(x.raw_dim());
        diagonal_scale_into(self.diagonal.view(), x, scaled.view_mut());
        out += &scaled;
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for LowRankPlusDiagonal<'_> {}
