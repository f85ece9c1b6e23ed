//! Where a sweep keeps what, one folder for all plans; no file in it is ever written in place or locked.
//!
//! ```text
//! OUT/STUDY/records.jsonl      all records, once collected
//!           tasks/KEY.jsonl    one record, from the task that made it
//!           logs/KEY.log       what a run said that is not done
//!           checkpoints/       states of runs that go on
//!           probes/CONFIG.json what a run of a few epochs took
//! OUT/plans/NAME/              arrays of tasks handed to others, and what came of handing them over
//! ```

use std::path::{Path, PathBuf};

use super::{Job, SweepError};
use crate::engine::write_atomically;

/// The folder of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

/// Ending of the files of single records.
pub(super) const RECORD: &str = "jsonl";

impl Folder {
    /// At this place; nothing is made yet.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is of one study.
    pub fn study(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// What is of one plan.
    pub fn plan(&self, name: &str) -> PathBuf {
        self.root.join("plans").join(name)
    }

    pub(super) fn tasks(&self, study: &str) -> PathBuf {
        self.study(study).join("tasks")
    }

    /// The record of a job.
    pub(super) fn task(&self, job: &Job) -> PathBuf {
        self.tasks(&job.study)
            .join(format!("{}.{RECORD}", job.key()))
    }

    /// What a job has said that is not done.
    pub(super) fn log(&self, job: &Job) -> PathBuf {
        let name = format!("{}.log", job.key());
        self.study(&job.study).join("logs").join(name)
    }

    pub(super) fn checkpoint(&self, job: &Job) -> PathBuf {
        let name = format!("{}.ckpt", job.key());
        self.study(&job.study).join("checkpoints").join(name)
    }

    pub(super) fn probe(&self, job: &Job) -> PathBuf {
        let name = format!("{}.json", job.config);
        self.study(&job.study).join("probes").join(name)
    }

    /// Make the folders of a study.
    ///
    /// # Errors
    /// [`SweepError::Io`].
    pub fn make(&self, study: &str) -> Result<(), SweepError> {
        ["tasks", "logs", "checkpoints", "probes"]
            .iter()
            .try_for_each(|name| make(&self.study(study).join(name)))
    }
}

/// Make a folder and those above it.
pub(super) fn make(folder: &Path) -> Result<(), SweepError> {
    std::fs::create_dir_all(folder).map_err(|source| SweepError::io(folder, source))
}

/// Write a file whole or not at all.
///
/// # Errors
/// [`SweepError::Engine`].
pub(crate) fn put(path: &Path, text: &str) -> Result<(), SweepError> {
    Ok(write_atomically(path, text.as_bytes())?)
}
