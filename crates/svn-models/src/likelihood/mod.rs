//! Likelihoods `p(y | f)` of regression targets given network outputs, with what a Newton method needs of them.
//!
//! For each row `i` and particle `p` a likelihood gives, in nats,
//!
//! ```text
//! ℓ_pi        negative log likelihood, constants included
//! g_pi        −∂ℓ/∂f, the direction of ascent in output space          (c)
//! S_pi        root of the curvature, S Sᵀ = E[∂²ℓ/∂f²] (Fisher) / σ⁻²  (c × k)
//! ```
//!
//! All come from one set of outputs and one noise level, so that score and curvature belong to the same energy.

mod gaussian;
mod heteroscedastic;
#[cfg(test)]
mod tests;

pub use gaussian::Gaussian;
pub use heteroscedastic::HeteroscedasticGaussian;

use crate::ModelError;
use rand::Rng;
use serde::{Deserialize, Serialize};
use svn_curvature::Loss;
use tch::Tensor;

/// What a likelihood says of a batch.
#[derive(Debug)]
pub struct LossTerms {
    /// Summed negative log likelihood of the batch, one number a particle, in nats; `N`.
    pub negative_log_likelihood: Tensor,
    /// `−∂ℓ/∂f`; `N × b × c`.
    pub ascent: Tensor,
    /// Mean squared residual of the batch, `N`, in squared units of the target.
    pub mean_squared_residual: Tensor,
}

/// The likelihoods of regression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Likelihood {
    /// One noise variance for all rows.
    Gaussian(Gaussian),
    /// The network gives mean and log variance of each row.
    Heteroscedastic(HeteroscedasticGaussian),
}

impl Likelihood {
    /// Number of network outputs `c` that the likelihood reads.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Gaussian(_) => 1,
            Self::Heteroscedastic(_) => 2,
        }
    }

    /// Number of curvature columns `k` of `S`.
    pub fn curvature_rank(&self) -> usize {
        self.outputs()
    }

    /// Loss terms of a batch; `outputs`: `N × b × c`, `targets`: `b`.
    ///
    /// # Errors
    /// [`ModelError::Torch`] if the shapes do not fit.
    pub fn loss(&self, outputs: &Tensor, targets: &Tensor) -> Result<LossTerms, ModelError> {
        match self {
            Self::Gaussian(likelihood) => likelihood.loss(outputs, targets),
            Self::Heteroscedastic(likelihood) => likelihood.loss(outputs, targets),
        }
    }

    /// The root `S` with its noise-dependent scalar taken out: `S Sᵀ = curvature_weight() · R Rᵀ`; `N × b × c × k`.
    ///
    /// Keeping a common noise level out of the root lets rows of earlier batches follow a noise that is still learned.
    ///
    /// # Errors
    /// [`ModelError::Torch`] if the shapes do not fit.
    pub fn curvature_root(&self, outputs: &Tensor) -> Result<Tensor, ModelError> {
        match self {
            Self::Gaussian(likelihood) => likelihood.curvature_root(outputs),
            Self::Heteroscedastic(likelihood) => likelihood.curvature_root(outputs),
        }
    }

    /// Gradients at `samples` targets drawn from the model for each particle and row, over `√samples`: a stand-in for
    /// [`Self::curvature_root`] with `samples` columns, whose `R Rᵀ` has the same expectation; `N × b × c × samples`.
    ///
    /// All random numbers come from `rng`.
    ///
    /// # Errors
    /// [`ModelError::Torch`] or [`ModelError::Curvature`] if the shapes do not fit.
    pub fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: &Tensor,
        samples: usize,
        rng: &mut R,
    ) -> Result<Tensor, ModelError> {
        match self {
            Self::Gaussian(_) => {
                Ok(Loss::Gaussian { noise: 1.0 }.monte_carlo_root(outputs, samples, rng)?)
            }
            Self::Heteroscedastic(likelihood) => {
                likelihood.sampled_curvature_root(outputs, samples, rng)
            }
        }
    }

    /// The scalar before [`Self::curvature_root`]: `1/σ²` for one common noise level, else 1.
    pub fn curvature_weight(&self) -> f64 {
        match self {
            Self::Gaussian(likelihood) => likelihood.noise_variance().recip(),
            Self::Heteroscedastic(_) => 1.0,
        }
    }
}
