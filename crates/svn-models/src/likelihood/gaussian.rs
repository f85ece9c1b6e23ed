//! Gaussian likelihood with one noise variance for all rows.
//!
//! ```text
//! ℓ = ½ [ (y − f)²/σ² + ln σ² + ln 2π ]     −∂ℓ/∂f = (y − f)/σ²     S Sᵀ = 1/σ²
//! ```

use super::LossTerms;
use crate::ModelError;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use tch::{Kind, Tensor};

/// `N(y | f, σ²)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    noise_variance: f64,
}

impl Gaussian {
    /// The smallest noise variance that learning may reach, in squared units of the (standardised) target.
    pub const FLOOR: f64 = 1e-8;

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

    pub(super) fn loss(&self, outputs: &Tensor, targets: &Tensor) -> Result<LossTerms, ModelError> {
        let residual = targets.unsqueeze(0).f_sub(&outputs.f_select(2, 0)?)?;
        let squares = residual.f_square()?;
        let rows = residual.size()[1] as f64;
        let constant = 0.5 * rows * (2.0 * PI * self.noise_variance).ln();
        let sum = squares.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
        Ok(LossTerms {
            negative_log_likelihood: &sum * (0.5 / self.noise_variance) + constant,
            ascent: (residual / self.noise_variance).unsqueeze(2),
            mean_squared_residual: Some(sum / rows),
        })
    }

    pub(super) fn curvature_root(&self, outputs: &Tensor) -> Result<Tensor, ModelError> {
        Ok(outputs.f_ones_like()?.unsqueeze(3))
    }
}
