//! Predictions of an ensemble's members and their moments.
//!
//! The predictive density is the equal mixture of the members' Gaussians; by its moments it is
//!
//! ```text
//! mean = (1/N) Σ_p μ_p        variance = (1/N) Σ_p (μ_p − mean)² + (1/N) Σ_p σ_p²
//! ```

use ndarray::{Array1, Array2, Axis};

/// What the `N` members say of `n` rows, in the units of the targets given to training.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Member means `μ_p`, `N × n`.
    pub means: Array2<f64>,
    /// Member noise variances `σ_p²`, `N × n`.
    pub noise_variances: Array2<f64>,
}

impl Prediction {
    /// Mean of the mixture, `n`.
    pub fn mean(&self) -> Array1<f64> {
        average(&self.means)
    }

    /// Variance of the member means (biased, divisor `N`), `n`.
    pub fn spread(&self) -> Array1<f64> {
        self.means.var_axis(Axis(0), 0.0)
    }

    /// Variance of the mixture, `n`.
    pub fn variance(&self) -> Array1<f64> {
        self.spread() + average(&self.noise_variances)
    }

    /// Mean negative log likelihood of `targets` under the Gaussian with the mixture's moments, in nats a row,
    /// `½ ln 2π` included.
    pub fn negative_log_likelihood(&self, targets: ndarray::ArrayView1<'_, f64>) -> f64 {
        let (mean, variance) = (self.mean(), self.variance());
        let sum: f64 = targets
            .iter()
            .zip(&mean)
            .zip(&variance)
            .map(|((y, m), v)| 0.5 * ((y - m).powi(2) / v + (2.0 * std::f64::consts::PI * v).ln()))
            .sum();
        sum / targets.len().max(1) as f64
    }
}

fn average(members: &Array2<f64>) -> Array1<f64> {
    members.sum_axis(Axis(0)) / members.nrows().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;

    #[test]
    fn moments_are_those_of_the_mixture() {
        let prediction = Prediction {
            means: array![[1.0], [3.0]],
            noise_variances: array![[0.5], [1.5]],
        };
        assert_relative_eq!(prediction.mean()[0], 2.0);
        assert_relative_eq!(prediction.variance()[0], 2.0);
        let by_hand = 0.5 * ((5.0f64 - 2.0).powi(2) / 2.0 + (4.0 * std::f64::consts::PI).ln());
        assert_relative_eq!(
            prediction.negative_log_likelihood(array![5.0].view()),
            by_hand,
            max_relative = 1e-14
        );
    }

    #[test]
    fn one_member_has_no_spread_but_its_noise() {
        let prediction = Prediction {
            means: array![[1.0, 2.0]],
            noise_variances: array![[0.1, 0.2]],
        };
        assert_eq!(prediction.spread(), array![0.0, 0.0]);
        assert_eq!(prediction.variance(), array![0.1, 0.2]);
    }
}
