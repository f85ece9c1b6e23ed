//! Gaussian likelihood whose mean `μ` and log variance `s` are both network outputs.
//!
//! ```text
//! ℓ = ½ [ (y − μ)² e^(−s) + s + ln 2π ]
//! −∂ℓ/∂μ = (y − μ) e^(−s)      −∂ℓ/∂s = ½ [ (y − μ)² e^(−s) − 1 ]
//! Fisher information in (μ, s) = diag(e^(−s), ½)
//! ```
//!
//! `s` is clamped to a range; outside of it the row neither pulls on `s` nor curves it.
//!
//! Reference: Nix and Weigend, *Estimating the mean and variance of the target probability distribution* (1994).

use super::LossTerms;
use crate::ModelError;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use svn_curvature::Loss;
use tch::{Kind, Tensor};

/// `N(y | μ, exp(s))` with outputs `(μ, s)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeteroscedasticGaussian {
    min_log_variance: f64,
    max_log_variance: f64,
}

impl Default for HeteroscedasticGaussian {
    /// Log variance in [−14, 4] on standardised targets: noise between 0.1 % and 7 standard deviations.
    fn default() -> Self {
        Self {
            min_log_variance: -14.0,
            max_log_variance: 4.0,
        }
    }
}

impl HeteroscedasticGaussian {
    /// A likelihood that clamps the log variance to `[min, max]`.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless `min < max`, both finite.
    pub fn new(min: f64, max: f64) -> Result<Self, ModelError> {
        if min.is_finite() && max.is_finite() && min < max {
            Ok(Self {
                min_log_variance: min,
                max_log_variance: max,
            })
        } else {
            Err(ModelError::setting(
                "least log variance",
                min,
                &format!("a finite number below {max}"),
            ))
        }
    }

    /// The same with noise of at least this standard deviation.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless it is positive and below the largest.
    pub fn with_floor(self, standard_deviation: f64) -> Result<Self, ModelError> {
        let most = (0.5 * self.max_log_variance).exp();
        if standard_deviation > 0.0 && standard_deviation < most {
            Self::new(2.0 * standard_deviation.ln(), self.max_log_variance)
        } else {
            Err(ModelError::setting(
                "noise floor",
                standard_deviation,
                &format!("above 0 and below {most:.1} standard deviations of the targets"),
            ))
        }
    }

    /// `(μ, s, inside)`: mean, clamped log variance and 1 where `s` is inside the range, each `N × b`.
    fn split(&self, outputs: &Tensor) -> Result<(Tensor, Tensor, Tensor), ModelError> {
        let raw = outputs.f_select(2, 1)?;
        let clamped = raw.f_clamp(self.min_log_variance, self.max_log_variance)?;
        let inside = raw.f_eq_tensor(&clamped)?.f_to_kind(outputs.kind())?;
        Ok((outputs.f_select(2, 0)?, clamped, inside))
    }

    /// Noise variance `exp(s)` of each row; `N × b`.
    ///
    /// # Errors
    /// [`ModelError::Torch`] if `outputs` is not `N × b × 2`.
    pub fn noise_variance(&self, outputs: &Tensor) -> Result<Tensor, ModelError> {
        Ok(self.split(outputs)?.1.f_exp()?)
    }

    pub(super) fn loss(&self, outputs: &Tensor, targets: &Tensor) -> Result<LossTerms, ModelError> {
        let (mean, log_variance, inside) = self.split(outputs)?;
        let precision = (-&log_variance).f_exp()?;
        let residual = targets.unsqueeze(0).f_sub(&mean)?;
        let squares = residual.f_square()?;
        let scaled = squares.f_mul(&precision)?;
        let rows = residual.size()[1] as f64;
        let terms = &scaled + &log_variance;
        let sum = terms.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
        let to_log_variance = (scaled * 0.5 - 0.5).f_mul(&inside)?;
        Ok(LossTerms {
            negative_log_likelihood: sum * 0.5 + 0.5 * rows * (2.0 * PI).ln(),
            ascent: Tensor::f_stack(&[residual.f_mul(&precision)?, to_log_variance], 2)?,
            mean_squared_residual: Some(squares.f_mean_dim(
                [1i64].as_slice(),
                false,
                Kind::Double,
            )?),
        })
    }

    pub(super) fn curvature_root(&self, outputs: &Tensor) -> Result<Tensor, ModelError> {
        let (_, log_variance, inside) = self.split(outputs)?;
        let to_mean = (log_variance * -0.5).f_exp()?;
        let to_log_variance = inside * 0.5f64.sqrt();
        Ok(Tensor::f_stack(&[to_mean, to_log_variance], 2)?.f_diag_embed(0, 2, 3)?)
    }

    pub(super) fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: &Tensor,
        samples: usize,
        rng: &mut R,
    ) -> Result<Tensor, ModelError> {
        let (mean, log_variance, inside) = self.split(outputs)?;
        let clamped = Tensor::f_stack(&[mean, log_variance], 2)?;
        let root = Loss::HeteroscedasticGaussian.monte_carlo_root(&clamped, samples, rng)?;
        let mask = Tensor::f_stack(&[inside.f_ones_like()?, inside], 2)?.f_unsqueeze(3)?;
        Ok(root.f_mul(&mask)?)
    }
}
