//! From a network output to a variance that is never zero and does not overflow: the link of every head with predicted noise.
//!
//! ```text
//! v(s) = σ₀² + exp(min(s, M)) (1 + max(s − M, 0))       σ₀ floor of the noise, M where growth turns linear
//! v'(s) = exp(min(s, M)),   t = v'/v = ∂ ln v/∂s ∈ [0, 1]
//! ```
//!
//! `s` is the log variance of what lies above the floor. The floor adds to it instead of cutting it off, so that `t` is small
//! below the floor but never zero, and a row that is fitted badly can raise its noise again. Above `M` the variance
//! goes on along its tangent, once continuously differentiable: it does not overflow, and it can be lowered again.
//! Without a floor and up to `M`, `ln v = s` and `t = 1`.

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// `v(s)` with its floor `σ₀` and the place `M` from which it grows linearly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VarianceLink {
    /// `σ₀`, a standard deviation.
    floor: f64,
    /// `M`.
    linear_from: f64,
}

impl Default for VarianceLink {
    /// A floor of `e⁻⁷`, about 0.001, and linear growth above `s = 4`, noise of 7 standard deviations of standardised targets.
    fn default() -> Self {
        Self {
            floor: (-7.0f64).exp(),
            linear_from: 4.0,
        }
    }
}

impl VarianceLink {
    /// A link to variances of at least `floor²` that grow linearly from `s = linear_from` on.
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

    /// `ln v` and its slope `t`: the one place where outputs become variances; in logarithms, so that nothing overflows
    /// or is rounded away.
    pub fn log_variance(&self, s: f64) -> (f64, f64) {
        // ln v'(s).
        let log_growth = s.min(self.linear_from);
        let above_floor = log_growth + (s - log_growth).ln_1p();
        let log_variance = if self.floor > 0.0 {
            log_add_exp(above_floor, 2.0 * self.floor.ln())
        } else {
            above_floor
        };
        (log_variance, (log_growth - log_variance).exp())
    }
}

/// `ln(eᵃ + eᵇ)`.
fn log_add_exp(a: f64, b: f64) -> f64 {
    a.max(b) + (-(a - b).abs()).exp().ln_1p()
}
