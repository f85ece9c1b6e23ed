//! What a step reports.

use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

use crate::field::FieldNorms;
use crate::gram::KernelGram;
use crate::system::SolveInfo;

/// Report of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// Number of this step, from one.
    pub step: u64,
    /// `log π` of every particle before the step, on the batch used.
    pub log_density: Vec<f64>,
    /// Mean of `log_density`.
    pub mean_log_density: f64,
    /// Step size `ε_t`, back-off after rejected steps included.
    pub rate: f64,
    /// Root mean squared distance of the particles from their mean, per coordinate, before the step.
    pub spread: f64,
    /// Number of directions the particles spread over, `(tr C)² / tr C²`, before the step.
    pub effective_dimension: f64,
    /// Kernel Stein discrepancy (IMQ, `c² = d`) before the step, with the scores of the batch used.
    pub kernel_stein_discrepancy: f64,
    /// Root mean squared change of a coordinate.
    pub step_size: f64,
    /// Kernel health; `None` for methods without a kernel.
    pub kernel: Option<KernelHealth>,
    /// How the Newton system was solved; `None` for first-order methods.
    pub solve: Option<SolveInfo>,
    /// Levenberg damping `λ` used; zero for first-order methods.
    pub damping: f64,
    /// Trust-region scale `τ_m` of every particle; one where it did not bind.
    pub trust_scale: Vec<f64>,
    /// Gain of the quadratic model over this step, where it was measured.
    pub gain: Option<f64>,
    /// Particles whose last step was rejected, in the order they were put back.
    pub rejected: Vec<usize>,
}

/// State of the interaction between particles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KernelHealth {
    /// Bandwidth `h`.
    pub bandwidth: f64,
    /// Mean of the off-diagonal `K` (zero for one particle).
    pub mean: f64,
    /// Smallest off-diagonal `K`.
    pub min: f64,
    /// Largest off-diagonal `K`.
    pub max: f64,
    /// `‖repulsion‖ / ‖drive‖` of the field (zero without repulsion).
    pub repulsion_ratio: f64,
    /// Spread of the particles against the normal density of their curvature, see
    /// [`KernelGram::laplace_spread`]; `None` where a step asks for no curvature.
    pub laplace_spread: Option<f64>,
    /// Set when the kernel does nothing or the particles have collapsed.
    pub warning: Option<KernelWarning>,
}

/// A kernel that does nothing, or too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KernelWarning {
    /// `K ≈ I`: the particles do not interact; the bandwidth is too small and the method is an ensemble.
    Identity,
    /// `K ≈ 1 1ᵀ`: the particles are indistinguishable; the bandwidth is too large or they have collapsed.
    Constant,
    /// The particles are a point against the spread that their curvature allows: less than a thousandth of its variance.
    Collapsed,
    /// The repulsion is less than a hundredth of the drive: the kernel does nothing to the particles here, and the method is
    /// close to one without. Set where none of the others says why.
    Negligible,
}

/// Mean off-diagonal `K` below which the kernel counts as the identity.
const IDENTITY: f64 = 1e-4;
/// Smallest off-diagonal `K` above which the kernel counts as constant.
const CONSTANT: f64 = 0.99;

/// Share of the variance that the curvature allows below which particles count as collapsed.
const COLLAPSED: f64 = 1e-3;

impl KernelHealth {
    /// Share of the drive below which the repulsion counts as none.
    pub const NEGLIGIBLE: f64 = 0.01;

    /// Judge a kernel and the field it made.
    pub fn new(gram: &KernelGram, norms: FieldNorms) -> Self {
        let (mean, min, max) = off_diagonal(gram.kernel());
        let laplace_spread = gram.laplace_spread();
        let repulsion_ratio = match norms.repulsion {
            0.0 => 0.0,
            repulsion => (repulsion / norms.drive.max(f64::MIN_POSITIVE)).min(f64::MAX),
        };
        let warning = if gram.particles() < 2 || !gram.couples() {
            None
        } else if laplace_spread.is_some_and(|spread| spread < COLLAPSED) {
            Some(KernelWarning::Collapsed)
        } else if mean < IDENTITY {
            Some(KernelWarning::Identity)
        } else if min > CONSTANT {
            Some(KernelWarning::Constant)
        } else if repulsion_ratio < Self::NEGLIGIBLE {
            Some(KernelWarning::Negligible)
        } else {
            None
        };
        Self {
            bandwidth: gram.bandwidth(),
            mean,
            min,
            max,
            repulsion_ratio,
            laplace_spread,
            warning,
        }
    }
}

/// Mean, smallest and largest off-diagonal entry; zeros for a single particle.
fn off_diagonal(k: ArrayView2<'_, f64>) -> (f64, f64, f64) {
    let n = k.nrows();
    if n < 2 {
        return (0.0, 0.0, 0.0);
    }
    let (mut sum, mut min, mut max) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
    for ((p, m), &x) in k.indexed_iter() {
        if p != m {
            sum += x;
            min = f64::min(min, x);
            max = f64::max(max, x);
        }
    }
    (sum / (n * (n - 1)) as f64, min, max)
}
