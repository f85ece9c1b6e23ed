//! Predictions of an ensemble's members, and the moments of their mixture.
//!
//! The predictive density is the equal mixture of the members' densities, of means `μ_p` and variances `σ_p² + v_p`; each is a
//! Gaussian, a Student t, or a mixture of Gaussians itself (see [`Component`]):
//!
//! ```text
//! mean = (1/N) Σ_p μ_p        variance = (1/N) Σ_p (μ_p − mean)² + (1/N) Σ_p v_p + (1/N) Σ_p σ_p²
//!                                        └──────────── epistemic ────────────┘   └─── aleatoric ──┘
//! ```
//!
//! `σ_p²` is the observation noise that a member predicts, `v_p` the variance of its mean under its Laplace approximation, zero
//! where that was not asked for. Density, quantiles and draws are in `mixture.rs`.

use ndarray::{Array, Array1, Array2, Array3, ArrayView1, ArrayView2, Axis, Dimension, Zip};

use super::{Component, Family, log_sum_exp};
use crate::ModelError;
use crate::likelihood::{Levels, StudentT};

/// What the `N` members say of `n` rows, in the units of the targets given to training.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    means: Array2<f64>,
    noise: Array2<f64>,
    laplace: Option<Array2<f64>>,
    shape: Shape,
}

