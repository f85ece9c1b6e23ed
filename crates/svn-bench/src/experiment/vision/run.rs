//! Runs what a plan holds on threads; every finished run is on disk before the next begins.

use std::path::Path;
use std::sync::Mutex;

use super::record::run_number;
use super::train;
use super::{ImageSplit, Images, VisionGroup, VisionPlan, VisionRecord};
use svn_models::Device;

use crate::experiment::uci::{Failure, Finished, JobLabel};
use crate::experiment::{EpochProgress, ExperimentError, RunError, pool};
use crate::record::Store;

/// Watches a run; called from several threads at once.
#[allow(unused_variables, reason = "the default is to ignore")]
pub trait VisionObserver: Sync {
    /// A sentence for the user.
    fn warning(&self, text: &str) {}

    /// Runs to go, and those an earlier call has done.
    fn planned(&self, runs: usize, done: usize) {}

    /// A run begins.
    fn started(&self, run: &JobLabel) {}

    /// An epoch of a run is over.
    fn progress(&self, run: &JobLabel, progress: EpochProgress) {}

    /// A run is done and its record is on disk.
    fn finished(&self, run: &JobLabel, record: &VisionRecord) {}

    /// A run failed; others go on.
    fn failed(&self, run: &JobLabel, message: &str) {}
}

/// Watches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl VisionObserver for Unwatched {}

/// Records of an `--out` folder.
pub type VisionStore = Store<VisionRecord>;

/// Train and measure everything that the store does not hold, on `jobs` threads, one run a thread.
///
/// Each epoch of a run is kept under `checkpoints` in `folder` until its record is written, so that a run that is cut
/// off goes on where it was. A run that fails or panics does not stop others. At the end the store is rewritten in
/// canonical order, so that its bytes (timings aside) depend neither on `jobs` nor on interruptions.
///
/// # Errors
/// [`ExperimentError::Record`] if a record cannot be written: then no further run is started.
pub fn run(
    plan: &VisionPlan,
    jobs: usize,
    device: Device,
    folder: &Path,
    store: &mut VisionStore,
    observer: &dyn VisionObserver,
) -> Result<Finished, ExperimentError> {
    plan.warnings.iter().for_each(|text| observer.warning(text));
    if store.was_torn() {
        observer.warning("the last record was cut off by a crash; its run is done again");
    }
    let pending = pending(plan, store);
    let skipped = plan.jobs() - pending.len();
    observer.planned(pending.len(), skipped);

    let store = Mutex::new(store);
    let failures = Mutex::new(Vec::new());
    pool::for_each(&pending, jobs, |run| -> Result<(), ExperimentError> {
        observer.started(&run.label);
        let progress = |progress| observer.progress(&run.label, progress);
        let checkpoint = run.checkpoint(folder);
        let warn = |text: &str| observer.warning(&format!("{}: {text}", run.label));
        match pool::caught(|| train_one(run, device, &checkpoint, &progress, &warn)) {
            Ok(record) => {
                pool::lock(&store).append(record.clone())?;
                // It has served; a left-over file is harmless.
                let _ = std::fs::remove_file(&checkpoint);
                observer.finished(&run.label, &record);
            }
            Err(message) => {
                observer.failed(&run.label, &message);
                let job = run.label.clone();
                pool::lock(&failures).push(Failure { job, message });
            }
        }
        Ok(())
    })?;
    let mut failures = failures.into_inner().unwrap_or_default();
    failures.sort_by_key(|failure| failure.job.index);
    pool::lock(&store).finish()?;
    // Only if it is empty.
    let _ = std::fs::remove_dir(folder.join(CHECKPOINTS));
    Ok(Finished {
        ran: pending.len() - failures.len(),
        skipped,
        failures,
    })
}

const CHECKPOINTS: &str = "checkpoints";

struct Pending<'a> {
    label: JobLabel,
    group: &'a VisionGroup,
    images: &'a Images,
    seed: u64,
}

impl Pending<'_> {
    fn checkpoint(&self, folder: &Path) -> std::path::PathBuf {
        let (config, number) = (&self.group.config, run_number(self.seed, self.label.fold));
        folder
            .join(CHECKPOINTS)
            .join(format!("{config}-{number}.ckpt"))
    }
}

/// What the store does not hold, in the order of the plan.
fn pending<'a>(plan: &'a VisionPlan, store: &VisionStore) -> Vec<Pending<'a>> {
    let mut pending = Vec::new();
    for group in &plan.groups {
        let configuration = &group.configuration;
        for &(seed, fold) in &plan.runs {
            if store.contains(&group.config, run_number(seed, fold)) {
                continue;
            }
            let size = configuration.limits.learning;
            let size = size.map_or_else(String::new, |size| format!("n={size} "));
            let label = JobLabel {
                index: pending.len(),
                dataset: configuration.dataset.clone(),
                note: format!("{size}seed {seed}"),
                method: configuration.method,
                fold,
                folds: match configuration.split {
                    ImageSplit::Official => 1,
                    ImageSplit::Paper => super::record::FOLDS,
                },
            };
            pending.push(Pending {
                label,
                group,
                images: &plan.images[group.images],
                seed,
            });
        }
    }
    pending
}

fn train_one(
    run: &Pending<'_>,
    device: Device,
    checkpoint: &Path,
    progress: &dyn Fn(EpochProgress),
    warn: &dyn Fn(&str),
) -> Result<VisionRecord, RunError> {
    let rows = run
        .group
        .rows(&run.images.own, run.seed, run.label.fold)
        .map_err(|error| RunError::Failed(Box::new(error)))?;
    train::train_and_measure(
        &train::Run {
            configuration: &run.group.configuration,
            config: &run.group.config,
            images: run.images,
            rows: &rows,
            seed: run.seed,
            fold: run.label.fold,
        },
        device,
        checkpoint,
        progress,
        warn,
    )
}
