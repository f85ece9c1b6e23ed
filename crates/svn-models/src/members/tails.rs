//! Student t tails for Gaussian members, afterwards: the degrees of freedom and the scale under which rows that were not trained on are most probable.
//!
//! ```text
//! p(y) = (1/N) Σ_p t_ν(y; μ_p, c σ_p²)        (ν*, c*) = argmin −(1/n) Σ_i ln p(y_i),    ν in DEGREES, c in [1/20, 20]
//! ```
//!
//! `c σ_p²` is the squared scale of a member whose noise variance as a Gaussian is `σ_p²`, so that its variance is `c σ_p² ν/(ν − 2)`. Members that are trained with
//! such tails learn to leave outliers alone as well, which these do not.

use ndarray::ArrayView1;
use serde::{Deserialize, Serialize};

use super::Prediction;
use super::minimum::minimum;
use super::shape::Shape;
use crate::ModelError;
use crate::rows::spread_out;

/// Degrees of freedom that are tried; of the last the density is that of a Gaussian to a ten thousandth of a nat.
const DEGREES: [f64; 9] = [2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0, 200.0];

/// The largest factor of squared scales that is tried, and the inverse of the least.
const LIMIT: f64 = 20.0;

/// Rows that they are chosen on at most.
const SAMPLE: usize = 1000;

/// What a Gaussian member's density becomes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tails {
    /// `ν`, above 2.
    pub degrees: f64,
    /// `c`, of squared scales.
    pub scale: f64,
}

impl Prediction {
    /// Gaussian members as Student t of the same means; others as they are.
    #[must_use]
    pub fn with_tails(mut self, tails: Tails) -> Self {
        let Tails { degrees, scale } = tails;
        if self.shape == Shape::Gaussian {
            self.noise *= scale * degrees / (degrees - 2.0);
            self.shape = Shape::StudentT { degrees };
        }
        self
    }

    /// `ν*` and `c*` for one target a row, chosen on at most 1000 rows that are spread over all.
    ///
    /// To be fitted on rows that were not trained on.
    ///
    /// # Errors
    /// As for [`Self::log_density`]; [`ModelError::Setting`] unless members are Gaussian and without Laplace variances.
    pub fn best_tails(&self, targets: ArrayView1<'_, f64>) -> Result<Tails, ModelError> {
        self.negative_log_density(targets)?;
        if !self.is_gaussian() {
            let expected = "Gaussian, without Laplace variances";
            return Err(ModelError::setting("members", "of other tails", expected));
        }
        let rows = spread_out(self.rows(), SAMPLE);
        let (some, targets) = (self.select(&rows), targets.select(ndarray::Axis(0), &rows));
        let loss = |tails: Tails| {
            let density = some.clone().with_tails(tails);
            let loss = density.negative_log_density(targets.view());
            loss.unwrap_or(f64::INFINITY)
        };
        let tried = DEGREES.map(|degrees| {
            let at = |log_scale: f64| Tails {
                degrees,
                scale: log_scale.exp(),
            };
            let tails = at(minimum(|scale| loss(at(scale)), -LIMIT.ln(), LIMIT.ln()));
            (loss(tails), tails)
        });
        let [first, rest @ ..] = tried;
        let best = rest
            .into_iter()
            .fold(first, |best, one| if one.0 < best.0 { one } else { best });
        Ok(best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Array1, Array2};

    const ROWS: usize = 400;

    /// A Gaussian of standard deviation 2 at zero.
    fn gaussian() -> Prediction {
        let means = Array2::zeros((1, ROWS));
        Prediction::new(means, Array2::from_elem((1, ROWS), 4.0)).unwrap()
    }

    /// Quantiles at even levels, which is what a sample of the density looks like.
    fn sample(density: &Prediction) -> Array1<f64> {
        let level = |row: usize| (row as f64 + 0.5) / ROWS as f64;
        Array1::from_shape_fn(ROWS, |row| density.quantile(level(row)).unwrap()[row])
    }

    #[test]
    fn targets_of_a_student_t_give_its_degrees_and_scale() {
        let truth = Tails {
            degrees: 4.0,
            scale: 0.25,
        };
        let density = gaussian().with_tails(truth);
        let expected =
            Prediction::student_t(Array2::zeros((1, ROWS)), Array2::ones((1, ROWS)), 4.0);
        assert_eq!(density, expected.unwrap());
        let found = gaussian().best_tails(sample(&density).view()).unwrap();
        assert_eq!(found.degrees, 4.0);
        // The ends of a sample by quantiles are short of those of the density.
        assert_relative_eq!(found.scale, 0.25, max_relative = 0.05);
    }

    #[test]
    fn targets_of_a_gaussian_leave_a_gaussian() {
        let targets = sample(&gaussian());
        let found = gaussian().best_tails(targets.view()).unwrap();
        assert!(found.degrees >= 50.0, "{found:?}");
        let [before, after] = [gaussian(), gaussian().with_tails(found)]
            .map(|density| density.negative_log_density(targets.view()).unwrap());
        // What 200 degrees cost where there are no tails: 8.5e-5, of the order of the square of their excess kurtosis, 6/196.
        assert!((after - before).abs() < 2e-4, "{before} {after}");
    }

    #[test]
    fn members_with_tails_of_their_own_are_refused_and_stay() {
        let one = Array2::ones((1, 3));
        let tails = Tails {
            degrees: 4.0,
            scale: 1.0,
        };
        let own = Prediction::student_t(one.clone(), one, 7.0).unwrap();
        assert_eq!(own.clone().with_tails(tails), own);
        let error = own.best_tails(Array1::zeros(3).view()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "members is of other tails; expected Gaussian, without Laplace variances"
        );
    }
}
