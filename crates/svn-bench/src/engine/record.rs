//! One line of `records.jsonl`, and the hash that tells whether a run has been done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use svn_models::recipe::{Method, Recipe};

use super::{Design, Entry, Extra, Identity, RunId};
use crate::metrics::quantile;

/// Version of the format of records, trials and summaries.
pub const SCHEMA: u32 = 3;

/// Everything but seed and fold that a result depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration<D> {
    /// Name of the study.
    pub study: String,
    /// Data and splits.
    pub design: D,
    /// How the particles move.
    pub method: Method,
    /// Resolved settings.
    pub settings: Recipe,
}

impl<D: Design> Configuration<D> {
    /// First 16 hex digits of the SHA-256 of all fields: two runs with the same, seed and fold give the same record.
    pub fn hash(&self) -> String {
        // A struct of strings, numbers and enums always serialises; were it not so, all would share one hash.
        let text = serde_json::to_string(&(SCHEMA, self)).unwrap_or_default();
        let digest = Sha256::digest(text.as_bytes());
        let head = digest.iter().take(8);
        head.map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Rows of the parts of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSizes {
    /// Rows to fit on.
    pub train: usize,
    /// Rows to stop on.
    pub validation: usize,
    /// Rows to measure on.
    pub test: usize,
}

/// One point of the learning curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochPoint {
    /// Epochs done, from 1.
    pub epoch: usize,
    /// Validation NLL, original units; null if it was not finite.
    pub validation_nll: Option<f64>,
}

/// What the kernel did, means over the epochs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelUse {
    /// Mean off-diagonal value of the kernel matrix.
    pub mean: f64,
    /// Repulsion over drive.
    pub repulsion: f64,
    /// Directions that the data determine beside the damping, at the last epoch; N particles span N − 1. None without curvature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_parameters: Option<f64>,
}

/// What differs from run to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Steps timed.
    pub steps: usize,
    /// Median time of a step, ms; null without steps.
    pub step_ms_median: Option<f64>,
    /// 90 % of the steps take no longer, ms.
    pub step_ms_p90: Option<f64>,
    /// Whole run, measuring included, s.
    pub wall_s: f64,
    /// From the start of training to the end of each epoch, validation included, s. Empty in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs_s: Vec<f64>,
}

impl Timing {
    /// Sum up the times of steps (ms) and epochs (s, each its own).
    pub fn of(step_ms: &[f64], epoch_s: &[f64], wall_s: f64) -> Self {
        let finite = step_ms.iter().copied().filter(|ms| ms.is_finite());
        let mut sorted: Vec<f64> = finite.collect();
        sorted.sort_by(f64::total_cmp);
        let mut elapsed = 0.0;
        // To the microsecond: more would be noise in every line.
        let until = |seconds: &f64| {
            elapsed += seconds;
            (elapsed * 1e6_f64).round() / 1e6
        };
        Self {
            steps: sorted.len(),
            step_ms_median: quantile(&sorted, 0.5),
            step_ms_p90: quantile(&sorted, 0.9),
            wall_s,
            epochs_s: epoch_s.iter().map(until).collect(),
        }
    }

    /// Time of training, s.
    pub fn fit_s(&self) -> Option<f64> {
        self.epochs_s.last().copied()
    }

    /// Time until the end of an epoch, s.
    pub fn until(&self, epoch: usize) -> Option<f64> {
        self.epochs_s.get(epoch.checked_sub(1)?).copied()
    }
}

/// One finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "D: Design, X: Extra"), deny_unknown_fields)]
pub struct Record<D, X> {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Name of the study.
    pub study: String,
    /// Hash of the configuration.
    pub config: String,
    /// Data and splits.
    pub design: D,
    /// How the particles move.
    pub method: Method,
    /// Resolved settings.
    pub settings: Recipe,
    /// Seed of splits and training.
    pub seed: u64,
    /// Index of the fold.
    pub fold: usize,
    /// Rows of its parts.
    pub rows: PartSizes,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was restored, from 1.
    pub best_epoch: usize,
    /// Validation NLL of the final predictive density, where it is not that of the best epoch in the curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_nll: Option<f64>,
    /// By key; null is not defined.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// The study's own measures.
    #[serde(default)]
    pub extra: X,
    /// Validation NLL by epoch.
    pub curve: Vec<EpochPoint>,
    /// What the kernel did; none for methods without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelUse>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
    /// The only part that differs between two runs of the same configuration, seed and fold.
    pub timing: Timing,
}

impl<D: Design, X: Extra> Record<D, X> {
    /// Which run of it.
    pub fn run(&self) -> RunId {
        RunId {
            seed: self.seed,
            fold: self.fold,
        }
    }

    /// A metric that is defined.
    pub fn metric(&self, key: &str) -> Option<f64> {
        self.metrics.get(key).copied().flatten()
    }

    /// The best epoch of the curve and its validation NLL.
    pub fn best(&self) -> Option<(usize, f64)> {
        let finite = self.curve.iter();
        finite
            .filter_map(|point| Some((point.epoch, point.validation_nll?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl<D: Design, X: Extra> Entry for Record<D, X> {
    const FILE: &'static str = "records.jsonl";
    type Design = D;

    fn of(&self) -> Identity<'_, D> {
        Identity {
            schema: self.schema,
            study: &self.study,
            config: &self.config,
            design: &self.design,
            method: self.method,
            settings: &self.settings,
            run: self.run(),
        }
    }

    fn set_config(&mut self, config: String) {
        self.config = config;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_and_epochs_add_up() {
        let timing = Timing::of(&[4.0, 1.0, 2.0, 3.0], &[0.5, 0.25], 1.0);
        assert_eq!((timing.steps, timing.step_ms_median), (4, Some(2.5)));
        assert!((timing.step_ms_p90.unwrap() - 3.7).abs() < 1e-12);
        assert_eq!((timing.until(1), timing.fit_s()), (Some(0.5), Some(0.75)));
        assert_eq!((timing.until(0), timing.until(3)), (None, None));
        let empty = Timing::of(&[], &[], 1.0);
        assert_eq!((empty.step_ms_median, empty.fit_s()), (None, None));
        assert_eq!(Timing::of(&[5.0], &[], 1.0).step_ms_p90, Some(5.0));
    }
}
