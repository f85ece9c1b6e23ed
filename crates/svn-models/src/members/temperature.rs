//! Temperature scaling: one number by which all logits are divided so that held-out rows are most probable.
//!
//! ```text
//! T* = argmin_T −(1/n) Σ_i log (1/N) Σ_p softmax(f_pi / T)_{y_i},    T in [1/20, 20]
//! ```
//!
//! Reference: Guo et al., *On calibration of modern neural networks* (2017), here for the mixture of the members.

use ndarray::ArrayView1;

use super::ClassPrediction;
use super::minimum::minimum;
use crate::ModelError;

/// The largest temperature that is tried, and the inverse of the least.
const LIMIT: f64 = 20.0;

impl ClassPrediction {
    /// The prediction with all logits divided by `temperature`.
    pub fn with_temperature(&self, temperature: f64) -> Self {
        Self {
            logits: self.logits().mapv(|logit| logit / temperature),
        }
    }

    /// The temperature under which the class indices `targets` are most probable, between 1/20 and 20.
    ///
    /// To be fitted on rows that were not trained on.
    ///
    /// # Errors
    /// As for [`Self::negative_log_likelihood`].
    pub fn best_temperature(&self, targets: ArrayView1<'_, f64>) -> Result<f64, ModelError> {
        self.negative_log_likelihood(targets)?;
        let loss = |log_temperature: f64| {
            self.with_temperature(log_temperature.exp())
                .negative_log_likelihood(targets)
                .unwrap_or(f64::INFINITY)
        };
        Ok(minimum(loss, -LIMIT.ln(), LIMIT.ln()).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Array1, Array3, array};

    /// Of 10 rows with log odds `f` of class 1, 7 are of class 1: the best odds are 7/3.
    fn overconfident(f: f64) -> (ClassPrediction, Array1<f64>) {
        let logits = Array3::from_shape_fn((1, 10, 2), |(_, _, class)| f * class as f64);
        let targets = Array1::from_shape_fn(10, |row| f64::from(u8::from(row < 7)));
        (ClassPrediction::new(logits).unwrap(), targets)
    }

    #[test]
    fn one_member_gets_the_temperature_of_the_closed_form() {
        for f in [4.0, 0.5] {
            let (prediction, targets) = overconfident(f);
            let found = prediction.best_temperature(targets.view()).unwrap();
            // f/T = ln(7/3); the loss is flat to rounding within 1e-8 of its minimum in ln T.
            assert_relative_eq!(found, f / (7.0f64 / 3.0).ln(), max_relative = 1e-6);
        }
    }

    #[test]
    fn no_other_temperature_is_better_for_a_mixture() {
        let prediction = ClassPrediction::new(array![
            [[0.0, 3.0], [5.0, 0.0], [0.0, 1.0], [2.0, 0.0]],
            [[0.0, 8.0], [0.5, 0.0], [0.0, 1.5], [0.0, 4.0]]
        ])
        .unwrap();
        let targets = array![1.0, 0.0, 0.0, 1.0];
        let best = prediction.best_temperature(targets.view()).unwrap();
        let nll = |temperature: f64| {
            prediction
                .with_temperature(temperature)
                .negative_log_likelihood(targets.view())
                .unwrap()
        };
        assert!((0.2..5.0).contains(&best), "inside the range: {best}");
        for k in -29..=29 {
            let other = (0.1 * f64::from(k)).exp();
            assert!(nll(best) <= nll(other) + 1e-12, "{best} {other}");
        }
    }

    #[test]
    fn the_range_is_kept_and_targets_are_checked() {
        let always_right = ClassPrediction::new(array![[[0.0, 1.0], [1.0, 0.0]]]).unwrap();
        let found = always_right.best_temperature(array![1.0, 0.0].view());
        assert_relative_eq!(found.unwrap(), 1.0 / LIMIT, max_relative = 1e-5);
        assert!(
            always_right
                .best_temperature(array![1.0, 2.0].view())
                .is_err()
        );
    }
}
