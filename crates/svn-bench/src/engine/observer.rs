//! Who watches a study: a progress bar, a log, nobody.

use std::collections::BTreeMap;

use svn_models::fit::Epoch;
use svn_models::recipe::Method;

/// Names a run to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLabel {
    /// Number of the job in this call, from 0.
    pub index: usize,
    /// Name of the data set.
    pub dataset: String,
    /// How the particles move.
    pub method: Method,
    /// What else tells it from others, such as `trial 3/18 of rung 1` or `seed 1`; may be empty.
    pub note: String,
    /// Index of the fold.
    pub fold: usize,
    /// Folds of a seed.
    pub folds: usize,
}

impl std::fmt::Display for JobLabel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ", self.dataset, self.method)?;
        if !self.note.is_empty() {
            write!(f, "{} ", self.note)?;
        }
        write!(f, "fold {}/{}", self.fold + 1, self.folds)
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

impl EpochProgress {
    pub(crate) fn of(epoch: &Epoch<'_>) -> Self {
        Self {
            epoch: epoch.report().epoch,
            epochs: epoch.epochs(),
            validation_nll: epoch.report().validation_nll,
        }
    }
}

/// What is shown of a finished run.
#[derive(Debug, Clone, Default)]
pub struct Shown<'a> {
    /// Metrics by key.
    pub metrics: Option<&'a BTreeMap<String, Option<f64>>>,
    /// Validation NLL of a trial.
    pub validation_nll: Option<f64>,
    /// The epoch that was restored.
    pub best_epoch: usize,
    /// Epochs run.
    pub epochs: usize,
    /// Whole run, s.
    pub wall_s: f64,
    /// Sentences for the user.
    pub warnings: &'a [String],
}

/// Watches a study; called from several threads at once.
#[allow(unused_variables, reason = "the default is to ignore")]
pub trait Observer: Sync {
    /// A sentence for the user.
    fn warning(&self, text: &str) {}

    /// More jobs to run, and those of them an earlier call has done.
    fn planned(&self, jobs: usize, done: usize) {}

    /// A job begins.
    fn started(&self, job: &JobLabel) {}

    /// An epoch of a job is over.
    fn progress(&self, job: &JobLabel, progress: EpochProgress) {}

    /// A job is done and on disk.
    fn finished(&self, job: &JobLabel, shown: &Shown<'_>) {}

    /// A job failed; others go on.
    fn failed(&self, job: &JobLabel, message: &str) {}
}

/// Watches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}
