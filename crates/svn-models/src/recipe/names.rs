//! Settings that are a choice among names and belong to no other module.

use serde::{Deserialize, Serialize};

use crate::network::Layers;

/// Noise of a Gaussian likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Noise {
    /// One noise level, learned.
    Homoscedastic,
    /// Mean and log variance are outputs of the network.
    Heteroscedastic,
}

/// What the targets of a regression are distributed by, given the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Head {
    /// The one of these under which rows that members have not seen are most probable, after a quarter of the epochs; what is
    /// tried follows from the targets. Where nothing chooses, as in [`FitSettings`](crate::fit::FitSettings), the Gaussian.
    Auto,
    /// Normal, with noise of the kind of [`Noise`].
    Gaussian,
    /// Student's t, whose tails have room for outliers.
    StudentT,
    /// A mixture of Gaussians, for several humps or skewed noise; not for targets with many equal values, which it closes in on.
    Mixture,
    /// Cumulative logits of whole numbers, such as ratings and counts; scores are log probabilities.
    Ordinal,
}

/// What chooses the weights that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Selection {
    /// The epoch by rows that are set aside and not trained on.
    Validation,
    /// The epoch by all rows, each judged by members that were trained without its fold; see [`fit_folds`](crate::fit::fit_folds()). The weight of a linear model, tails
    /// and a temperature by the same rows.
    Kfold,
    /// The prior precision by the [Laplace evidence](crate::members::Laplace::log_evidence) of all rows, which are all trained on; the
    /// epoch is the last. A precision that is given is kept. A linear model, whose intercept has no prior, goes by rows that are set aside.
    Evidence,
    /// The same, and then the prior precision of each affine layer, by [the conditions](crate::members::Laplace::layer_precisions) under which their evidence is
    /// stationary.
    EvidenceByLayer,
}

impl Selection {
    /// Whether the evidence of all rows chooses.
    pub fn is_evidence(self) -> bool {
        matches!(self, Self::Evidence | Self::EvidenceByLayer)
    }
}

/// Which network is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NetworkKind {
    /// Fully connected layers, their widths and activation from the recipe.
    Mlp,
    /// LeNet, for images.
    #[serde(rename = "lenet")]
    LeNet,
    /// Layers of one's own.
    Layers(Layers),
}

impl NetworkKind {
    /// Whether it is for images.
    pub(super) fn is_convolutional(&self) -> bool {
        match self {
            Self::Mlp => false,
            Self::LeNet => true,
            Self::Layers(layers) => layers.is_convolutional(),
        }
    }
}

/// Likelihood of two classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Binary {
    /// One logit `ln p₁/p₀`.
    Bernoulli,
    /// A logit a class.
    Softmax,
}

/// What the predictive density is made of; a mixture density and levels have their moments alone. The prior precision of Laplace variances is chosen on validation rows, tails
/// also on rows out of fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Predictive {
    /// Spread of the members and noise.
    Moments,
    /// The same; the members' Laplace variances are computed for `nll_epistemic` alone, regression only.
    Epistemic,
    /// Spread, noise and the mean of the members' Laplace variances: a mixture of Laplace approximations. For classes
    /// the mean of their probabilities, by the probit approximation.
    Laplace,
    /// Laplace variances under the prior of training, of them the share `max(0, 1 − (N − 1)/d_eff)` that `N` members cannot span:
    /// for methods whose members have the width of the posterior in the `N − 1` directions that they do span.
    Fill,
    /// Gaussian members as Student t of the same means: degrees of freedom and scale are those under which rows that they have not seen are most probable, see
    /// [`Tails`](crate::Tails).
    StudentT,
}

/// How the step size falls over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Schedule {
    /// Along half a cosine to zero at the last step.
    Cosine,
    /// Not at all.
    Constant,
    /// Newton steps: geometrically, to where minibatches leave an excess loss of 0.01 nats a row by the curvature that is measured on the way; constant in the
    /// first epoch, and where a batch is all rows: [`FitSettings::minibatch_noise`](crate::fit::FitSettings::minibatch_noise). First-order steps: along half a cosine.
    Noise,
}

/// How the last layer comes to its Newton steps in LL-SVN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LastLayerMode {
    /// All layers from the start, Newton steps on the last one.
    Joint,
    /// First all layers by first-order steps, then the last one alone by Newton steps.
    Pretrained,
}
