//! Runs the jobs of a plan on threads; every finished one is on disk before the next begins.

use std::sync::{Mutex, PoisonError};

use super::{Group, JobLabel, Observer, Plan, Prepared};
use crate::experiment::{ExperimentError, FoldRunner, pool};
use crate::record::{Record, RecordStore};

/// A job that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which one.
    pub job: JobLabel,
    /// Why.
    pub message: String,
}

/// What came of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// Jobs run now.
    pub ran: usize,
    /// Jobs an earlier run had done.
    pub skipped: usize,
    /// Jobs that failed, in order.
    pub failures: Vec<Failure>,
}

/// Run every job of a plan that the store does not hold, on `jobs` threads, one job a thread.
///
/// A job that fails or panics does not stop others. At the end the store is rewritten in canonical order, so that its
/// bytes (timings aside) depend neither on `jobs` nor on interruptions.
///
/// # Errors
/// [`ExperimentError::Record`] if a record cannot be written: then no further job is started.
pub fn run(
    plan: &Plan,
    jobs: usize,
    runner: &dyn FoldRunner,
    store: &mut RecordStore,
    observer: &dyn Observer,
) -> Result<Finished, ExperimentError> {
    for text in plan
        .datasets
        .iter()
        .flat_map(|dataset| &dataset.data.report.warnings)
    {
        observer.warning(text);
    }
    if store.was_torn() {
        observer.warning("the last record was cut off by a crash; its run is done again");
    }
    let pending = pending(plan, store);
    let skipped = plan.jobs() - pending.len();
    observer.planned(pending.len(), skipped);

    let shared = Shared {
        store: Mutex::new(store),
        failures: Mutex::default(),
    };
    pool::for_each(&pending, jobs, |job| shared.run_one(job, runner, observer))?;
    let mut failures = shared
        .failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|failure| failure.job.index);
    store.finish()?;
    Ok(Finished {
        ran: pending.len() - failures.len(),
        skipped,
        failures,
    })
}

struct Pending<'a> {
    label: JobLabel,
    group: &'a Group,
    dataset: &'a Prepared,
}

fn pending<'a>(plan: &'a Plan, store: &RecordStore) -> Vec<Pending<'a>> {
    let mut pending = Vec::new();
    for group in &plan.groups {
        let dataset = &plan.datasets[group.dataset];
        for fold in (0..dataset.folds.len()).filter(|&fold| !store.contains(&group.config, fold)) {
            let label = JobLabel {
                index: pending.len(),
                dataset: group.configuration.dataset.clone(),
                note: String::new(),
                method: group.configuration.method,
                fold,
                folds: dataset.folds.len(),
            };
            pending.push(Pending {
                label,
                group,
                dataset,
            });
        }
    }
    pending
}

struct Shared<'a> {
    store: Mutex<&'a mut RecordStore>,
    failures: Mutex<Vec<Failure>>,
}

impl Shared<'_> {
    fn run_one(
        &self,
        job: &Pending<'_>,
        runner: &dyn FoldRunner,
        observer: &dyn Observer,
    ) -> Result<(), ExperimentError> {
        observer.started(&job.label);
        match train(job, runner, observer) {
            Ok(record) => {
                pool::lock(&self.store).append(record.clone())?;
                observer.finished(&job.label, &record);
            }
            Err(message) => {
                observer.failed(&job.label, &message);
                pool::lock(&self.failures).push(Failure {
                    job: job.label.clone(),
                    message,
                });
            }
        }
        Ok(())
    }
}

fn train(
    job: &Pending<'_>,
    runner: &dyn FoldRunner,
    observer: &dyn Observer,
) -> Result<Record, String> {
    let (fold, configuration) = (job.label.fold, &job.group.configuration);
    let (fold_job, test) = job
        .dataset
        .job_and_test(
            fold,
            configuration.method,
            &configuration.settings,
            configuration.seed,
        )
        .map_err(|error| error.to_string())?;
    let progress = |progress| observer.progress(&job.label, progress);
    let mut outcome = pool::caught(|| runner.run(&fold_job, &test, &progress))?;
    // What is odd about the data belongs to every result on it.
    outcome
        .warnings
        .extend_from_slice(&job.dataset.data.report.warnings);
    Ok(Record::new(
        configuration,
        fold,
        job.dataset.sizes(fold),
        outcome,
    ))
}
