//! Predictions whose members are Student t, mixtures of Gaussians, or levels.

use ndarray::{Array2, Array3, Axis, Zip};

use super::prediction::{all, shape};
use super::shape::Shape;
use super::{Family, Prediction, log_sum_exp};
use crate::ModelError;
use crate::likelihood::{Levels, StudentT};

impl Prediction {
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
}
