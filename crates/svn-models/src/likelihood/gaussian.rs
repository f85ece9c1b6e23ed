//! Gaussian likelihood with one noise variance for all rows.
//!
//! ```text
//! ℓ = ½ [ (y − f)²/σ² + ln σ² + ln 2π ]     −∂ℓ/∂f = (y − f)/σ²     S Sᵀ = 1/σ²
//! ```

use super::LossTerms;
use crate::ModelError;
use ndarray::{ArrayView2, ArrayView3};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use svn_curvature::Loss;

/// `N(y | f, σ²)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    noise_variance: f64,
}

impl Gaussian {
    /// The smallest noise variance that learning may reach, in squared units of the (standardised) target.
    pub const FLOOR: f64 = 1e-8;

    /// The loss at `σ = 1`, from which `1/σ²` is left out.
    pub(super) const UNIT: Loss = Loss::Gaussian { noise: 1.0 };

    /// A likelihood with noise variance `σ²`, raised to [`Self::FLOOR`] if it is below.
    ///
    /// # Errors
    /// [`ModelError::Setting`] if it is not a positive, finite number.
    pub fn new(noise_variance: f64) -> Result<Self, ModelError> {
        if noise_variance.is_finite() && noise_variance > 0.0 {
            Ok(Self {
                noise_variance: noise_variance.max(Self::FLOOR),
            })
        } else {
            Err(ModelError::setting(
                "noise variance",
                noise_variance,
                "a positive, finite number",
            ))
        }
    }

    /// `σ²`.
    pub fn noise_variance(&self) -> f64 {
        self.noise_variance
    }

    pub(super) fn loss(
        &self,
        outputs: ArrayView3<'_, f64>,
        targets: ArrayView2<'_, f64>,
    ) -> Result<LossTerms, ModelError> {
        let (half_squares, mut ascent) = Self::UNIT.value_and_gradient(outputs, targets)?;
        let rows = targets.nrows() as f64;
        let constant = 0.5 * rows * (2.0 * PI * self.noise_variance).ln();
        ascent /= -self.noise_variance;
        Ok(LossTerms {
            negative_log_likelihood: &half_squares / self.noise_variance + constant,
            ascent,
            mean_squared_residual: Some(half_squares * (2.0 / rows)),
        })
    }
}
