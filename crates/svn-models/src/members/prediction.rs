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

use ndarray::{Array, Array1, Array2, ArrayView1, ArrayView2, Axis, Dimension};

use super::shape::{Shape, scattered};
use super::{Component, Family};
use crate::ModelError;

/// What the `N` members say of `n` rows, in the units of the targets given to training.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    pub(super) means: Array2<f64>,
    pub(super) noise: Array2<f64>,
    pub(super) laplace: Option<Array2<f64>>,
    pub(super) shape: Shape,
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
            shape: Shape::Gaussian,
        }
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
            shape: self.shape.rescaled(mean, scale),
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
            shape: self.shape.select(rows),
        }
    }

    /// Of all rows, from parts that each have some of them: the rows of a part go to the places that stand beside it.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for parts of another number of members, places that are not all rows once, or another family.
    pub fn gather(parts: &[(Vec<usize>, Self)]) -> Result<Self, ModelError> {
        let members = parts.first().map_or(0, |(_, part)| part.members());
        let mut places: Vec<usize> = parts
            .iter()
            .flat_map(|(places, _)| places)
            .copied()
            .collect();
        places.sort_unstable();
        let rows = places.len();
        let each = places.iter().enumerate().all(|(row, &place)| row == place)
            && parts
                .iter()
                .all(|(places, part)| places.len() == part.rows() && part.members() == members)
            && parts.iter().all(|(_, part)| part.laplace.is_none());
        let whole = |of: fn(&Self) -> &Array2<f64>| {
            let parts = parts.iter();
            scattered(
                rows,
                parts.map(|(places, part)| (places.as_slice(), of(part))),
            )
        };
        let shapes: Vec<_> = parts
            .iter()
            .map(|(places, part)| (places.as_slice(), &part.shape))
            .collect();
        match (
            each,
            whole(|part| &part.means),
            whole(|part| &part.noise),
            Shape::gathered(rows, &shapes),
        ) {
            (true, Some(means), Some(noise), Some(shape)) => Ok(Self {
                means,
                noise,
                laplace: None,
                shape,
            }),
            _ => Err(ModelError::Shape {
                what: "parts of a prediction".into(),
                found: parts.iter().map(|(_, part)| part.rows()).collect(),
                expected: vec![members, rows],
            }),
        }
    }

    /// With the member of `other` as `count` more members of this one.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for other rows, [`ModelError::Setting`] unless both are Gaussian and without Laplace variances.
    pub fn with_member(self, other: &Self, count: usize) -> Result<Self, ModelError> {
        if other.means.dim() != (1, self.rows()) {
            return Err(shape("a member's means", &other.means, &[1, self.rows()]));
        }
        if !self.is_gaussian() || !other.is_gaussian() {
            let expected = "Gaussian, without Laplace variances";
            return Err(ModelError::setting(
                "members",
                "of other densities",
                expected,
            ));
        }
        let more = |own: &Array2<f64>, one: &Array2<f64>| {
            let rows = self.rows();
            let all = (own.nrows() + count, rows);
            Array2::from_shape_fn(all, |(p, i)| match p < own.nrows() {
                true => own[[p, i]],
                false => one[[0, i]],
            })
        };
        Ok(Self::unchecked(
            more(&self.means, &other.means),
            more(&self.noise, &other.noise),
        ))
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
        self.shape.family()
    }

    /// Components `K` of a member: one unless it is a mixture.
    pub fn components_per_member(&self) -> usize {
        self.shape.components_per_member()
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
        match self.shape.component(at, k) {
            Some(component) => self.family().widened(component, laplace),
            // Of its moments, the variance in one sum.
            None => Component {
                log_weight: 0.0,
                location: self.means[at],
                squared_scale: (self.noise[at] + laplace) / self.family().variance_ratio(),
            },
        }
    }

    /// Whether each member is one Gaussian, without Laplace variance.
    pub fn is_gaussian(&self) -> bool {
        self.shape == Shape::Gaussian && self.laplace.is_none()
    }

    /// What epochs are chosen by: the [moments' Gaussian](Self::negative_log_likelihood) of Gaussian members that predict their
    /// noise, the [density itself](Self::negative_log_density) of others.
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

pub(super) fn shape<D: Dimension>(
    what: &str,
    found: &Array<f64, D>,
    expected: &[usize],
) -> ModelError {
    ModelError::Shape {
        what: format!("{what} of a prediction"),
        found: found.shape().to_vec(),
        expected: expected.to_vec(),
    }
}

pub(super) fn all(
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
