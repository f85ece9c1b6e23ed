//! One line of `tune.jsonl`: a configuration on a fold, judged on its validation rows.

use serde::{Deserialize, Serialize};

use crate::data::Task;
use crate::experiment::{Method, Recipe, Validated};
use crate::record::{Configuration, Entry, SCHEMA, Store};
use crate::split::Protocol;

/// Trials of an `--out` folder.
pub type TrialStore = Store<Trial>;

/// One finished trial. It has no test metric: none was computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Version of the format.
    pub schema: u32,
    /// Hash of the configuration, epochs among it.
    pub config: String,
    /// Name of the data set.
    pub dataset: String,
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
    /// Epochs of the trial.
    pub epochs: usize,
    /// Resolved settings.
    pub settings: Recipe,
    /// NLL of the validation rows at the best epoch, original units, nats a row; null if the trial failed.
    pub validation_nll: Option<f64>,
    /// The best epoch.
    pub best_epoch: Option<usize>,
    /// Why it failed.
    pub failure: Option<String>,
    /// Whole trial, s: all that differs between two runs.
    pub wall_s: f64,
}

impl Trial {
    /// From what a runner gave.
    pub(super) fn new(
        configuration: &Configuration,
        fold: usize,
        epochs: usize,
        outcome: Result<Validated, String>,
    ) -> Self {
        let (validated, failure) = match outcome {
            Ok(validated) => (Some(validated), None),
            Err(message) => (None, Some(message)),
        };
        Self {
            schema: SCHEMA,
            config: configuration.hash(),
            dataset: configuration.dataset.clone(),
            data_sha256: configuration.data_sha256.clone(),
            method: configuration.method,
            protocol: configuration.protocol,
            seed: configuration.seed,
            fold,
            epochs,
            settings: configuration.settings.clone(),
            validation_nll: validated.map(|v| v.nll).filter(|nll| nll.is_finite()),
            best_epoch: validated.map(|v| v.best_epoch),
            failure,
            wall_s: validated.map_or(0.0, |v| v.wall_s),
        }
    }
}

impl Entry for Trial {
    const FILE: &'static str = "tune.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }

    fn dataset(&self) -> &str {
        &self.dataset
    }

    fn method(&self) -> Method {
        self.method
    }

    fn config(&self) -> &str {
        &self.config
    }

    fn fold(&self) -> usize {
        self.fold
    }

    fn rehash(&mut self) {
        let configuration = Configuration {
            dataset: self.dataset.clone(),
            // Settings of a perceptron say which.
            task: match self.settings.noise {
                Some(_) => Task::Regression,
                None => Task::Classification,
            },
            data_sha256: self.data_sha256.clone(),
            method: self.method,
            protocol: self.protocol,
            seed: self.seed,
            settings: self.settings.clone(),
        };
        self.config = configuration.hash();
    }
}