/// What the members' densities are, beside their moments.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Gaussian,
    StudentT {
        degrees: f64,
    },
    /// Probabilities of levels, by locations and squared scales of a logistic density, `N × n`.
    Ordinal {
        levels: Levels,
        locations: Array2<f64>,
        squared_scales: Array2<f64>,
    },
    /// Gaussians, each `N × n × K`; variances without those of Laplace approximations.
    Mixture {
        log_weights: Array3<f64>,
        locations: Array3<f64>,
        variances: Array3<f64>,
    },
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

    /// Members' Student t densities with `ν` degrees of freedom, of means `μ_p` and squared scales `s_p² > 0`: noise variances
    /// are `s_p² ν/(ν − 2)`.
    ///
    /// # Shapes
    /// Both `N × n`: members by rows.
    ///
    /// # Errors
    /// As for [`new`](Self::new); [`ModelError::Setting`] unless `ν > 2`.
    pub fn student_t(
        means: Array2<f64>,
        squared_scales: Array2<f64>,
        degrees: f64,
    ) -> Result<Self, ModelError> {
        let degrees = StudentT::new(degrees)?.degrees();
        let Self { means, noise, .. } = Self::new(means, squared_scales)?;
        Ok(Self::student_t_unchecked(means, noise, degrees))
    }

    /// Members' mixtures of `K` Gaussians: logarithms of weights up to a constant, means, and variances above 0.
    ///
    /// # Shapes
    /// All `N × n × K`: members by rows by components.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for shapes that differ or nothing at all, [`ModelError::Predicted`] for a value that is not finite or a
    /// variance that is not positive.
    pub fn mixture(
        log_weights: Array3<f64>,
        locations: Array3<f64>,
        variances: Array3<f64>,
    ) -> Result<Self, ModelError> {
        if locations.is_empty() {
            return Err(shape("component means", &locations, &[1, 1, 1]));
        }
        for (what, found) in [
            ("component weights", &log_weights),
            ("component variances", &variances),
        ] {
            if found.dim() != locations.dim() {
                return Err(shape(what, found, locations.shape()));
            }
        }
        for k in 0..locations.dim().2 {
            let of = |array: &Array3<f64>| array.index_axis(Axis(2), k).to_owned();
            all("component mean", &of(&locations), "finite", f64::is_finite)?;
            let what = "component log weight";
            all(what, &of(&log_weights), "finite", f64::is_finite)?;
            let what = "component variance";
            all(what, &of(&variances), "finite positive", |v| {
                v.is_finite() && v > 0.0
            })?;
        }
        let totals = log_weights.map_axis(Axis(2), |row| log_sum_exp(row.iter().copied()));
        let log_weights = log_weights - totals.insert_axis(Axis(2));
        Ok(Self::mixture_unchecked(log_weights, locations, variances))
    }

    /// Of weights that training has just moved, which may say anything.
    pub(crate) fn unchecked(means: Array2<f64>, noise: Array2<f64>) -> Self {
        Self {
            means,
            noise,
            laplace: None,
            shape: Shape::Gaussian,
        }
    }

    pub(super) fn student_t_unchecked(
        means: Array2<f64>,
        squared_scales: Array2<f64>,
        degrees: f64,
    ) -> Self {
        let ratio = Family::StudentT { degrees }.variance_ratio();
        Self {
            shape: Shape::StudentT { degrees },
            ..Self::unchecked(means, squared_scales * ratio)
        }
    }

    pub(super) fn ordinal_unchecked(
        levels: Levels,
        locations: Array2<f64>,
        squared_scales: Array2<f64>,
    ) -> Self {
        let (mut means, mut noise) = (locations.clone(), squared_scales.clone());
        Zip::from(&mut means)
            .and(&mut noise)
            .for_each(|mean, noise| {
                (*mean, *noise) = levels.moments(*mean, noise.sqrt());
            });
        Self {
            shape: Shape::Ordinal {
                levels,
                locations,
                squared_scales,
            },
            ..Self::unchecked(means, noise)
        }
    }

    /// Weights sum to 1.
    pub(super) fn mixture_unchecked(
        log_weights: Array3<f64>,
        locations: Array3<f64>,
        variances: Array3<f64>,
    ) -> Self {
        let weights = log_weights.mapv(f64::exp);
        let means = (&weights * &locations).sum_axis(Axis(2));
        let deviations = &locations - &means.view().insert_axis(Axis(2));
        let noise = (&weights * &(&variances + &deviations.mapv(|d| d * d))).sum_axis(Axis(2));
        Self {
            shape: Shape::Mixture {
                log_weights,
                locations,
                variances,
            },
            ..Self::unchecked(means, noise)
        }
    }

    /// Members' probabilities of `count` levels from `lowest` on, one apart: a logistic density of location `m_p` and squared scale
    /// `s_p² > 0` cut halfway between them, the end levels open.
    ///
    /// # Shapes
    /// Both `N × n`: members by rows.
    ///
    /// # Errors
    /// As for [`new`](Self::new); [`ModelError::Setting`] for fewer than two levels.
    pub fn ordinal(
        lowest: f64,
        count: usize,
        locations: Array2<f64>,
        squared_scales: Array2<f64>,
    ) -> Result<Self, ModelError> {
        if count < 2 || !lowest.is_finite() {
            let expected = "at least 2, from a finite number on";
            return Err(ModelError::setting("levels", count, expected));
        }
        let Self { means, noise, .. } = Self::new(locations, squared_scales)?;
        let levels = Levels::new(lowest, count);
        Ok(Self::ordinal_unchecked(levels, means, noise))
    }

    /// With variances `v_p ≥ 0` of the members' means, which the density then has besides the noise: a Student t keeps its
    /// degrees of freedom and takes on the variance, each Gaussian of a mixture grows by all of it.
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

    /// With one noise variance for all members and rows; members that were mixtures or levels are then single Gaussians.
    #[must_use]
    pub fn with_common_noise(mut self, variance: f64) -> Self {
        self.noise.fill(variance);
        if let Shape::Mixture { .. } | Shape::Ordinal { .. } = self.shape {
            self.shape = Shape::Gaussian;
        }
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
            shape: match self.shape {
                Shape::Mixture {
                    log_weights,
                    locations,
                    variances,
                } => Shape::Mixture {
                    log_weights,
                    locations: locations.mapv_into(|y| mean + scale * y),
                    variances: variances.mapv_into(|v| scale * scale * v),
                },
                Shape::Ordinal {
                    levels,
                    locations,
                    squared_scales,
                } => Shape::Ordinal {
                    levels: levels.rescaled(mean, scale),
                    locations: locations.mapv_into(|y| mean + scale * y),
                    squared_scales: variances(squared_scales),
                },
                shape => shape,
            },
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
            shape: match &self.shape {
                Shape::Mixture {
                    log_weights,
                    locations,
                    variances,
                } => Shape::Mixture {
                    log_weights: log_weights.select(Axis(1), rows),
                    locations: locations.select(Axis(1), rows),
                    variances: variances.select(Axis(1), rows),
                },
                Shape::Ordinal {
                    levels,
                    locations,
                    squared_scales,
                } => Shape::Ordinal {
                    levels: *levels,
                    locations: of(locations),
                    squared_scales: of(squared_scales),
                },
                shape => shape.clone(),
            },
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

    /// The family of all components.
    pub fn family(&self) -> Family {
        match self.shape {
            Shape::StudentT { degrees } => Family::StudentT { degrees },
            Shape::Ordinal { levels, .. } => Family::Ordinal(levels),
            Shape::Gaussian | Shape::Mixture { .. } => Family::Gaussian,
        }
    }

    /// Components `K` of a member: one unless it is a mixture.
    pub fn components_per_member(&self) -> usize {
        match &self.shape {
            Shape::Mixture { locations, .. } => locations.dim().2,
            _ => 1,
        }
    }

    /// The components of all members at a row, member by member, Laplace variances included; a member weighs `1/N`.
    ///
    /// # Panics
    /// For what is no row, when the first is taken.
    pub fn components(&self, row: usize) -> impl Iterator<Item = Component> + Clone + '_ {
        let each = self.components_per_member();
        (0..self.members() * each).map(move |i| self.component(i / each, row, i % each))
    }

    pub(super) fn component(&self, member: usize, row: usize, k: usize) -> Component {
        let at = [member, row];
        let laplace = self.laplace.as_ref().map_or(0.0, |laplace| laplace[at]);
        match &self.shape {
            Shape::Gaussian | Shape::StudentT { .. } => Component {
                log_weight: 0.0,
                location: self.means[at],
                squared_scale: (self.noise[at] + laplace) / self.family().variance_ratio(),
            },
            Shape::Ordinal {
                locations,
                squared_scales,
                ..
            } => Component {
                log_weight: 0.0,
                location: locations[at],
                squared_scale: squared_scales[at] + laplace / self.family().variance_ratio(),
            },
            Shape::Mixture {
                log_weights,
                locations,
                variances,
            } => Component {
                log_weight: log_weights[[member, row, k]],
                location: locations[[member, row, k]],
                squared_scale: variances[[member, row, k]] + laplace,
            },
        }
    }

    /// What epochs and Laplace precisions are chosen by: the [moments' Gaussian](Self::negative_log_likelihood) of Gaussian
    /// members, the [density itself](Self::negative_log_density) of others.
    pub(crate) fn selection_loss(&self, targets: ArrayView1<'_, f64>) -> Result<f64, ModelError> {
        match self.shape {
            Shape::Gaussian => Ok(self.negative_log_likelihood(targets)),
            _ => self.negative_log_density(targets),
        }
    }

    /// Mean negative log likelihood of `targets` under the Gaussian with the mixture's moments, in nats a row,
    /// `½ ln 2π` included. [`negative_log_density`](Self::negative_log_density) is that of the mixture itself.
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

fn shape<D: Dimension>(what: &str, found: &Array<f64, D>, expected: &[usize]) -> ModelError {
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
#[path = "prediction_tests.rs"]
mod tests;
