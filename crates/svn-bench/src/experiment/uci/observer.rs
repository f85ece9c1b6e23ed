//! Who watches a benchmark run: a progress bar, a log, nobody.

use crate::experiment::tune::Trial;
use crate::experiment::{EpochProgress, Method};
use crate::record::Record;

/// Names a job to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLabel {
    /// Number of the job in this run, from 0.
    pub index: usize,
    /// Name of the data set.
    pub dataset: String,
    /// How the particles move.
    pub method: Method,
    /// What else tells it from others, such as `trial 3/18 of rung 1`; may be empty.
    pub note: String,
    /// Index of the fold.
    pub fold: usize,
    /// Folds of the protocol.
    pub folds: usize,
}

impl std::fmt::Display for JobLabel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} {}fold {}/{}",
            self.dataset,
            self.method,
            if self.note.is_empty() {
                String::new()
            } else {
                format!("{} ", self.note)
            },
            self.fold + 1,
            self.folds
        )
    }
}

/// Watches a run; called from several threads at once.
#[allow(unused_variables, reason = "the default is to ignore")]
pub trait Observer: Sync {
    /// A sentence for the user.
    fn warning(&self, text: &str) {}

    /// More jobs to run, and those of them an earlier run has done.
    fn planned(&self, jobs: usize, done: usize) {}

    /// A job begins.
    fn started(&self, job: &JobLabel) {}

    /// An epoch of a job is over.
    fn progress(&self, job: &JobLabel, progress: EpochProgress) {}

    /// A job is done and its record is on disk.
    fn finished(&self, job: &JobLabel, record: &Record) {}

    /// A trial of tuning is done and on disk.
    fn tried(&self, job: &JobLabel, trial: &Trial) {}

    /// A job failed; others go on.
    fn failed(&self, job: &JobLabel, message: &str) {}
}

/// Watches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}
