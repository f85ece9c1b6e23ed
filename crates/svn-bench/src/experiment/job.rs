//! The boundary to training: one fold goes in, what was measured comes out.

use std::collections::BTreeMap;

use ndarray::{Array1, Array2};
use rand::rngs::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use svn_models::recipe::{NetworkKind, Problem};

use super::{ExperimentError, Method, Recipe, RunError};
use crate::data::Task;
use crate::metrics::Metrics;
use crate::split::stream;
use svn_models::scaling::TargetScaler;

/// What a runner may base its defaults on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetSummary {
    /// Its name.
    pub name: String,
    /// What is predicted.
    pub task: Task,
    /// Rows in all.
    pub rows: usize,
    /// Features `d`.
    pub features: usize,
    /// Classes `C`; 0 for regression.
    pub classes: usize,
    /// Rows of the smallest training part.
    pub train_rows: usize,
}

impl DatasetSummary {
    /// What settings are resolved for.
    pub fn problem(&self) -> Problem {
        Problem {
            network: NetworkKind::Mlp,
            rows: self.train_rows,
            features: self.features,
            classes: (self.task == Task::Classification).then_some(self.classes),
        }
    }

    /// Settings of a method with everything filled in that it uses.
    ///
    /// # Errors
    /// [`ExperimentError::Recipe`].
    pub fn resolve(&self, method: Method, given: &Recipe) -> Result<Recipe, ExperimentError> {
        let resolved = given.resolve(method, &self.problem());
        resolved
            .map(|resolved| resolved.recipe)
            .map_err(|source| ExperimentError::Recipe {
                dataset: self.name.clone(),
                method,
                source: Box::new(source),
            })
    }
}

/// Rows of one part of a fold.
///
/// # Shapes
/// `x`: `n × d`, `y`: `n`, `original_y`: `n`.
#[derive(Debug, Clone)]
pub struct Part {
    /// Features, standardised by the training rows.
    pub x: Array2<f64>,
    /// Target, standardised by the training rows; class index `0.0, 1.0, …` for classification.
    pub y: Array1<f64>,
    /// Target in original units; the same as `y` for classification.
    pub original_y: Array1<f64>,
}

impl Part {
    /// Class indices, for classification.
    pub fn classes(&self) -> Vec<usize> {
        self.original_y
            .iter()
            .map(|&class| class as usize)
            .collect()
    }
}

/// Everything that training and the choice of settings need: no test rows.
#[derive(Debug, Clone)]
pub struct FoldJob {
    /// The data set.
    pub dataset: DatasetSummary,
    /// How the particles move.
    pub method: Method,
    /// Resolved settings.
    pub settings: Recipe,
    /// Index of the fold.
    pub fold: usize,
    /// The user's seed; see [`FoldJob::stream`].
    pub seed: u64,
    /// Rows to fit on.
    pub train: Part,
    /// Rows to stop on: the epoch with the best validation NLL is restored.
    pub validation: Part,
    /// From standardised to original target units; the identity for classification.
    pub target_scaler: TargetScaler,
}

impl FoldJob {
    /// The random stream of this fold for a purpose such as `init` or `batches`.
    ///
    /// It does not depend on the method, so that methods start from the same networks and see the same batches.
    pub fn stream(&self, purpose: &str) -> ChaCha20Rng {
        stream(
            self.seed,
            &["job", purpose, &self.dataset.name, &self.fold.to_string()],
        )
    }
}

/// State of a run after an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochProgress {
    /// Epochs done.
    pub epoch: usize,
    /// Epochs at most.
    pub epochs: usize,
    /// Validation NLL, original units.
    pub validation_nll: Option<f64>,
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

/// What one run gave.
#[derive(Debug, Clone, Default)]
pub struct FoldOutcome {
    /// Metrics over the whole test part, original units.
    pub metrics: Metrics,
    /// Validation NLL of the final predictive density, where it is not that of the best epoch in the curve.
    pub validation_nll: Option<f64>,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was restored, from 1.
    pub best_epoch: usize,
    /// Validation NLL epoch by epoch.
    pub curve: Vec<EpochPoint>,
    /// Time of each step, ms.
    pub step_ms: Vec<f64>,
    /// Time of the whole run, s.
    pub wall_s: f64,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

/// How good settings are on the validation rows of a fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validated {
    /// NLL of the best epoch with its predictive density, original units, nats a row.
    pub nll: f64,
    /// The best epoch, from 1.
    pub best_epoch: usize,
    /// Time of the whole run, s.
    pub wall_s: f64,
}

/// Trains and measures one fold. Called from several threads at once, one job a thread.
pub trait FoldRunner: Sync {
    /// Train, restore the best epoch, measure on `test`. The result depends on job and test rows alone (timings
    /// aside), not on what else runs.
    ///
    /// # Errors
    /// [`RunError::Failed`]; other folds go on.
    fn run(
        &self,
        job: &FoldJob,
        test: &Part,
        progress: &dyn Fn(EpochProgress),
    ) -> Result<FoldOutcome, RunError>;

    /// Train and say how good the best epoch is on the validation rows, for the choice of settings.
    ///
    /// # Errors
    /// [`RunError::Failed`]; other trials go on.
    fn validate(
        &self,
        job: &FoldJob,
        progress: &dyn Fn(EpochProgress),
    ) -> Result<Validated, RunError>;

    /// Versions and devices, for the report.
    fn environment(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}
