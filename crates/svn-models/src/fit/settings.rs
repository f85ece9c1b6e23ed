//! What decides a training run.

use crate::likelihood::{
    Gaussian, HeteroscedasticGaussian, MixtureDensity, Ordinal, StudentT, no_exact_root,
};
use crate::network::{NetworkSettings, last_layer, with_layer_precisions};
use crate::posterior::{ContextSettings, CurvaturePart, CurvatureRoot, CurvatureSettings};
use crate::{Backend, BackendKind, Device, Likelihood, ModelError, Precision};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use svn_curvature::Sequential;
use svn_stein::Method;

/// Which likelihood, and so what is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LikelihoodKind {
    /// A number. One noise variance, learned from the residuals of the batches; for prediction, fitted on the validation rows.
    Gaussian,
    /// A number. Mean and log variance are network outputs.
    Heteroscedastic,
    /// A number. Location and log squared scale of a Student t are network outputs; of so many degrees of freedom, above 2.
    StudentT(f64),
    /// A number. Weights, means and log variances of this many Gaussians are network outputs.
    Mixture(usize),
    /// A whole number, in units of its own. Location and log squared scale of cumulative logits are network outputs.
    Ordinal,
    /// One of two classes, by one logit; targets 0 and 1.
    Bernoulli,
    /// One of this many classes, by a logit each; targets from 0.
    Softmax(usize),
}

impl LikelihoodKind {
    /// The likelihood before training.
    ///
    /// # Errors
    /// [`ModelError::Setting`] for fewer than two classes, no component, or degrees of freedom out of range.
    pub fn build(self) -> Result<Likelihood, ModelError> {
        Ok(match self {
            // Standardised targets have variance 1, so this is where residuals start.
            Self::Gaussian => Likelihood::Gaussian(Gaussian::new(1.0)?),
            Self::Heteroscedastic => {
                Likelihood::Heteroscedastic(HeteroscedasticGaussian::default())
            }
            Self::StudentT(degrees) => Likelihood::StudentT(StudentT::new(degrees)?),
            Self::Mixture(components) => Likelihood::Mixture(MixtureDensity::new(components)?),
            Self::Ordinal => Likelihood::Ordinal(Ordinal::default()),
            Self::Bernoulli => Likelihood::Bernoulli,
            Self::Softmax(classes) if classes < 2 => {
                return Err(ModelError::setting("classes", classes, "at least 2"));
            }
            Self::Softmax(classes) => Likelihood::Softmax { classes },
        })
    }
}

