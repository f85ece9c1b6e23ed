//! Woodbury's identity: a factored matrix plus a product of few rows, through the small matrix of the rows alone.
//!
//! ```text
//! (B + Uᵀ U)⁻¹ = B⁻¹ − B⁻¹ Uᵀ (I + T)⁻¹ U B⁻¹,     T = U B⁻¹ Uᵀ  (R × R)
//! ```
//!
//! `I + T` has eigenvalues of at least 1, so its Cholesky factor exists however few or dependent the rows are; only
//! rounding can lose it, and then a jitter is tried.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::{Cholesky, CholeskyParams, Factor, FactorError};
use crate::dense::{mirror, solve_lower, solve_lower_transposed};
use crate::input::{InputError, check_shape};

/// `(I + T)⁻¹`, what corrects `B⁻¹`.
#[derive(Debug, Clone)]
pub struct Woodbury {
    /// `L Lᵀ = I + T`; none without rows.
    small: Option<Cholesky>,
}

impl Woodbury {
    /// Without rows there is nothing to correct.
    pub fn none() -> Self {
        Self { small: None }
    }

    /// Factor `I + T`; of `T` the upper triangle is read.
    ///
    /// # Shapes
    /// `t`: `R × R`, which may be empty.
    ///
    /// # Errors
    /// As for [`filled`](Self::filled), and [`FactorError::Input`] if `t` is not square.
    pub fn new(t: ArrayView2<'_, f64>) -> Result<Self, FactorError> {
        check_shape("matrix", t.dim(), (t.nrows(), t.nrows()))?;
        Self::filled(t.nrows(), |mut upper| upper.assign(&t))
    }

    /// Factor `I + T` of a `T` of `size` rows, whose upper triangle `fill` writes: once, or twice where only a jitter helps.
    ///
    /// # Errors
    /// [`FactorError::NotPositiveDefinite`] for a matrix that no rounding explains, [`FactorError::Input`] for one that is not
    /// finite.
    pub fn filled(size: usize, fill: impl Fn(ArrayViewMut2<'_, f64>)) -> Result<Self, FactorError> {
        if size == 0 {
            return Ok(Self::none());
        }
        let upper = || {
            let mut upper = Array2::zeros((size, size));
            fill(upper.view_mut());
            upper.diag_mut().mapv_inplace(|x| x + 1.0);
            upper
        };
        let small = match Cholesky::factorize_owned(upper().reversed_axes()) {
            Ok(small) => small,
            // Next to never.
            Err(_) => {
                let mut matrix = upper().reversed_axes();
                mirror(matrix.view_mut());
                Cholesky::factorize(matrix.view(), &CholeskyParams::default())?
            }
        };
        Ok(Self { small: Some(small) })
    }

    /// Side `R` of the small matrix.
    pub fn dim(&self) -> usize {
        self.small.as_ref().map_or(0, Factor::dim)
    }

    /// `z (I + T)⁻¹` for the `k` rows of `z`.
    ///
    /// # Shapes
    /// `z`: `k × R`.
    pub fn solve_rows(&self, z: ArrayView2<'_, f64>) -> Array2<f64> {
        match &self.small {
            Some(small) => {
                let mut out = Array2::zeros((z.ncols(), z.nrows()));
                small.solve_into(z.t(), out.view_mut());
                out.reversed_axes()
            }
            None => Array2::zeros(z.raw_dim()),
        }
    }

    /// `b ← L⁻¹ b`, half a solve: `‖L⁻¹ b‖² = bᵀ (I + T)⁻¹ b`; zero without rows.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `b` does not have `R` rows.
    pub fn half_solve_inplace(&self, mut b: ArrayViewMut2<'_, f64>) -> Result<(), InputError> {
        match &self.small {
            Some(small) => small.solve_lower_inplace(b),
            None => {
                b.fill(0.0);
                Ok(())
            }
        }
    }

    /// `y ← L⁻ᵀ (I + L)⁻¹ y`, what a root of `(I + VᵀV)⁻¹` needs between `Vᵀ` and `V`, `T = V Vᵀ`.
    pub(super) fn root_inplace(&self, mut y: ArrayViewMut2<'_, f64>) {
        let Some(small) = &self.small else { return };
        let mut shifted = small.lower().to_owned();
        shifted.diag_mut().mapv_inplace(|x| x + 1.0);
        solve_lower(shifted.view(), y.view_mut());
        solve_lower_transposed(small.lower(), y.view_mut());
    }

    /// `log det (I + T)`.
    pub fn log_det(&self) -> f64 {
        self.small.as_ref().map_or(0.0, Factor::log_det)
    }
}
