//! Repulsion between functions instead of weights.
//!
//! ```text
//! z_p = Φ(φ_p)          images of the particles, M numbers each: what they predict at some context, in units of the noise
//! q_pm = |z_p − z_m|²,  K = κ(q/h)
//! G_m = −Σ_p ∇_{z_m} k(z_m, z_p),   r = (K + η I)⁻¹ G          (Stein gradient estimator of −∇ log q in the space of images)
//! v_m = s_m + γ J_mᵀ r_m                                       J_m = ∂Φ/∂φ at particle m
//! ```
//!
//! Networks whose hidden units are permuted are the same function at distant weights: a kernel between weights sees nothing
//! there, and in thousands of dimensions nothing at all. Between what the particles predict there is a distance that means
//! something. The drive stays each particle's own, and each particle's own `J_m` takes the repulsion back to its weights: with
//! the Jacobians of others the particles do not stay together. `N` particles can be spread over `N − 1` directions; a posterior
//! with more of them stays too narrow.
//!
//! # References
//! Li and Turner, *Gradient estimators for implicit models*, 2018, arXiv 1705.07107 (the estimator); D'Angelo and Fortuin,
//! *Repulsive deep ensembles are Bayesian*, 2021, arXiv 2106.11642 (repulsion in function space); Wang, Ren, Zhu and Zhang,
//! *Function space particle optimization for Bayesian neural networks*, 2019, arXiv 1902.09754.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use crate::bandwidth::Bandwidth;
use crate::error::SteinError;
use crate::field::stein_gradient;
use crate::gram::{KernelGram, KernelSettings, Metric};
use crate::kernel::Kernel;
use crate::target::TargetError;

/// A target whose particles can be compared by what they predict.
pub trait FunctionSpace {
    /// Images `z_p = Φ(φ_p)` at the context of the current batch, on a scale on which 1 is a difference that the data could tell: outputs
    /// over the standard deviation of their noise, in general times the root of the Fisher information.
    ///
    /// # Shapes
    /// `particles`: `N × d`; the result: `N × M`.
    ///
    /// # Errors
    /// [`TargetError::NonFinite`] is recoverable: the step that led there is rejected.
    fn images(&mut self, particles: ArrayView2<'_, f64>) -> Result<Array2<f64>, TargetError>;

    /// `J_pᵀ r_p` with the Jacobians of the last [`images`](Self::images).
    ///
    /// # Shapes
    /// `cotangents`: `r`, `N × M`; `out`: `N × d`, overwritten.
    ///
    /// # Errors
    /// As for [`images`](Self::images).
    fn pull_back_into(
        &mut self,
        cotangents: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError>;
}

/// Settings of a repulsion between functions.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kernel` | `rbf` | radial profile between images | [`Kernel`] |
/// | `bandwidth` | 2 medians | unit of the squared distance | [`Bandwidth`] |
/// | `ridge` | 0.01 | `η` of the Stein gradient estimator | > 0 |
/// | `strength` | 1 | `γ`; 1 is that of the gradient flow of the KL divergence, 0 an ensemble | ≥ 0 |
/// | `warm_up` | 0 | steps `w` without repulsion; over the next `w` it rises to `γ` | any |
///
/// Where the noise is learned, a particle that is pushed before it has found the data may come to rest in a mode that calls them noise. A
/// tenth of the steps is enough of a warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionRepulsion {
    /// Radial profile.
    pub kernel: Kernel,
    /// Bandwidth rule.
    pub bandwidth: Bandwidth,
    /// Ridge `η`.
    pub ridge: f64,
    /// Strength `γ`.
    pub strength: f64,
    /// Steps `w` without repulsion.
    pub warm_up: u64,
}

impl Default for FunctionRepulsion {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf,
            bandwidth: Bandwidth::Medians(2.0),
            ridge: 0.01,
            strength: 1.0,
            warm_up: 0,
        }
    }
}

impl FunctionRepulsion {
    /// Check every setting.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        self.kernel.validate()?;
        self.bandwidth.validate()?;
        for (name, value, fits, expected) in [
            (
                "repulsion.ridge",
                self.ridge,
                self.ridge > 0.0,
                "a positive number",
            ),
            (
                "repulsion.strength",
                self.strength,
                self.strength >= 0.0,
                "a non-negative number",
            ),
        ] {
            if !(value.is_finite() && fits) {
                return Err(SteinError::Setting {
                    name,
                    value: value.to_string(),
                    expected,
                });
            }
        }
        Ok(())
    }

    /// `γ_t`, `t` steps having been done.
    pub fn strength_at(&self, step: u64) -> f64 {
        let risen = match self.warm_up {
            0 => 1.0,
            w => step.saturating_sub(w) as f64 / w as f64,
        };
        self.strength * risen.min(1.0)
    }

    /// `γ_t r` of images `z` (`N × M`) after `step` steps, the kernel between them left in `gram`.
    ///
    /// # Errors
    /// [`SteinError::NonFinite`] if a distance overflows, [`SteinError::Singular`] for a kernel matrix that cannot be factored.
    pub fn directions(
        &self,
        gram: &mut KernelGram,
        z: ArrayView2<'_, f64>,
        step: u64,
    ) -> Result<Array2<f64>, SteinError> {
        let settings = KernelSettings {
            kernel: self.kernel.clone(),
            metric: Metric::Identity,
            bandwidth: self.bandwidth,
        };
        gram.update(&settings, z, None)?;
        let mut r = Array2::zeros(z.dim());
        gram.repulsion_into(r.view_mut());
        stein_gradient(gram, self.ridge, &mut r.view_mut())?;
        r *= self.strength_at(step);
        Ok(r)
    }
}
