//! One line of `records.jsonl`, and the hash that tells whether a run has been done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::data::Task;
use crate::experiment::{EpochPoint, FoldOutcome, Method, Recipe};
use crate::split::Protocol;

/// Version of the format of records and summaries.
pub const SCHEMA: u32 = 2;

/// Everything but the fold that a result depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Name of the data set.
    pub dataset: String,
    /// What is predicted.
    pub task: Task,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// How the particles move.
    pub method: Method,
    /// How rows are cut.
    pub protocol: Protocol,
    /// The user's seed.
    pub seed: u64,
    /// Resolved settings.
    pub settings: Recipe,
}

impl Configuration {
    /// First 16 hex digits of the SHA-256 of all fields: two runs with the same give the same records.
    pub fn hash(&self) -> String {
        // A struct of strings, numbers and enums always serialises; were it not so, all would share one hash.
        let text = serde_json::to_string(&(SCHEMA, self)).unwrap_or_default();
        Sha256::digest(text.as_bytes())
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
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

/// What differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Steps timed.
    pub steps: usize,
    /// Median time of a step, ms; null without steps.
    pub step_ms_median: Option<f64>,
    /// 90 % of the steps take no longer, ms.
    pub step_ms_p90: Option<f64>,
    /// Whole run, s.
    pub wall_s: f64,
}

impl Timing {
    /// Sum up the times of the steps.
    pub fn of(step_ms: &[f64], wall_s: f64) -> Self {
        let mut sorted: Vec<f64> = step_ms
            .iter()
            .copied()
            .filter(|ms| ms.is_finite())
            .collect();
        sorted.sort_by(f64::total_cmp);
        Self {
            steps: sorted.len(),
            step_ms_median: quantile(&sorted, 0.5),
            step_ms_p90: quantile(&sorted, 0.9),
            wall_s,
        }
    }
}

/// Quantile of ascending values by linear interpolation; `None` for none.
pub(crate) fn quantile(sorted: &[f64], level: f64) -> Option<f64> {
    let position = level * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (position.floor() as usize, position.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * position.fract())
}

/// One finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// `SCHEMA`.
    pub schema: u32,
    /// Hash of the configuration.
    pub config: String,
    /// Name of the data set.
    pub dataset: String,
    /// What is predicted.
    pub task: Task,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// How the particles move.
    pub method: Method,
    /// How rows are cut.
    pub protocol: Protocol,
    /// The user's seed.
    pub seed: u64,
    /// Index of the fold.
    pub fold: usize,
    /// Rows of its parts.
    pub rows: PartSizes,
    /// Resolved settings.
    pub settings: Recipe,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was restored.
    pub best_epoch: usize,
    /// Validation NLL of the final predictive density, where it is not that of the best epoch in the curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_nll: Option<f64>,
    /// By key; null is not defined.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// Validation NLL by epoch.
    pub curve: Vec<EpochPoint>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
    /// The only part that differs between two runs of the same configuration.
    pub timing: Timing,
}

impl Record {
    /// What it is a record of.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            dataset: self.dataset.clone(),
            task: self.task,
            data_sha256: self.data_sha256.clone(),
            method: self.method,
            protocol: self.protocol,
            seed: self.seed,
            settings: self.settings.clone(),
        }
    }

    /// From what a runner gave.
    pub fn new(
        configuration: &Configuration,
        fold: usize,
        rows: PartSizes,
        outcome: FoldOutcome,
    ) -> Self {
        let mut warnings = outcome.metrics.warnings;
        warnings.extend(outcome.warnings);
        Self {
            schema: SCHEMA,
            config: configuration.hash(),
            dataset: configuration.dataset.clone(),
            task: configuration.task,
            data_sha256: configuration.data_sha256.clone(),
            method: configuration.method,
            protocol: configuration.protocol,
            seed: configuration.seed,
            fold,
            rows,
            settings: configuration.settings.clone(),
            epochs: outcome.epochs,
            best_epoch: outcome.best_epoch,
            validation_nll: outcome.validation_nll,
            metrics: outcome.metrics.values,
            curve: outcome.curve,
            warnings,
            timing: Timing::of(&outcome.step_ms, outcome.wall_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration() -> Configuration {
        Configuration {
            dataset: "yacht".into(),
            task: Task::Regression,
            data_sha256: "ab".into(),
            method: Method::Svn,
            protocol: Protocol::Paper { folds: 5 },
            seed: 0,
            settings: Recipe {
                lr: Some(0.1),
                ..Recipe::default()
            },
        }
    }

    #[test]
    fn every_field_changes_the_hash() {
        let plain = configuration();
        let settings = |lr| Recipe {
            lr: Some(lr),
            ..Recipe::default()
        };
        let others = [
            Configuration {
                dataset: "wine".into(),
                ..plain.clone()
            },
            Configuration {
                data_sha256: "cd".into(),
                ..plain.clone()
            },
            Configuration {
                method: Method::Svgd,
                ..plain.clone()
            },
            Configuration {
                protocol: Protocol::Paper { folds: 4 },
                ..plain.clone()
            },
            Configuration {
                protocol: Protocol::Standard { splits: 5 },
                ..plain.clone()
            },
            Configuration {
                seed: 1,
                ..plain.clone()
            },
            Configuration {
                settings: settings(0.1f64.next_up()),
                ..plain.clone()
            },
            Configuration {
                settings: Recipe {
                    ring: Some(2),
                    ..settings(0.1)
                },
                ..plain.clone()
            },
        ];
        let mut hashes: Vec<_> = others
            .iter()
            .map(Configuration::hash)
            .chain([plain.hash()])
            .collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 9);
        assert_eq!(plain.hash(), configuration().hash());
    }

    #[test]
    fn quantiles_interpolate() {
        let timing = Timing::of(&[4.0, 1.0, 2.0, 3.0], 1.0);
        assert_eq!((timing.steps, timing.step_ms_median), (4, Some(2.5)));
        assert!((timing.step_ms_p90.unwrap() - 3.7).abs() < 1e-12);
        assert_eq!(Timing::of(&[], 1.0).step_ms_median, None);
        assert_eq!(Timing::of(&[5.0], 1.0).step_ms_p90, Some(5.0));
    }

    #[test]
    fn metrics_keep_every_bit() {
        let mut outcome = FoldOutcome::default();
        for (key, value) in [("a", 0.1 + 0.2), ("b", f64::MIN_POSITIVE), ("c", 1.0 / 3.0)] {
            outcome.metrics.values.insert(key.into(), Some(value));
        }
        outcome.metrics.values.insert("d".into(), None);
        let rows = PartSizes {
            train: 3,
            validation: 2,
            test: 1,
        };
        let record = Record::new(&configuration(), 2, rows, outcome);
        let line = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
        assert!(
            line.contains(r#""d":null"#)
                && line.contains(r#""protocol":{"name":"paper","folds":5}"#),
            "{line}"
        );
    }
}
