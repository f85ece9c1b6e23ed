//! Runs the jobs of a plan on threads; every finished one is on disk before the next begins.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Group, JobLabel, Observer, Plan, Prepared};
use crate::experiment::{ExperimentError, FoldRunner};
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

    let next = AtomicUsize::new(0);
    let shared = Shared {
        store: Mutex::new(store),
        failures: Mutex::default(),
        fatal: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(pending.len()) {
            scope.spawn(|| {
                while lock(&shared.fatal).is_none() {
                    let Some(job) = pending.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        break;
                    };
                    shared.run_one(job, runner, observer);
                }
            });
        }
    });
    if let Some(error) = shared
        .fatal
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        return Err(error);
    }
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
    fatal: Mutex<Option<ExperimentError>>,
}

impl Shared<'_> {
    fn run_one(&self, job: &Pending<'_>, runner: &dyn FoldRunner, observer: &dyn Observer) {
        observer.started(&job.label);
        match train(job, runner, observer) {
            Ok(record) => match lock(&self.store).append(record.clone()) {
                Ok(()) => observer.finished(&job.label, &record),
                Err(error) => *lock(&self.fatal) = Some(error.into()),
            },
            Err(message) => {
                observer.failed(&job.label, &message);
                lock(&self.failures).push(Failure {
                    job: job.label.clone(),
                    message,
                });
            }
        }
    }
}

fn train(
    job: &Pending<'_>,
    runner: &dyn FoldRunner,
    observer: &dyn Observer,
) -> Result<Record, String> {
    let (fold, configuration) = (job.label.fold, &job.group.configuration);
    let fold_job = job
        .dataset
        .job(
            fold,
            configuration.method,
            &configuration.settings,
            configuration.seed,
        )
        .map_err(|error| error.to_string())?;
    let progress = |progress| observer.progress(&job.label, progress);
    let mut outcome = catch_unwind(AssertUnwindSafe(|| runner.run(&fold_job, &progress)))
        .map_err(|payload| format!("internal error: {}", panic_message(&payload)))?
        .map_err(|error| error.to_string())?;
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

fn panic_message(payload: &Box<dyn std::any::Any + Send>) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_owned())
}

/// A thread that panicked while it held the lock left nothing half done: appends are single calls.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
