//! Low rank plus a multiple of the identity, factored on the side of the rows.
//!
//! ```text
//! A    = w Jᵀ J + μ I                                μ = δ + λ > 0
//! A⁻¹  = (1/μ) [ I − (w/μ) Jᵀ C⁻¹ J ],               C = I + (w/μ) J Jᵀ = L Lᵀ       R × R
//! W    = μ^(−½) [ I − (w/μ) Jᵀ L⁻ᵀ (I + L)⁻¹ J ],    W Wᵀ = A⁻¹
//! log det A = log det C + d log μ
//! ```
//!
//! The root needs the Cholesky factor only: with `Z = (I + L)⁻¹`, `I − Z L = Z`, hence `(I − Z L)(I − Z L)ᵀ = Z Zᵀ`,
//! which is `W Wᵀ` multiplied out.

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};

use super::{Factor, FactorError, FactorizeDamped, Woodbury};
use crate::dense;
use crate::input::check_non_negative;
use crate::operator::{LowRankPlusShift, Rows};

/// `w Jᵀ J + μ I`, factored.
#[derive(Debug, Clone)]
pub struct LowRankFactor<R> {
    rows: R,
    weight: f64,
    mu: f64,
    small: Arc<Woodbury>,
}

impl<R: Rows> LowRankFactor<R> {
    /// Factor `weight · JᵀJ + mu · I`.
    ///
    /// # Errors
    /// [`FactorError::NotPositive`] unless `mu > 0`: the rows alone do not make the matrix invertible here, even where
    /// they could.
    pub fn new(rows: R, weight: f64, mu: f64) -> Result<Self, FactorError> {
        let gram = |out: ArrayViewMut2<'_, f64>| rows.gram_into(out);
        let small = Self::small(gram, &rows, weight, mu)?;
        Ok(Self {
            rows,
            weight,
            mu,
            small: Arc::new(small),
        })
    }

    /// [`new`](Self::new) with the factor of `C` from `keep(w/μ, make)`, which may have it already.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn kept(
        rows: R,
        weight: f64,
        mu: f64,
        keep: impl FnOnce(
            f64,
            &dyn Fn() -> Result<Woodbury, FactorError>,
        ) -> Result<Arc<Woodbury>, FactorError>,
    ) -> Result<Self, FactorError> {
        let gram = |out: ArrayViewMut2<'_, f64>| rows.gram_into(out);
        let small = keep(weight / mu, &|| Self::small(gram, &rows, weight, mu))?;
        Ok(Self {
            rows,
            weight,
            mu,
            small,
        })
    }

    /// The same where `gram = J Jᵀ` is known.
    ///
    /// # Shapes
    /// `gram`: `R × R`.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_gram(
        rows: R,
        gram: ArrayView2<'_, f64>,
        weight: f64,
        mu: f64,
    ) -> Result<Self, FactorError> {
        let known = |mut out: ArrayViewMut2<'_, f64>| out.assign(&gram);
        let small = Self::small(known, &rows, weight, mu)?;
        Ok(Self {
            rows,
            weight,
            mu,
            small: Arc::new(small),
        })
    }

    /// The factor of `C`.
    fn small(
        gram: impl Fn(ArrayViewMut2<'_, f64>),
        rows: &R,
        weight: f64,
        mu: f64,
    ) -> Result<Woodbury, FactorError> {
        if !(mu > 0.0 && mu.recip().is_finite()) {
            return Err(FactorError::NotPositive {
                index: 0,
                dim: rows.dim(),
                value: mu,
                damping: 0.0,
            });
        }
        if weight == 0.0 {
            return Ok(Woodbury::none());
        }
        Woodbury::filled(rows.count(), |mut out| {
            gram(out.view_mut());
            out *= weight / mu;
        })
    }

    /// `x Jᵀ`, `k × R`, for the `k` rows of `x`.
    pub fn project(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        self.rows.project(x)
    }

    /// The rows of `out`, which hold `x`, become those of `x A⁻¹`; `image = x Jᵀ` is known.
    ///
    /// # Shapes
    /// `image`: `k × R`, `out`: `k × d`.
    pub fn finish(&self, image: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        let z = self.small.solve_rows(image);
        let scale = -self.weight / (self.mu * self.mu);
        self.rows
            .combine_into(scale, z.view(), self.mu.recip(), out);
    }

    /// `x A⁻¹ Yᵀ` for the rows of `x` and `Y` from `inner = x Yᵀ`, `image = x Jᵀ` and `projected = Y Jᵀ` alone: nothing of
    /// size `d`.
    ///
    /// # Shapes
    /// `inner`: `k × m`, `image`: `k × R`, `projected`: `m × R`.
    pub fn inner(
        &self,
        inner: ArrayView2<'_, f64>,
        image: ArrayView2<'_, f64>,
        projected: ArrayView2<'_, f64>,
    ) -> Array2<f64> {
        let mut out = inner.to_owned();
        let solved = self.small.solve_rows(image);
        let factor = -self.weight / self.mu;
        dense::multiply(factor, solved.view(), projected.t(), 1.0, out.view_mut());
        out / self.mu
    }

    /// `Y A⁻¹ Yᵀ` from `outer = Y Yᵀ` and `projected = Y Jᵀ` alone, by half a solve.
    ///
    /// # Shapes
    /// `outer`: `m × m`, `projected`: `m × R`.
    pub fn quadratic_form(
        &self,
        outer: ArrayView2<'_, f64>,
        projected: ArrayView2<'_, f64>,
    ) -> Array2<f64> {
        let mut out = outer.to_owned();
        let mut whitened = projected.t().as_standard_layout().into_owned();
        if self.small.dim() > 0 && self.small.half_solve_inplace(whitened.view_mut()).is_ok() {
            let factor = -self.weight / self.mu;
            dense::multiply(factor, whitened.t(), whitened.view(), 1.0, out.view_mut());
        }
        out / self.mu
    }
}

