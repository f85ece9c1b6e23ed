//! Class probabilities averaged over Gaussian logits: the probit approximation.
//!
//! ```text
//! ∫ softmax(f) N(f; f̂, V) df ≈ softmax(f̂_c / √(1 + π v_c / 8)),    v_c = V_cc
//! ```
//!
//! One logit is within 0.02 of the integral; for several it neglects their correlation.
//!
//! Reference: MacKay, *The evidence framework applied to classification networks* (1992); for several classes
//! Gibbs, *Bayesian Gaussian processes for regression and classification* (1997).

use ndarray::ArrayView3;

use super::ClassPrediction;
use crate::ModelError;

impl ClassPrediction {
    /// The prediction with each member's logits shrunk by their variances, `N × n × C`, or `N × n × 1` for the one logit
    /// of two classes.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the variances are not of the logits' shape.
    pub fn with_logit_variances(&self, variances: ArrayView3<'_, f64>) -> Result<Self, ModelError> {
        let logits = self.logits();
        let (members, rows, _) = logits.dim();
        let Some(variances) = variances
            .broadcast(logits.dim())
            .filter(|_| variances.dim() == (members, rows, variances.dim().2))
        else {
            return Err(ModelError::Shape {
                what: "variances of logits".into(),
                found: variances.shape().to_vec(),
                expected: logits.shape().to_vec(),
            });
        };
        let mut shrunk = logits.to_owned();
        shrunk.zip_mut_with(&variances, |logit, variance| {
            *logit /= (1.0 + std::f64::consts::PI / 8.0 * variance).sqrt();
        });
        Ok(Self { logits: shrunk })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array3, array};

    /// `∫ σ(f) N(f; mean, variance) df` by the trapezoid rule over ten standard deviations.
    fn integral(mean: f64, variance: f64) -> f64 {
        let (steps, deviation) = (4000, variance.sqrt());
        let width = 20.0 / f64::from(steps);
        (0..=steps)
            .map(|k| {
                let z = -10.0 + width * f64::from(k);
                let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
                width * density / (1.0 + (-(mean + deviation * z)).exp())
            })
            .sum()
    }

    #[test]
    fn one_logit_is_near_the_integral() {
        for mean in [-4.0, -1.0, 0.0, 0.5, 2.0, 6.0] {
            for variance in [0.01, 1.0, 4.0, 25.0] {
                let prediction = ClassPrediction::new(array![[[0.0, mean]]]).unwrap();
                let shrunk = prediction.with_logit_variances(array![[[variance]]].view());
                let found = shrunk.unwrap().mean_probability()[[0, 1]];
                let expected = integral(mean, variance);
                assert!(
                    (found - expected).abs() < 0.02,
                    "{mean} {variance}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn no_variance_changes_nothing_and_much_leaves_equal_odds() {
        let prediction = ClassPrediction::new(array![[[1.0, -2.0, 0.5], [3.0, 0.0, 0.0]]]).unwrap();
        let with = |variance| {
            let variances = Array3::from_elem((1, 2, 3), variance);
            prediction.with_logit_variances(variances.view()).unwrap()
        };
        assert_eq!(with(0.0), prediction);
        for p in with(1e12).mean_probability() {
            assert!((p - 1.0 / 3.0).abs() < 1e-5);
        }
    }

    #[test]
    fn another_shape_is_refused() {
        let prediction = ClassPrediction::new(Array3::zeros((2, 3, 4))).unwrap();
        for shape in [(2, 3, 2), (2, 1, 4), (1, 3, 4), (2, 2, 1)] {
            let error = prediction
                .with_logit_variances(Array3::zeros(shape).view())
                .unwrap_err();
            assert!(error.to_string().contains("variances of logits"), "{error}");
        }
    }
}
