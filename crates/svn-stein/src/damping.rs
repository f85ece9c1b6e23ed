//! Levenberg damping and the per-particle trust region of the Newton step.
//!
//! ```text
//! system        H_p + λ I
//! trust region  τ_m = min(1, √( bound / (ε² V_mᵀ H_m V_m) )),   Δ_m = ε τ_m V_m        (H_m undamped)
//! model         predicted_m = s_m·Δ_m − ½ Δ_mᵀ H_m Δ_m,   actual_m = log π(φ_m + Δ_m) − log π(φ_m), same batch
//! gain          1 − Σ_m |actual_m − predicted_m| / Σ_m ( |s_m·Δ_m| + ½ Δ_mᵀ H_m Δ_m )
//! ```
//!
//! The textbook gain ratio `actual / predicted` has no meaning for a particle that repulsion moves downhill; measuring
//! the error of the quadratic model against its size has, and agrees about a good (1) and a useless (≤ 0) model.
//! `λ` falls to a third above ¾ and is doubled below ¼. A change that the model does not explain at all is halved, up to
//! four times, before it is taken back.
//!
//! Reference: Nocedal & Wright, *Numerical Optimization* (2006), ch. 4 and 10.

use ndarray::{Array1, ArrayView1};
use serde::{Deserialize, Serialize};

use crate::error::SteinError;

/// How `λ` is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Damping {
    /// Constant, except that rejected steps raise it until steps succeed again.
    Constant(f64),
    /// Adapted by the gain; costs one more evaluation of the score per step, on the same batch.
    Adaptive {
        /// `λ` at the first step; positive.
        initial: f64,
        /// Smallest `λ`; positive.
        min: f64,
        /// Largest `λ`.
        max: f64,
    },
}

/// Largest damping that rejected steps may raise a constant one to, relative to it.
const MAX_RAISE: f64 = 1e12;

impl Damping {
    /// `λ` at the first step.
    pub fn initial(self) -> f64 {
        match self {
            Self::Constant(value) => value,
            Self::Adaptive { initial, .. } => initial,
        }
    }

    /// Check the ranges.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(self) -> Result<(), SteinError> {
        let setting = |name, value: f64, expected| {
            Err(SteinError::Setting {
                name,
                value: value.to_string(),
                expected,
            })
        };
        match self {
            Self::Constant(value) if !(value.is_finite() && value >= 0.0) => {
                setting("damping.constant", value, "a non-negative number")
            }
            Self::Adaptive { min, .. } if !(min.is_finite() && min > 0.0) => {
                setting("damping.adaptive.min", min, "a positive number")
            }
            Self::Adaptive { initial, min, max }
                if !(min <= initial && initial <= max && max.is_finite()) =>
            {
                setting(
                    "damping.adaptive.initial",
                    initial,
                    "a number between min and max",
                )
            }
            _ => Ok(()),
        }
    }

    /// `λ` after a rejected step; `scale` is what a zero damping starts from.
    pub(crate) fn raise(self, current: f64, scale: f64) -> f64 {
        let raised = if current > 0.0 {
            4.0 * current
        } else {
            scale.max(f64::MIN_POSITIVE.sqrt())
        };
        match self {
            Self::Constant(value) => raised.min(MAX_RAISE * value.max(scale).max(1.0)),
            Self::Adaptive { max, .. } => raised.min(max),
        }
    }

    /// `λ` after an accepted step with this gain (`None` where it was not measured).
    pub(crate) fn relax(self, current: f64, gain: Option<f64>) -> f64 {
        match self {
            Self::Constant(value) if current <= value => value,
            // Back to the constant, to zero only by way of negligible values.
            Self::Constant(value) => {
                let next = current / 2.0;
                if next <= value.max(1e-12) {
                    value
                } else {
                    next
                }
            }
            Self::Adaptive { min, max, .. } => match gain {
                Some(g) if g > 0.75 => (current / 3.0).max(min),
                Some(g) if g < 0.25 => (current * 2.0).min(max),
                _ => current,
            },
        }
    }

    /// Whether the gain has to be measured.
    pub(crate) fn measures_gain(self) -> bool {
        matches!(self, Self::Adaptive { .. })
    }
}

/// `τ_m` for every particle from `quadratic_m = V_mᵀ H_m V_m`.
pub(crate) fn trust_scales(
    bound: Option<f64>,
    rate: f64,
    quadratic: ArrayView1<'_, f64>,
) -> Array1<f64> {
    quadratic.mapv(|q| {
        let change = rate * rate * q;
        match bound {
            Some(bound) if change > bound => (bound / change).sqrt(),
            _ => 1.0,
        }
    })
}
