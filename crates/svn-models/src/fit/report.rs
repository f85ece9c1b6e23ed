//! What a training run tells of itself, epoch by epoch.

use serde::{Deserialize, Serialize};
use svn_stein::KernelWarning;

/// State of a run after an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Epoch, from 1.
    pub epoch: usize,
    /// Mean negative log likelihood of the validation rows in nats, in the units of the targets given to training.
    /// None if a prediction was not finite.
    pub validation_nll: Option<f64>,
    /// Mean off-diagonal kernel value over the epoch; none for methods without a kernel.
    pub mean_kernel: Option<f64>,
    /// Set if the kernel did nothing in more than half of the epoch's steps.
    pub kernel_warning: Option<KernelWarning>,
    /// Repulsion over drive, mean over the epoch.
    pub repulsion_ratio: Option<f64>,
    /// Levenberg damping of the last step.
    pub damping: f64,
    /// Mean share of the step that the trust region let through, 1 for none cut.
    pub trust_scale: f64,
    /// Particles put back because a step led out of the finite region.
    pub rejected: usize,
}

/// Sums over the steps of one epoch.
#[derive(Debug, Default)]
pub(super) struct EpochSums {
    steps: usize,
    kernel: f64,
    repulsion: f64,
    with_kernel: usize,
    identity: usize,
    constant: usize,
    trust: f64,
    damping: f64,
    rejected: usize,
}

impl EpochSums {
    pub(super) fn add(&mut self, info: &svn_stein::Info) {
        self.steps += 1;
        if let Some(health) = &info.kernel {
            self.with_kernel += 1;
            self.kernel += health.mean;
            self.repulsion += health.repulsion_ratio;
            match health.warning {
                Some(KernelWarning::Identity) => self.identity += 1,
                Some(KernelWarning::Constant) => self.constant += 1,
                _ => {}
            }
        }
        self.trust += info.trust_scale.iter().sum::<f64>() / info.trust_scale.len().max(1) as f64;
        self.damping = info.damping;
        self.rejected += info.rejected.len();
    }

    /// The report of the epoch; the sums start anew.
    pub(super) fn finish(&mut self, epoch: usize, validation_nll: f64) -> EpochReport {
        let sums = std::mem::take(self);
        let mean = |sum: f64| (sums.with_kernel > 0).then(|| sum / sums.with_kernel as f64);
        EpochReport {
            epoch,
            validation_nll: validation_nll.is_finite().then_some(validation_nll),
            mean_kernel: mean(sums.kernel),
            kernel_warning: sums.kernel_warning(),
            repulsion_ratio: mean(sums.repulsion),
            damping: sums.damping,
            trust_scale: sums.trust / sums.steps.max(1) as f64,
            rejected: sums.rejected,
        }
    }

    fn kernel_warning(&self) -> Option<KernelWarning> {
        [
            (self.identity, KernelWarning::Identity),
            (self.constant, KernelWarning::Constant),
        ]
        .into_iter()
        .find(|(steps, _)| 2 * steps > self.steps)
        .map(|(_, warning)| warning)
    }
}
