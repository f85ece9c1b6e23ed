//! One job, from its configuration to the file of its record.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::collect::finished;
use super::folder::put;
use super::{Estimate, Folder, Job, SweepError};
use crate::engine::{
    self, Design, EpochProgress, Extra, Group, JobLabel, Observer, Record, RecordOf, Study,
    Trainer, Work, lock_mutex,
};

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Why it failed; none if its record is written.
    pub failure: Option<String>,
    /// NLL of the test rows.
    pub nll: Option<f64>,
    /// The epoch that was restored.
    pub best_epoch: usize,
    /// Epochs run.
    pub epochs: usize,
    /// Whole run, s.
    pub wall_s: f64,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

impl Done {
    fn of<D: Design, X: Extra>(record: &Record<D, X>) -> Self {
        Self {
            failure: None,
            nll: record.metric("nll"),
            best_epoch: record.best_epoch,
            epochs: record.epochs,
            wall_s: record.timing.wall_s,
            warnings: record.warnings.clone(),
        }
    }

    /// A probe, and what it says.
    pub fn after(estimate: Estimate) -> Self {
        Self {
            failure: None,
            wall_s: estimate.seconds,
            ..Self::failed("")
        }
    }

    /// It failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            failure: Some(message.into()),
            nll: None,
            best_epoch: 0,
            epochs: 0,
            wall_s: 0.0,
            warnings: Vec::new(),
        }
    }
}

/// Do a job of a plan: its record is written whole or not at all, what it says goes to its log, and a run that was cut off
/// earlier goes on from its checkpoint.
///
/// # Errors
/// [`SweepError`] if the configuration is none of the plan's, or a file cannot be written. A run that fails is none: that is
/// in what came of it, and in its log.
pub fn perform<S: Study>(
    plan: &engine::Plan<'_, S>,
    job: &Job,
    folder: &Folder,
    trainer: &dyn Trainer,
) -> Result<Done, SweepError> {
    if let Some(record) = finished::<RecordOf<S>>(folder, job)? {
        return Ok(Done::of(&record));
    }
    let group = group_of(plan, job)?;
    let home = folder.study(S::NAME);
    let log = Log::open(&folder.log(job))?;
    let label = engine::label(0, group, job.run(), String::new());
    let (checkpoint, work) = (
        folder.checkpoint(job),
        Work {
            trainer,
            jobs: 1,
            folder: &home,
            save_models: false,
            observer: &log,
        },
    );
    let record = match engine::record_of(plan.study, (group, job.run()), &label, &checkpoint, &work)
    {
        Ok(record) => record,
        Err(message) => {
            log.line(&format!("{FAILED}{message}"));
            return Ok(Done::failed(message));
        }
    };
    let path = folder.task(job);
    let line = serde_json::to_string(&record);
    let line = line.map_err(|error| SweepError::io(&path, error.into()))?;
    put(&path, &(line + "\n"))?;
    // They have served; what is left over of them is in nobody's way.
    for served in [checkpoint, folder.log(job)] {
        let _ = std::fs::remove_file(served);
    }
    Ok(Done::of(&record))
}

/// The settings of a job, which are its configuration's only if data and program are those of its plan.
pub(super) fn group_of<'p, S: Study>(
    plan: &'p engine::Plan<'_, S>,
    job: &Job,
) -> Result<&'p Group<S::Design>, SweepError> {
    let group = plan.groups.iter().find(|group| group.config == job.config);
    group.ok_or_else(|| {
        SweepError::Arguments(format!(
            "{job}: `svn {}` comes to other settings than those it was planned with ({}); other data, or another version of svn: \
             plan it again",
            job.arguments.join(" "),
            job.config
        ))
    })
}

/// How the last line of a log begins if the run failed, and was not cut off.
const FAILED: &str = "failed: ";

/// The log of a run.
struct Log(Mutex<std::fs::File>);

impl Log {
    fn open(path: &Path) -> Result<Self, SweepError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let log = Self(Mutex::new(
            file.map_err(|source| SweepError::io(path, source))?,
        ));
        let task = std::env::var("SLURM_JOB_ID")
            .map_or_else(|_| String::new(), |id| format!(", Slurm job {id}"));
        log.line(&format!("begun by process {}{task}", std::process::id()));
        Ok(log)
    }

    /// A line, in one call; the run does not stop for a log that cannot be written.
    fn line(&self, text: &str) {
        let _ = lock_mutex(&self.0).write_all(format!("{text}\n").as_bytes());
    }
}

impl Observer for Log {
    fn warning(&self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    fn progress(&self, _: &JobLabel, progress: EpochProgress) {
        let EpochProgress { epoch, epochs, .. } = progress;
        // Ten lines tell where it was.
        if epoch == epochs || epoch % epochs.div_ceil(10) == 0 {
            self.line(&format!("epoch {epoch} of {epochs}"));
        }
    }
}

/// A job that has no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// It has not been begun.
    Untouched,
    /// It was begun; it goes on somewhere, or was cut off. The last lines of its log.
    Begun(Vec<String>),
    /// It failed. The last lines of its log.
    Failed(Vec<String>),
}

/// Lines of a log that are shown.
const SHOWN: usize = 3;

impl Lack {
    /// What the log says of a job without a record.
    pub fn of(job: &Job, folder: &Folder) -> Self {
        let Ok(bytes) = std::fs::read(folder.log(job)) else {
            return Self::Untouched;
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut last: Vec<String> = text.lines().rev().take(SHOWN).map(str::to_owned).collect();
        last.reverse();
        match last.last() {
            Some(line) if line.starts_with(FAILED) => Self::Failed(last),
            _ => Self::Begun(last),
        }
    }

    /// Write into the log of a job that its process ended without a word.
    pub fn note(job: &Job, folder: &Folder, message: &str) {
        if let Ok(log) = Log::open(&folder.log(job)) {
            log.line(&format!("{FAILED}{message}"));
        }
    }
}