/// Settings of [`fit`](super::fit).
///
/// | Name | Purpose | Range |
/// |---|---|---|
/// | `method` | how the particles move | [`Method`] |
/// | `network` | multilayer perceptron or LeNet | [`NetworkSettings`] |
/// | `likelihood` | of numbers or classes | [`LikelihoodKind`] |
/// | `prior_precision` | `δ` of the prior `N(0, δ⁻¹ I)` on standardised data | > 0 |
/// | `layer_precisions` | `r_l`, one for each affine layer, whose prior precision is `r_l δ`; empty for 1 each | > 0 |
/// | `particles` | `N` | ≥ 1 |
/// | `epochs` | passes over the training rows | ≥ 1 |
/// | `patience` | epochs without a better validation score after which the run ends; left out, it does not | ≥ 1 |
/// | `time_limit` | wall time after which no further epoch begins; left out, none | any |
/// | `batch_size` | rows of a minibatch | 1 to the number of training rows |
/// | `curvature` | family, part and memory of the curvature, for methods that use it | [`CurvatureSettings`] |
/// | `context` | where functions are compared, for methods that repel there | [`ContextSettings`] |
/// | `precision` | numbers of the network's evaluation; left out, what suits the network | [`Precision`] |
/// | `noise_floor` | least standard deviation, or scale, of predicted noise; left out, about 0.001 | (0, 7) |
/// | `minibatch_noise` | excess loss from the noise of minibatches that the last Newton steps may leave, nats a row; left out, step sizes are the schedule's | > 0 |
/// | `averaging` | share of the steps so far over which weights are averaged; left out, none | (0, 1] |
/// | `last_epoch` | the weights of the last epoch are kept: no rows choose | yes or no |
/// | `backend` | who evaluates the network; left out, plain Rust for perceptrons on the CPU and libtorch for all else | [`BackendKind`] |
/// | `device` | where the network is evaluated; left out, the CPU | [`Device`] |
/// | `seed` | starting weights and order of the rows | any |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSettings {
    /// How the particles move.
    pub method: Method,
    /// The network.
    pub network: NetworkSettings,
    /// Which likelihood.
    pub likelihood: LikelihoodKind,
    /// Prior precision `δ`.
    pub prior_precision: f64,
    /// Prior precision of each affine layer over `δ`. The network is then one with [scaled](svn_curvature::Layer::Scale) layers, and its
    /// particles are the weights before the scaling, all of prior precision `δ`; step sizes and damping are of these. Empty for 1 each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layer_precisions: Vec<f64>,
    /// Number of particles `N`.
    pub particles: usize,
    /// Number of passes over the training rows.
    pub epochs: usize,
    /// Epochs without a better validation score after which the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Wall time, validation included, after which no further epoch begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Duration>,
    /// Rows of a minibatch.
    pub batch_size: usize,
    /// Curvature of the methods that use it.
    #[serde(default)]
    pub curvature: CurvatureSettings,
    /// Where methods that repel in function space compare the functions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub context: ContextSettings,
    /// Numbers of the network's evaluation; f64 for multilayer perceptrons and f32 for LeNet if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Least standard deviation of predicted noise (of a Student t, least scale), in those of the (standardised) targets: its
    /// square is added to the variance, so that rows that seem to have no noise gain no more weight than this, in training as in prediction. Left out, that of
    /// [`VarianceLink::default`](crate::likelihood::VarianceLink). Other likelihoods make no use of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
    /// Excess loss `ν` from the noise of minibatches that the last Newton steps may leave, nats a row. Their size decays geometrically over all steps of the
    /// run, never above that of the method's schedule, to where `ε/(2 − ε) · γ/(2b) = ν` with the effective number of parameters `γ` at the end of the epoch
    /// before. The first epoch, without a `γ`, and steps of all training rows, without that noise, have the size of the schedule. Where the curvature is of more weights
    /// than Newton steps move (LL-SVN with a metric of curvature), `γ` counts all, and steps end shorter than they would have to. Left out, there is no decay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minibatch_noise: Option<f64>,
    /// Share `ρ` of the steps so far over which each particle's weights are averaged: what is scored, kept and returned is
    /// the average, while the particles go on from their own weights. Left out, there is no average.
    ///
    /// ```text
    /// θ̄_t = θ̄_{t−1} + min(1, 1 / (ρ t)) (θ_t − θ̄_{t−1})
    /// ```
    ///
    /// Of `ρ = 1` it is the mean of all steps, of a smaller one that of about the last `ρ t` (polynomial-decay averaging,
    /// Shamir and Zhang 2013). It takes out the noise of the batches where the particles stay near one place; where they
    /// still move, it lags behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub averaging: Option<f64>,
    /// Keep the weights of the last epoch with finite outputs and not those of the best: where the validation rows are those of training,
    /// which choose no epoch. Reports have no score then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last_epoch: bool,
    /// Who evaluates the network.
    #[serde(default, skip_serializing_if = "BackendKind::is_auto")]
    pub backend: BackendKind,
    /// Where the network is evaluated. Particles, kernel and linear algebra stay on the CPU.
    #[serde(default, skip_serializing_if = "Device::is_cpu")]
    pub device: Device,
    /// Seed.
    pub seed: u64,
}

impl FitSettings {
    /// What has no default, and for the rest: prior precision 1, five particles, 50 epochs, batches of 16 rows, seed 0.
    pub fn new(method: Method, network: NetworkSettings, likelihood: LikelihoodKind) -> Self {
        Self {
            method,
            network,
            likelihood,
            prior_precision: 1.0,
            layer_precisions: Vec::new(),
            particles: 5,
            epochs: 50,
            patience: None,
            time_limit: None,
            batch_size: 16,
            curvature: CurvatureSettings::default(),
            context: ContextSettings::default(),
            precision: None,
            noise_floor: None,
            minibatch_noise: None,
            averaging: None,
            last_epoch: false,
            backend: BackendKind::default(),
            device: Device::default(),
            seed: 0,
        }
    }

