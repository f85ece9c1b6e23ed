//! Learning one observation noise variance from the residuals of the batches.
//!
//! The maximum-likelihood noise of fixed predictions is the mean squared residual. Over minibatches it is followed by an
//! exponential mean with the memory of a quarter epoch, without the bias towards its start:
//!
//! ```text
//! m ← β m + (1 − β) r²,   z ← β z + (1 − β),   σ² = m / z
//! ```

use serde::{Deserialize, Serialize};

/// Running estimate of a noise variance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct NoiseEstimate {
    decay: f64,
    mean: f64,
    weight: f64,
}

impl NoiseEstimate {
    /// Memory of `batches` batches.
    pub(crate) fn with_memory(batches: f64) -> Self {
        Self {
            decay: (-1.0 / batches.max(1e-3)).exp(),
            mean: 0.0,
            weight: 0.0,
        }
    }

    /// Take in the mean squared residual of a batch and give the new variance. A value that is not finite is left out.
    pub(crate) fn update(&mut self, mean_squared_residual: f64) -> Option<f64> {
        if mean_squared_residual.is_finite() {
            self.mean = self.decay * self.mean + (1.0 - self.decay) * mean_squared_residual;
            self.weight = self.decay * self.weight + (1.0 - self.decay);
        }
        (self.weight > 0.0).then(|| self.mean / self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn a_constant_residual_is_its_own_estimate_from_the_first_batch() {
        let mut noise = NoiseEstimate::with_memory(5.0);
        for _ in 0..4 {
            assert_relative_eq!(noise.update(0.3).unwrap(), 0.3, max_relative = 1e-14);
        }
    }

    #[test]
    fn not_finite_residuals_are_left_out() {
        let mut noise = NoiseEstimate::with_memory(5.0);
        assert!(noise.update(f64::NAN).is_none());
        noise.update(2.0);
        assert_relative_eq!(
            noise.update(f64::INFINITY).unwrap(),
            2.0,
            max_relative = 1e-14
        );
    }
}
