//! Predictions of an ensemble's members, and the moments of their mixture.
//!
//! The predictive density is the equal mixture of the members' Gaussians, of means `μ_p` and variances `σ_p² + v_p`:
//!
//! ```text
//! mean = (1/N) Σ_p μ_p        variance = (1/N) Σ_p (μ_p − mean)² + (1/N) Σ_p v_p + (1/N) Σ_p σ_p²
//!                                        └──────────── epistemic ────────────┘   └─── aleatoric ──┘
//! ```
//!
//! `σ_p²` is the observation noise that a member predicts, `v_p` the variance of its mean under its Laplace approximation, zero
//! where that was not asked for. Density, quantiles and draws are in `mixture.rs`.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::ModelError;

/// What the `N` members say of `n` rows, in the units of the targets given to training.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    means: Array2<f64>,
    noise: Array2<f64>,
    laplace: Option<Array2<f64>>,
}

impl Prediction {
    /// Members' means `μ_p` and noise variances `σ_p² > 0`.
    ///
    /// # Shapes
    /// Both `N × n`: members by rows.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for shapes that differ or nothing at all, [`ModelError::Predicted`] for a mean that is not finite or a
    /// variance that is not positive.
    pub fn new(means: Array2<f64>, noise_variances: Array2<f64>) -> Result<Self, ModelError> {
        if means.is_empty() {
            return Err(shape("means", &means, &[1, 1]));
        }
        if noise_variances.dim() != means.dim() {
            return Err(shape("noise variances", &noise_variances, means.shape()));
        }
        all("mean", &means, "finite", f64::is_finite)?;
        all("noise variance", &noise_variances, "finite positive", |v| {
            v.is_finite() && v > 0.0
        })?;
        Ok(Self::unchecked(means, noise_variances))
    }

    /// Of weights that training has just moved, which may say anything.
    pub(crate) fn unchecked(means: Array2<f64>, noise: Array2<f64>) -> Self {
        Self {
            means,
            noise,
            laplace: None,
        }
    }

