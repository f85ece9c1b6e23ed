//! How a posterior sees its data: minibatches, prior, and which curvature it keeps.

use crate::ModelError;
use serde::{Deserialize, Serialize};
use std::fmt;
use svn_curvature::Backend;

/// What is kept of the curvature `H_p = Σ_i J_iᵀ S_i S_iᵀ J_i`.
///
/// | family | keeps of each particle |
/// |---|---|
/// | `Full` | the rows of the last `L` batches, or their matrix where that is smaller; exact |
/// | `Diag` | a moving average of the diagonal |
/// | `Kfac` | a moving average of two Kronecker factors a layer |
/// | `Ekfac` | the eigenbases of these factors, and a moving average of the exact diagonal in them |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CurvatureFamily {
    /// Rows of the last batches.
    Full,
    /// The diagonal.
    Diag,
    /// One Kronecker product a layer.
    Kfac,
    /// The exact diagonal in a Kronecker eigenbasis of each layer.
    Ekfac,
}

impl fmt::Display for CurvatureFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Whose parameters have curvature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CurvaturePart {
    /// All parameters: `d` coordinates.
    WholeNetwork,
    /// The last affine layer's parameters alone, [`last_layer`](crate::network::last_layer) tells which: for
    /// [`Method::LlSvn`](svn_stein::Method::LlSvn) with a kernel metric that needs no curvature.
    LastLayer,
}

/// The root `S` of a row's curvature in the outputs; as text `exact`, `sampled` (once) or `sampled 4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum CurvatureRoot {
    /// `S Sᵀ` is the Fisher information of the outputs: as many columns as outputs, one less for a softmax.
    Exact,
    /// Gradients at this many targets drawn from the model for each row and particle, over the root of their number:
    /// `E[S Sᵀ]` is the same, without bias, at the price of one column a draw. The draws of a batch depend on the seed
    /// and the batch's number alone, so that a batch evaluated again has the same.
    Sampled(usize),
}

impl From<CurvatureRoot> for String {
    fn from(root: CurvatureRoot) -> Self {
        match root {
            CurvatureRoot::Exact => "exact".to_owned(),
            CurvatureRoot::Sampled(1) => "sampled".to_owned(),
            CurvatureRoot::Sampled(times) => format!("sampled {times}"),
        }
    }
}

impl TryFrom<String> for CurvatureRoot {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let times = |text: &str| text.trim_start().parse().ok().filter(|&times| times > 0);
        match text.split_at_checked("sampled".len()) {
            _ if text == "exact" => Some(Self::Exact),
            Some(("sampled", "")) => Some(Self::Sampled(1)),
            Some(("sampled", number)) => times(number).map(Self::Sampled),
            _ => None,
        }
        .ok_or_else(|| "expected exact, sampled or sampled and a number".to_owned())
    }
}

/// Which curvature a posterior keeps, and how often it works on it.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `family` | `full` | what is kept | [`CurvatureFamily`] |
/// | `part` | `whole-network` | of which parameters | [`CurvaturePart`] |
/// | `root` | `exact` | exact or drawn Fisher information | [`CurvatureRoot`] |
/// | `rows` | all | rows of a batch that the curvature is taken from, drawn like the batch; the score has all of them | ≥ 1 |
/// | `ring` | 6 | memory `L`: batches in the ring, or `1/(1 − β)` of the moving average | ≥ 1 |
/// | `every` | 1 | only each so many-th batch is added; the steps between reuse rows, noise weight and factor | ≥ 1 |
/// | `refresh` | 10 | steps between decompositions of Kronecker factors, fewer in the first steps | ≥ 1 |
///
/// A score from more rows than the curvature is the sub-sampled Newton method (Byrd, Chin, Neveitt and Nocedal, *On the use
/// of stochastic Hessian information in optimization methods for machine learning*, 2011): noise in the score moves the
/// particles, noise in the curvature only bends their path, while the cost of a step grows faster with the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CurvatureSettings {
    /// What is kept.
    pub family: CurvatureFamily,
    /// Whose parameters have curvature.
    pub part: CurvaturePart,
    /// Root of the curvature in the outputs.
    pub root: CurvatureRoot,
    /// Rows of a batch that the curvature is taken from; all if left out, and never more than the batch has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// Memory `L` in batches.
    pub ring: usize,
    /// Only each so many-th batch adds to the curvature; the score follows all. Of `Full` the damped factor is kept until then, with
    /// the noise weight that it was made under, so that a step between costs products with the rows and two triangular solves
    /// (lazy Newton steps: Shamanskii, *A modification of Newton's method*, 1967; Doikov, Chayti and Jaggi, *Second-order
    /// optimization with lazy Hessians*, 2023).
    pub every: usize,
    /// For `Kfac` and `Ekfac`: factors are decomposed anew at steps 0, 1, 2, 4, 8, … and then at each multiple of this. The other
    /// families have nothing to decompose.
    pub refresh: usize,
}

impl Default for CurvatureSettings {
    fn default() -> Self {
        Self {
            family: CurvatureFamily::Full,
            part: CurvaturePart::WholeNetwork,
            root: CurvatureRoot::Exact,
            rows: None,
            ring: 6,
            every: 1,
            refresh: 10,
        }
    }
}

impl CurvatureSettings {
    /// Check the ranges.
    ///
    /// # Errors
    /// [`ModelError::Setting`] naming the first setting out of range.
    pub fn validate(&self) -> Result<(), ModelError> {
        let samples = match self.root {
            CurvatureRoot::Exact => 1,
            CurvatureRoot::Sampled(samples) => samples,
        };
        for (name, value) in [
            ("curvature rows", self.rows.unwrap_or(1)),
            ("accumulated batches", self.ring),
            ("curvature every", self.every),
            ("curvature refresh", self.refresh),
            ("samples of the curvature root", samples),
        ] {
            if value == 0 {
                return Err(ModelError::setting(name, value, "at least 1"));
            }
        }
        Ok(())
    }

    /// How many of `batch` rows the curvature is taken from.
    pub(super) fn rows_of(&self, batch: usize) -> usize {
        self.rows.map_or(batch, |rows| rows.min(batch))
    }

    /// `β = 1 − 1/L`: the weights `1, β, β², …` of a moving average then sum to `L` batches.
    pub(super) fn decay(&self) -> f64 {
        1.0 - 1.0 / self.ring.max(1) as f64
    }
}

/// How a [`Posterior`](super::Posterior) sees its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosteriorSettings {
    /// Rows of a minibatch `b`.
    pub batch_size: usize,
    /// Prior precision `δ` of every weight.
    pub prior_precision: f64,
    /// Curvature that is kept.
    pub curvature: CurvatureSettings,
    /// Whether a common noise level follows the residuals.
    pub learn_noise: bool,
    /// Seed of the order of the rows and of drawn curvature.
    pub seed: u64,
    /// Who evaluates the network, in which numbers and where.
    pub backend: Backend,
}