impl<R: Rows> Factor for LowRankFactor<R> {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        out.assign(&b);
        let image = self.project(b.reversed_axes());
        self.finish(image.view(), out.reversed_axes());
    }

    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        out.assign(&z);
        let mut inner = self.project(z.reversed_axes()).reversed_axes();
        self.small.root_inplace(inner.view_mut());
        let root = self.mu.sqrt().recip();
        let scale = -root * self.weight / self.mu;
        self.rows
            .combine_into(scale, inner.t(), root, out.reversed_axes());
    }

    fn log_det(&self) -> f64 {
        self.small.log_det() + self.dim() as f64 * self.mu.ln()
    }

    fn inverse_quadratic(&self, x: ArrayView2<'_, f64>) -> Array1<f64> {
        let mut image = self.project(x).reversed_axes();
        let explained = match self.small.half_solve_inplace(image.view_mut()) {
            Ok(()) => image.map_axis(Axis(0), |column| dense::dot(column, column)),
            Err(_) => Array1::zeros(x.nrows()),
        };
        let prior = x.map_axis(Axis(1), |row| dense::dot(row, row));
        // Rounding may leave less than nothing of a direction that the rows determine.
        (prior - explained * (self.weight / self.mu)).mapv_into(|v| (v / self.mu).max(0.0))
    }
}

impl<R: Rows + Clone> FactorizeDamped for LowRankPlusShift<R> {
    type Factor = LowRankFactor<R>;

    fn factorize_damped(&self, damping: f64) -> Result<LowRankFactor<R>, FactorError> {
        check_non_negative("damping", damping)?;
        LowRankFactor::new(self.rows().clone(), self.weight(), self.shift() + damping).map_err(
            |error| match error {
                FactorError::NotPositive { index, dim, .. } => FactorError::NotPositive {
                    index,
                    dim,
                    value: self.shift(),
                    damping,
                },
                other => other,
            },
        )
    }
}