    /// With variances `v_p ≥ 0` of the members' means, which the density then has besides the noise.
    ///
    /// # Shapes
    /// `variances`: `N × n`.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_laplace(self, variances: Array2<f64>) -> Result<Self, ModelError> {
        if variances.dim() != self.means.dim() {
            return Err(shape("Laplace variances", &variances, self.means.shape()));
        }
        all("Laplace variance", &variances, "finite non-negative", |v| {
            v.is_finite() && v >= 0.0
        })?;
        Ok(Self {
            laplace: Some(variances),
            ..self
        })
    }

    /// With one noise variance for all members and rows.
    #[must_use]
    pub fn with_common_noise(mut self, variance: f64) -> Self {
        self.noise.fill(variance);
        self
    }

    /// In other units: `m + s y` for what is `y` here.
    #[must_use]
    pub fn rescaled(self, mean: f64, scale: f64) -> Self {
        let variances = |v: Array2<f64>| v.mapv_into(|v| scale * scale * v);
        Self {
            means: self.means.mapv_into(|y| mean + scale * y),
            noise: variances(self.noise),
            laplace: self.laplace.map(variances),
        }
    }

    /// These rows, in this order; a row may come more than once.
    ///
    /// # Panics
    /// For an index that is no row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let of = |array: &Array2<f64>| array.select(Axis(1), rows);
        Self {
            means: of(&self.means),
            noise: of(&self.noise),
            laplace: self.laplace.as_ref().map(of),
        }
    }

    /// Members `N`.
    pub fn members(&self) -> usize {
        self.means.nrows()
    }

    /// Rows `n`.
    pub fn rows(&self) -> usize {
        self.means.ncols()
    }

    /// Member means `μ_p`, `N × n`.
    pub fn means(&self) -> ArrayView2<'_, f64> {
        self.means.view()
    }

    /// Member noise variances `σ_p²`, `N × n`.
    pub fn noise_variances(&self) -> ArrayView2<'_, f64> {
        self.noise.view()
    }

    /// Variances `v_p` of the members' means, `N × n`, where they are part of the density.
    pub fn laplace_variances(&self) -> Option<ArrayView2<'_, f64>> {
        self.laplace.as_ref().map(|variances| variances.view())
    }

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
        self.epistemic_variance() + average(&self.noise)
    }

    /// Standard deviation of the mixture, `n`.
    pub fn sd(&self) -> Array1<f64> {
        self.variance().mapv_into(f64::sqrt)
    }

    /// Standard deviation of what the members do not know: their spread, and the Laplace variances if there are any, `n`.
    pub fn epistemic_sd(&self) -> Array1<f64> {
        self.epistemic_variance().mapv_into(f64::sqrt)
    }

    /// Standard deviation of the observation noise, the root of its mean variance, `n`.
    pub fn aleatoric_sd(&self) -> Array1<f64> {
        average(&self.noise).mapv_into(f64::sqrt)
    }

    pub(crate) fn epistemic_variance(&self) -> Array1<f64> {
        match &self.laplace {
            Some(laplace) => self.spread() + average(laplace),
            None => self.spread(),
        }
    }

    /// Variance of a member's Gaussian at a row.
    pub(super) fn member_variance(&self, member: usize, row: usize) -> f64 {
        let at = [member, row];
        self.noise[at] + self.laplace.as_ref().map_or(0.0, |laplace| laplace[at])
    }

    /// Mean negative log likelihood of `targets` under the Gaussian with the mixture's moments, in nats a row,
    /// `½ ln 2π` included. [`log_density`](Self::log_density) is that of the mixture itself.
    pub fn negative_log_likelihood(&self, targets: ArrayView1<'_, f64>) -> f64 {
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

fn shape(what: &str, found: &Array2<f64>, expected: &[usize]) -> ModelError {
    ModelError::Shape {
        what: format!("{what} of a prediction"),
        found: found.shape().to_vec(),
        expected: expected.to_vec(),
    }
}

fn all(
    what: &'static str,
    values: &Array2<f64>,
    expected: &'static str,
    good: impl Fn(f64) -> bool,
) -> Result<(), ModelError> {
    match values.indexed_iter().find(|(_, value)| !good(**value)) {
        Some(((member, row), &value)) => Err(ModelError::Predicted {
            what,
            member,
            row,
            value,
            expected,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;

    #[test]
    fn moments_are_those_of_the_mixture() {
        let prediction = Prediction::new(array![[1.0], [3.0]], array![[0.5], [1.5]]).unwrap();
        assert_relative_eq!(prediction.mean()[0], 2.0);
        assert_relative_eq!(prediction.variance()[0], 2.0);
        let by_hand = 0.5 * ((5.0f64 - 2.0).powi(2) / 2.0 + (4.0 * std::f64::consts::PI).ln());
        assert_relative_eq!(
            prediction.negative_log_likelihood(array![5.0].view()),
            by_hand,
            max_relative = 1e-14
        );
        let wider = prediction.with_laplace(array![[0.0], [4.0]]).unwrap();
        assert_relative_eq!(wider.variance()[0], 4.0);
        assert_relative_eq!(wider.epistemic_sd()[0], 3.0f64.sqrt());
        assert_relative_eq!(wider.aleatoric_sd()[0], 1.0);
        assert_eq!(wider.select(&[0, 0]).variance(), array![4.0, 4.0]);
        let feet = wider.rescaled(10.0, 2.0);
        assert_eq!((feet.mean()[0], feet.sd()[0]), (14.0, 4.0));
    }

    #[test]
    fn one_member_has_no_spread_but_its_noise() {
        let prediction = Prediction::new(array![[1.0, 2.0]], array![[0.1, 0.2]]).unwrap();
        assert_eq!(prediction.spread(), array![0.0, 0.0]);
        assert_eq!(prediction.variance(), array![0.1, 0.2]);
    }

    #[test]
    fn what_is_no_prediction_is_named() {
        let message = |means, noise| Prediction::new(means, noise).unwrap_err().to_string();
        assert_eq!(
            message(array![[1.0, f64::NAN]], array![[1.0, 1.0]]),
            "mean of member 0 at row 1 is NaN, expected a finite number"
        );
        assert_eq!(
            message(array![[1.0], [2.0]], array![[1.0], [0.0]]),
            "noise variance of member 1 at row 0 is 0, expected a finite positive number"
        );
        assert_eq!(
            message(array![[1.0]], array![[1.0, 2.0]]),
            "noise variances of a prediction has shape [1, 2]; expected [1, 1]"
        );
        assert_eq!(
            message(Array2::zeros((0, 3)), Array2::zeros((0, 3))),
            "means of a prediction has shape [0, 3]; expected [1, 1]"
        );
    }
}
