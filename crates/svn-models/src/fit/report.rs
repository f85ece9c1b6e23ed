//! What a training run tells of itself, epoch by epoch.

use serde::{Deserialize, Serialize};
use svn_stein::KernelWarning;

/// State of a run after an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Epoch, from 1.
    pub epoch: usize,
    /// Mean negative log likelihood of the validation rows in nats, in the units of the targets given to training.
    /// None if a prediction was not finite, or no rows choose the epoch.
    pub validation_nll: Option<f64>,
    /// Mean off-diagonal kernel value over the epoch; none for methods without a kernel.
    pub mean_kernel: Option<f64>,
    /// What more than half of the epoch's steps said of a kernel that does nothing.
    pub kernel_warning: Option<KernelWarning>,
    /// Repulsion over drive, mean over the epoch.
    pub repulsion_ratio: Option<f64>,
    /// Directions that the data say more of than prior and damping, at the end of the epoch: see
    /// [`Posterior::effective_parameters`](crate::posterior::Posterior::effective_parameters). None for methods without curvature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_parameters: Option<f64>,
    /// Nats a row that the last step's size and batch hold a quadratic of so many parameters above its minimum, at most:
    /// `ε/(2 − ε) · γ/(2b)` (0 where a batch has all rows). Above a hundredth a smaller step, a larger batch or an average of weights gains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stationary_noise: Option<f64>,
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
    negligible: usize,
    trust: f64,
    damping: f64,
    /// Size of the last step, if it was a Newton step.
    pub(super) rate: Option<f64>,
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
                Some(KernelWarning::Negligible) => self.negligible += 1,
                _ => {}
            }
        }
        self.trust += info.trust_scale.iter().sum::<f64>() / info.trust_scale.len().max(1) as f64;
        self.damping = info.damping;
        self.rate = info.solve.as_ref().map(|_| info.rate);
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
            effective_parameters: None,
            stationary_noise: None,
            damping: sums.damping,
            trust_scale: sums.trust / sums.steps.max(1) as f64,
            rejected: sums.rejected,
        }
    }

    fn kernel_warning(&self) -> Option<KernelWarning> {
        [
            (self.identity, KernelWarning::Identity),
            (self.constant, KernelWarning::Constant),
            (self.negligible, KernelWarning::Negligible),
        ]
        .into_iter()
        .find(|(steps, _)| 2 * steps > self.steps)
        .map(|(_, warning)| warning)
    }
}

#[cfg(test)]
mod tests {
    use svn_stein::{Info, KernelHealth};

    use super::*;

    fn info(warning: Option<KernelWarning>) -> Info {
        Info {
            step: 1,
            log_density: vec![0.0],
            mean_log_density: 0.0,
            rate: 1.0,
            spread: 0.0,
            effective_dimension: 0.0,
            kernel_stein_discrepancy: 0.0,
            step_size: 0.0,
            kernel: Some(KernelHealth {
                bandwidth: 1.0,
                mean: 0.5,
                min: 0.5,
                max: 0.5,
                repulsion_ratio: 0.004,
                laplace_spread: None,
                warning,
            }),
            solve: None,
            damping: 0.0,
            trust_scale: vec![1.0],
            gain: None,
            rejected: Vec::new(),
        }
    }

    #[test]
    fn what_more_than_half_of_the_steps_say_is_told() {
        for warning in [
            KernelWarning::Identity,
            KernelWarning::Constant,
            KernelWarning::Negligible,
        ] {
            let mut sums = EpochSums::default();
            for steps in [3, 2] {
                for step in 0..4 {
                    sums.add(&info((step < steps).then_some(warning)));
                }
                let report = sums.finish(1, 0.0);
                assert_eq!(report.kernel_warning, (steps == 3).then_some(warning));
                assert!((report.repulsion_ratio.unwrap() - 0.004).abs() < 1e-15);
            }
        }
    }
}
