//! What a model's folder keeps of its table beside the ensemble: `table.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Conformal, Importance, Novelty};
use crate::data::Schema;
use crate::engine::EpochPoint;
use crate::metrics::ReliabilityBin;

/// Version of the format.
pub(super) const VERSION: u32 = 1;

/// Everything but the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Version of the format.
    pub version: u32,
    /// SHA-256 of `model.json`, so that the two belong together.
    pub model_sha256: String,
    /// What was read.
    pub read: Read,
    /// From a row to features, and the target.
    pub schema: Schema,
    /// The ensemble, the linear model and the constant, in this order, on the validation rows; none without such rows.
    pub scores: Vec<Score>,
    /// How often intervals held the target of validation rows; none for classes or without such rows.
    pub coverage: Vec<Coverage>,
    /// How often a class was right that was predicted with some confidence; none for numbers.
    pub reliability: Vec<ReliabilityBin>,
    /// Scores of conformal intervals; none for classes.
    pub conformal: Option<Conformal>,
    /// Disagreement at the validation rows, without such rows at those of training.
    pub novelty: Novelty,
    /// What each column is worth, the largest first.
    pub importance: Vec<Importance>,
    /// Validation NLL of each epoch.
    pub curve: Vec<EpochPoint>,
    /// What was told of the table.
    pub findings: Vec<String>,
    /// What should be known of the model.
    pub warnings: Vec<String>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Name of the file, without its folder.
    pub file: String,
    /// SHA-256 of the file as it is.
    pub sha256: String,
    /// Rows of the file.
    pub rows: usize,
    /// Columns of the file.
    pub columns: usize,
    /// Rows that were fitted.
    pub training_rows: usize,
    /// Rows that epoch and density were chosen on.
    pub validation_rows: usize,
}

/// Metrics of one model on the validation rows, by the keys of [`metrics`](crate::metrics).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// What predicts.
    pub model: String,
    /// By key.
    pub metrics: BTreeMap<String, Option<f64>>,
}

impl Score {
    /// A metric that is defined.
    pub fn metric(&self, key: &str) -> Option<f64> {
        self.metrics.get(key).copied().flatten()
    }
}

/// How often the central interval of a level held the target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Probability of the interval.
    pub level: f64,
    /// Share of rows whose target it held.
    pub share: f64,
}
