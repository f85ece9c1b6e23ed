//! Mixture-density likelihood: `K` Gaussians a row, for targets with several humps or skewed noise.
//!
//! ```text
//! outputs (a_1 … a_K, μ_1 … μ_K, s_1 … s_K)      π = softmax a,   v_k, t_k = ∂ ln v_k/∂s_k by the variance link
//! ℓ = −ln Σ_k π_k N(y; μ_k, v_k)                 r_k = π_k N(y; μ_k, v_k) e^ℓ      responsibilities
//! −∂ℓ/∂a_k = r_k − π_k      −∂ℓ/∂μ_k = r_k (y − μ_k)/v_k      −∂ℓ/∂s_k = ½ t_k r_k [ (y − μ_k)²/v_k − 1 ]
//! ```
//!
//! The Fisher information has no closed form. Its root is drawn: gradients at targets drawn from the mixture itself, which
//! have the Fisher information as their expectation. Gradients at the observed targets, the empirical Fisher, vanish where a
//! row is fitted and Newton steps then diverge; they are not offered. The floor of the link keeps a component from closing
//! in on equal targets.
//!
//! Reference: Bishop, *Mixture density networks* (1994).

use std::f64::consts::PI;

use ndarray::{Array4, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::rows::{by_row, roots_by_row};
use super::{LossTerms, VarianceLink};
use crate::ModelError;
use crate::members::log_sum_exp;

/// `Σ_k π_k N(y | μ_k, v_k)` with `3 K` outputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MixtureDensity {
    components: usize,
    variance: VarianceLink,
}

/// One Gaussian of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gaussian {
    /// `ln π_k`.
    pub(crate) log_weight: f64,
    /// `μ_k`.
    pub(crate) mean: f64,
    log_variance: f64,
    /// `t_k`.
    slope: f64,
}

impl Gaussian {
    /// `v_k`.
    pub(crate) fn variance(&self) -> f64 {
        self.log_variance.exp()
    }

    /// `(y − μ_k)²/v_k`.
    fn square(&self, y: f64) -> f64 {
        (y - self.mean).powi(2) * (-self.log_variance).exp()
    }

    fn log_joint(&self, y: f64) -> f64 {
        self.log_weight - 0.5 * (self.square(y) + self.log_variance + (2.0 * PI).ln())
    }
}

impl MixtureDensity {
    /// Components where none are said.
    pub const COMPONENTS: usize = 3;

    /// A likelihood of `K` components with the default floor of their noise.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless `K` is 1 to 100.
    pub fn new(components: usize) -> Result<Self, ModelError> {
        if (1..=100).contains(&components) {
            Ok(Self {
                components,
                variance: VarianceLink::default(),
            })
        } else {
            let name = "components of the mixture density";
            Err(ModelError::setting(name, components, "1 to 100"))
        }
    }

    /// The same with another link from `s_k` to variances.
    #[must_use]
    pub fn with_variance(self, variance: VarianceLink) -> Self {
        Self { variance, ..self }
    }

    /// `K`.
    pub fn components(&self) -> usize {
        self.components
    }

    /// From `s_k` to variances.
    pub fn variance(&self) -> VarianceLink {
        self.variance
    }

    /// The Gaussians of a row of outputs, into a list of one's own.
    pub(crate) fn gaussians_into(&self, f: ArrayView1<'_, f64>, gaussians: &mut Vec<Gaussian>) {
        let k = self.components;
        let total = log_sum_exp(f.iter().take(k).copied());
        gaussians.clear();
        gaussians.extend((0..k).map(|j| {
            let (log_variance, slope) = self.variance.log_variance(f[2 * k + j]);
            Gaussian {
                log_weight: f[j] - total,
                mean: f[k + j],
                log_variance,
                slope,
            }
        }));
    }

    /// `−∂ℓ/∂f` at the target `y`, times `factor`; gives `ℓ`.
    fn ascend(
        &self,
        gaussians: &[Gaussian],
        y: f64,
        factor: f64,
        mut ascent: ArrayViewMut1<'_, f64>,
    ) -> f64 {
        let k = self.components;
        let log_density = log_sum_exp(gaussians.iter().map(|g| g.log_joint(y)));
        for (j, g) in gaussians.iter().enumerate() {
            let responsibility = (g.log_joint(y) - log_density).exp();
            let weighted = factor * responsibility;
            ascent[j] = factor * (responsibility - g.log_weight.exp());
            ascent[k + j] = weighted * (y - g.mean) * (-g.log_variance).exp();
            ascent[2 * k + j] = 0.5 * weighted * g.slope * (g.square(y) - 1.0);
        }
        -log_density
    }

    pub(super) fn loss(
        &self,
        outputs: ArrayView3<'_, f64>,
        targets: ArrayView2<'_, f64>,
    ) -> Result<LossTerms, ModelError> {
        let mut gaussians = Vec::with_capacity(self.components);
        by_row(outputs, targets, |f, y, ascent| {
            self.gaussians_into(f, &mut gaussians);
            let mean: f64 = gaussians.iter().map(|g| g.log_weight.exp() * g.mean).sum();
            (self.ascend(&gaussians, y, 1.0, ascent), y - mean)
        })
    }

    pub(super) fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: ArrayView3<'_, f64>,
        samples: usize,
        rng: &mut R,
    ) -> Array4<f64> {
        let mut gaussians = Vec::with_capacity(self.components);
        let weight = (samples as f64).sqrt().recip();
        roots_by_row(outputs, samples, |f, mut root| {
            self.gaussians_into(f, &mut gaussians);
            for column in root.columns_mut() {
                let y = draw(&gaussians, rng);
                self.ascend(&gaussians, y, weight, column);
            }
        })
    }
}

/// A target from the mixture; NaN of none.
fn draw<R: Rng + ?Sized>(gaussians: &[Gaussian], rng: &mut R) -> f64 {
    let (mut left, normal): (f64, f64) = (rng.random(), rng.sample(StandardNormal));
    let chosen = gaussians.iter().find(|g| {
        left -= g.log_weight.exp();
        left < 0.0
    });
    chosen
        .or(gaussians.last())
        .map_or(f64::NAN, |g| g.mean + normal * g.variance().sqrt())
}
