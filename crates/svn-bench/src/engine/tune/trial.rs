//! One line of `tune.jsonl`: a configuration on a fold, judged on its validation rows.

use serde::{Deserialize, Serialize};
use svn_models::recipe::{Method, Recipe};

use crate::engine::{Configuration, Design, Entry, Identity, RunId, SCHEMA};

/// One finished trial. It has no test metric: none was computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "D: Design"), deny_unknown_fields)]
pub struct Trial<D> {
    /// Version of the format.
    pub schema: u32,
    /// Name of the study.
    pub study: String,
    /// Hash of the configuration, epochs among it.
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
    /// Epochs of the trial.
    pub epochs: usize,
    /// NLL of the validation rows at the best epoch, original units, nats a row; null if the trial failed.
    pub validation_nll: Option<f64>,
    /// The best epoch.
    pub best_epoch: Option<usize>,
    /// Why it failed.
    pub failure: Option<String>,
    /// Whole trial, s: all that differs between two runs.
    pub wall_s: f64,
}

/// How good settings are on the validation rows of a fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Validated {
    /// NLL of the best epoch with its predictive density, original units, nats a row.
    pub nll: f64,
    /// The best epoch, from 1.
    pub best_epoch: usize,
    /// Time of the whole run, s.
    pub wall_s: f64,
}

impl<D: Design> Trial<D> {
    /// Of a trial that was done or has failed.
    pub(super) fn new(
        configuration: &Configuration<D>,
        run: RunId,
        epochs: usize,
        outcome: Result<Validated, String>,
    ) -> Self {
        let (validated, failure) = match outcome {
            Ok(validated) => (Some(validated), None),
            Err(message) => (None, Some(message)),
        };
        Self {
            schema: SCHEMA,
            study: configuration.study.clone(),
            config: configuration.hash(),
            design: configuration.design.clone(),
            method: configuration.method,
            settings: configuration.settings.clone(),
            seed: run.seed,
            fold: run.fold,
            epochs,
            validation_nll: validated.map(|v| v.nll).filter(|nll| nll.is_finite()),
            best_epoch: validated.map(|v| v.best_epoch),
            failure,
            wall_s: validated.map_or(0.0, |v| v.wall_s),
        }
    }
}

impl<D: Design> Entry for Trial<D> {
    const FILE: &'static str = "tune.jsonl";
    type Design = D;

    fn of(&self) -> Identity<'_, D> {
        Identity {
            schema: self.schema,
            study: &self.study,
            config: &self.config,
            design: &self.design,
            method: self.method,
            settings: &self.settings,
            run: RunId {
                seed: self.seed,
                fold: self.fold,
            },
        }
    }

    fn set_config(&mut self, config: String) {
        self.config = config;
    }
}