    /// Check the ranges for a training part of `rows` rows.
    ///
    /// # Errors
    /// [`ModelError::Setting`] naming the first setting out of range, and what [`Method::validate`] says.
    pub fn validate(&self, rows: usize) -> Result<(), ModelError> {
        for (name, value) in [
            ("particles", self.particles),
            ("epochs", self.epochs),
            ("batch size", self.batch_size),
            ("patience", self.patience.unwrap_or(1)),
        ] {
            if value == 0 {
                return Err(ModelError::setting(name, value, "at least 1"));
            }
        }
        if self.batch_size > rows {
            return Err(ModelError::setting(
                "batch size",
                self.batch_size,
                &format!("at most the number of training rows, {rows}"),
            ));
        }
        if !(self.prior_precision.is_finite() && self.prior_precision > 0.0) {
            return Err(ModelError::setting(
                "prior precision",
                self.prior_precision,
                "a positive number",
            ));
        }
        if let Some(bound) = self
            .minibatch_noise
            .filter(|bound| !(*bound > 0.0 && bound.is_finite()))
        {
            return Err(ModelError::setting(
                "minibatch noise",
                bound,
                "a positive number",
            ));
        }
        if let Some(share) = self
            .averaging
            .filter(|share| !(*share > 0.0 && *share <= 1.0))
        {
            return Err(ModelError::setting(
                "averaging",
                share,
                "above 0 and at most 1",
            ));
        }
        let likelihood = self.build_likelihood()?;
        self.curvature.validate()?;
        if self.context.rows == 0 {
            return Err(ModelError::setting("context rows", 0, "at least 1"));
        }
        if self.method.function_repulsion().is_some() && !likelihood.has_exact_root() {
            let expected =
                "a method without repulsion in function space: a mixture density has no exact root";
            return Err(ModelError::setting("method", self.method.name(), expected));
        }
        if self.method.needs_curvature()
            && self.curvature.root == CurvatureRoot::Exact
            && !likelihood.has_exact_root()
        {
            return Err(no_exact_root());
        }
        if self.curvature.part == CurvaturePart::LastLayer
            && self.method.needs_curvature()
            && !matches!(self.method, Method::LlSvn { .. })
        {
            return Err(ModelError::setting(
                "curvature part",
                "last-layer",
                &format!("whole-network for method {}", self.method.name()),
            ));
        }
        Ok(self.method.validate()?)
    }

    /// The likelihood before training, with its noise floor; [`Likelihood::of_targets`] gives an ordinal one its levels.
    ///
    /// # Errors
    /// As for [`LikelihoodKind::build`], and [`ModelError::Setting`] for a floor out of range.
    pub fn build_likelihood(&self) -> Result<Likelihood, ModelError> {
        match (self.likelihood.build()?, self.noise_floor) {
            (Likelihood::Heteroscedastic(noise), Some(floor)) => {
                Ok(Likelihood::Heteroscedastic(noise.with_floor(floor)?))
            }
            (Likelihood::StudentT(head), Some(floor)) => {
                let scale = head.scale().with_floor(floor)?;
                Ok(Likelihood::StudentT(head.with_scale(scale)))
            }
            (Likelihood::Mixture(head), Some(floor)) => {
                let variance = head.variance().with_floor(floor)?;
                Ok(Likelihood::Mixture(head.with_variance(variance)))
            }
            (Likelihood::Ordinal(head), Some(floor)) => {
                let scale = head.scale().with_floor(floor)?;
                Ok(Likelihood::Ordinal(head.with_scale(scale)))
            }
            (likelihood, _) => Ok(likelihood),
        }
    }

    /// The network for rows of `inputs` features.
    ///
    /// # Errors
    /// As for [`NetworkSettings::build`] and [`LikelihoodKind::build`]; [`ModelError::Setting`] for layer precisions that are not those of its affine layers.
    pub fn build_network(&self, inputs: usize) -> Result<Sequential, ModelError> {
        let network = self
            .network
            .build(inputs, self.build_likelihood()?.outputs())?;
        let network = match self.layer_precisions.as_slice() {
            [] => network,
            factors => with_layer_precisions(&network, factors)?,
        };
        let last = last_layer(&network);
        match &self.method {
            Method::LlSvn { coordinates, .. }
                if self.curvature.part == CurvaturePart::LastLayer && *coordinates != last =>
            {
                Err(ModelError::setting(
                    "coordinates of ll-svn",
                    format!("{coordinates:?}"),
                    &format!("those of the last layer, {last:?}"),
                ))
            }
            _ => Ok(network),
        }
    }

    /// Code, numbers and device of the network's evaluation.
    pub fn backend(&self) -> Backend {
        Backend {
            kind: self.backend,
            precision: self
                .precision
                .unwrap_or_else(|| self.network.default_precision()),
            device: self.device,
        }
    }
}

fn is_default(context: &ContextSettings) -> bool {
    *context == ContextSettings::default()
}
