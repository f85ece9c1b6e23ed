//! Gaussian likelihood whose mean `μ` and variance `v` are both made from network outputs, `(μ, s)`.
//!
//! ```text
//! v(s) = σ₀² + exp(min(s, M)) (1 + max(s − M, 0))       σ₀ floor of the noise, M where growth turns linear
//! v'(s) = exp(min(s, M)),   t = v'/v = ∂ ln v/∂s ∈ [0, 1]
//! ℓ = ½ [ (y − μ)²/v + ln v + ln 2π ]
//! −∂ℓ/∂μ = (y − μ)/v      −∂ℓ/∂s = ½ t [ (y − μ)²/v − 1 ]
//! Fisher information in (μ, s) = diag(1/v, ½ t²)
//! ```
//!
//! `s` is the log variance of what lies above the floor. The floor adds to it instead of cutting it off, so that `t` is small
//! below the floor but never zero, and a row that is fitted badly can raise its noise again. Above `M` the variance
//! goes on along its tangent, once continuously differentiable: it does not overflow, and it can be lowered again.
//! Without a floor and up to `M`, `ln v = s` and `t = 1`.
//!
//! Reference: Nix and Weigend, *Estimating the mean and variance of the target probability distribution* (1994).

use super::LossTerms;
use crate::ModelError;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use svn_curvature::Loss;
use tch::{Kind, Tensor};

/// `N(y | μ, σ₀² + exp(s))` with outputs `(μ, s)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeteroscedasticGaussian {
    /// `σ₀`, a standard deviation.
    floor: f64,
    /// `M`.
    linear_from: f64,
}

impl Default for HeteroscedasticGaussian {
    /// A floor of `e⁻⁷`, about 0.001, and linear growth above `s = 4`, noise of 7 standard deviations of standardised targets.
    fn default() -> Self {
        Self {
            floor: (-7.0f64).exp(),
            linear_from: 4.0,
        }
    }
}

/// Outputs of a batch as the parameters of its Gaussians, each `N × b`.
struct Parameters {
    /// `μ`.
    mean: Tensor,
    /// `ln v`.
    log_variance: Tensor,
    /// `t = ∂ ln v/∂s`.
    slope: Tensor,
}

impl HeteroscedasticGaussian {
    /// A likelihood with noise of at least `floor`, a standard deviation, whose variance grows linearly from `s = linear_from` on.
    ///
    /// A floor of 0 is none: the variance is then that of the outputs alone, which has to stay above e⁻⁷⁰⁰.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless the floor is at least 0, below `exp(linear_from / 2)`, and both are finite.
    pub fn new(floor: f64, linear_from: f64) -> Result<Self, ModelError> {
        let most = (0.5 * linear_from).exp();
        if linear_from.is_finite() && floor >= 0.0 && floor < most {
            Ok(Self { floor, linear_from })
        } else {
            Err(ModelError::setting(
                "noise floor",
                floor,
                &format!("0 or more and below {most:.1}"),
            ))
        }
    }

    /// The same with noise of at least this standard deviation.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless it is positive and below the noise from which growth is linear.
    pub fn with_floor(self, standard_deviation: f64) -> Result<Self, ModelError> {
        let most = (0.5 * self.linear_from).exp();
        if standard_deviation > 0.0 && standard_deviation < most {
            Self::new(standard_deviation, self.linear_from)
        } else {
            Err(ModelError::setting(
                "noise floor",
                standard_deviation,
                &format!("above 0 and below {most:.1} standard deviations of the targets"),
            ))
        }
    }

    /// The one place where outputs become variances; in logarithms, so that nothing overflows or is rounded away.
    fn parameters(&self, outputs: &Tensor) -> Result<Parameters, ModelError> {
        let s = outputs.f_select(2, 1)?;
        // ln v'(s).
        let log_growth = s.f_clamp_max(self.linear_from)?;
        let beyond = s.f_sub(&log_growth)?.f_log1p()?;
        let above_floor = log_growth.f_add(&beyond)?;
        let log_variance = if self.floor > 0.0 {
            above_floor.f_logaddexp(&above_floor.f_full_like(2.0 * self.floor.ln())?)?
        } else {
            above_floor
        };
        Ok(Parameters {
            mean: outputs.f_select(2, 0)?,
            slope: log_growth.f_sub(&log_variance)?.f_exp()?,
            log_variance,
        })
    }

    /// Noise variance `v` of each row; `N × b`.
    ///
    /// # Errors
    /// [`ModelError::Torch`] if `outputs` is not `N × b × 2`.
    pub fn noise_variance(&self, outputs: &Tensor) -> Result<Tensor, ModelError> {
        Ok(self.parameters(outputs)?.log_variance.f_exp()?)
    }

    pub(super) fn loss(&self, outputs: &Tensor, targets: &Tensor) -> Result<LossTerms, ModelError> {
        let Parameters {
            mean,
            log_variance,
            slope,
        } = self.parameters(outputs)?;
        let precision = (-&log_variance).f_exp()?;
        let residual = targets.unsqueeze(0).f_sub(&mean)?;
        let squares = residual.f_square()?;
        let scaled = squares.f_mul(&precision)?;
        let rows = residual.size()[1] as f64;
        let terms = &scaled + &log_variance;
        let sum = terms.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
        let to_s = (scaled * 0.5 - 0.5).f_mul(&slope)?;
        Ok(LossTerms {
            negative_log_likelihood: sum * 0.5 + 0.5 * rows * (2.0 * PI).ln(),
            ascent: Tensor::f_stack(&[residual.f_mul(&precision)?, to_s], 2)?,
            mean_squared_residual: Some(squares.f_mean_dim(
                [1i64].as_slice(),
                false,
                Kind::Double,
            )?),
        })
    }

    pub(super) fn curvature_root(&self, outputs: &Tensor) -> Result<Tensor, ModelError> {
        self.through_slope(outputs, |natural| {
            Ok(Loss::HeteroscedasticGaussian.root(natural)?)
        })
    }

    pub(super) fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: &Tensor,
        samples: usize,
        rng: &mut R,
    ) -> Result<Tensor, ModelError> {
        self.through_slope(outputs, |natural| {
            Ok(Loss::HeteroscedasticGaussian.monte_carlo_root(natural, samples, rng)?)
        })
    }

    /// A root in `(μ, ln v)` as one in `(μ, s)`, by the chain rule.
    fn through_slope(
        &self,
        outputs: &Tensor,
        root: impl FnOnce(&Tensor) -> Result<Tensor, ModelError>,
    ) -> Result<Tensor, ModelError> {
        let Parameters {
            mean,
            log_variance,
            slope,
        } = self.parameters(outputs)?;
        let natural = Tensor::f_stack(&[mean, log_variance], 2)?;
        let chain = Tensor::f_stack(&[slope.f_ones_like()?, slope], 2)?.f_unsqueeze(3)?;
        Ok(root(&natural)?.f_mul(&chain)?)
    }
}
