//! Low rank plus diagonal through the small `r × r` matrix (Woodbury), root of the inverse included.
//!
//! With `D = diag(s) + λ I` and `V = √w J D^(−1/2)` (`r × d`),
//!
//! ```text
//! w JᵀJ + D   = D^(1/2) (I + VᵀV) D^(1/2)
//! (I + VᵀV)⁻¹ = I − Vᵀ (I + V Vᵀ)⁻¹ V                      I + V Vᵀ = L Lᵀ   (r × r)
//! W           = D^(−1/2) (I − Vᵀ L⁻ᵀ (I + L)⁻¹ V)          W Wᵀ = (w JᵀJ + D)⁻¹
//! log det     = log det(I + V Vᵀ) + Σ log D_ii
//! ```
//!
//! The last root needs the Cholesky factor only: with `Z = (I + L)⁻¹`, `I − Z L = Z`, hence
//! `(I − Z L)(I − Z L)ᵀ = Z Zᵀ`, which is `W Wᵀ = (I + VᵀV)⁻¹` multiplied out.
//! `I + V Vᵀ` has eigenvalues of at least 1, so its factor exists however few or dependent the rows are.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};

use super::{Cholesky, CholeskyParams, Factor, FactorError, FactorizeDamped};
use crate::blas::{Triangle, solve_lower};
use crate::gram::gram;
use crate::input::check_non_negative;
use crate::operator::{LowRankPlusDiagonal, diagonal_scale_into, multiply_into};

/// `w JᵀJ + diag(s) + λ I`, factored.
#[derive(Debug, Clone)]
pub struct Woodbury {
    /// `V`.
    whitened: Array2<f64>,
    /// `D^(−1/2)`.
    inverse_sqrt_diagonal: Array1<f64>,
    /// `L`, none without rows.
    small: Option<Cholesky>,
    /// `I + L`.
    shifted: Array2<f64>,
}

impl FactorizeDamped for LowRankPlusDiagonal<'_> {
    type Factor = Woodbury;

    /// # Errors
    /// [`FactorError::NotPositive`] if an entry of the diagonal plus damping is not positive: the rows alone do not
    /// make the matrix invertible here, even where they could.
    fn factorize_damped(&self, damping: f64) -> Result<Woodbury, FactorError> {
        check_non_negative("damping", damping)?;
        let diagonal = self.diagonal();
        let positive = |s: &f64| (s + damping).recip().is_finite() && s + damping > 0.0;
        if let Some(index) = diagonal.iter().position(|s| !positive(s)) {
            return Err(FactorError::NotPositive {
                index,
                dim: diagonal.len(),
                value: diagonal[index],
                damping,
            });
        }
        let inverse_sqrt_diagonal = diagonal.mapv(|s| (s + damping).sqrt().recip());
        let whitened =
            &self.rows() * &(self.weight().sqrt() * &inverse_sqrt_diagonal).insert_axis(Axis(0));
        let mut small = gram(1.0, whitened.view());
        small.diag_mut().mapv_inplace(|v| v + 1.0);
        let small = match small.nrows() {
            0 => None,
            _ => Some(Cholesky::factorize(
                small.view(),
                &CholeskyParams::strict(),
            )?),
        };
        let mut shifted = match &small {
            Some(factor) => factor.lower().to_owned(),
            None => Array2::zeros((0, 0)),
        };
        shifted.diag_mut().mapv_inplace(|v| v + 1.0);
        Ok(Woodbury {
            whitened,
            inverse_sqrt_diagonal,
            small,
            shifted,
        })
    }
}

impl Woodbury {
    /// `out −= Vᵀ f(V out)`.
    fn correct(
        &self,
        out: &mut ArrayViewMut2<'_, f64>,
        f: impl Fn(&Cholesky, &mut ArrayViewMut2<'_, f64>),
    ) {
        let Some(small) = &self.small else { return };
        let mut inner = Array2::zeros((self.whitened.nrows(), out.ncols()));
        multiply_into(self.whitened.view(), out.view(), inner.view_mut());
        f(small, &mut inner.view_mut());
        let mut correction = Array2::zeros(out.raw_dim());
        multiply_into(self.whitened.t(), inner.view(), correction.view_mut());
        *out -= &correction;
    }

    fn scale(&self, out: &mut ArrayViewMut2<'_, f64>) {
        *out *= &self.inverse_sqrt_diagonal.view().insert_axis(Axis(1));
    }
}

impl Factor for Woodbury {
    fn dim(&self) -> usize {
        self.inverse_sqrt_diagonal.len()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        diagonal_scale_into(self.inverse_sqrt_diagonal.view(), b, out.view_mut());
        self.correct(&mut out, |small, y| {
            solve_lower(small.lower(), Triangle::Lower, y);
            solve_lower(small.lower(), Triangle::Transposed, y);
        });
        self.scale(&mut out);
    }

    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        out.assign(&z);
        self.correct(&mut out, |small, y| {
            solve_lower(self.shifted.view(), Triangle::Lower, y);
            solve_lower(small.lower(), Triangle::Transposed, y);
        });
        self.scale(&mut out);
    }

    fn log_det(&self) -> f64 {
        let diagonal: f64 = self.inverse_sqrt_diagonal.iter().map(|d| d.ln()).sum();
        self.small.as_ref().map_or(0.0, Factor::log_det) - 2.0 * diagonal
    }
}
