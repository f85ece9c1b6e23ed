//! Runs what a plan holds on threads; every finished run is on disk before the next begins.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::measure::measure;
use super::{
    Context, Design, EngineError, Fold, Group, JobLabel, Observer, Of, PartSizes, Plan, Record,
    RunError, RunId, SCHEMA, Shown, Store, Study, Timing, Trained, Trainer, pool,
};

/// Records of a study.
pub type RecordOf<S> = Record<<S as Study>::Design, <S as Study>::Extra>;

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which one.
    pub job: JobLabel,
    /// Why.
    pub message: String,
}

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// Runs done now.
    pub ran: usize,
    /// Runs an earlier call had done.
    pub skipped: usize,
    /// Runs that failed, in order.
    pub failures: Vec<Failure>,
}

/// Where and how runs are done.
#[expect(
    missing_debug_implementations,
    reason = "it holds who trains and who watches"
)]
pub struct Work<'a> {
    /// Who trains.
    pub trainer: &'a dyn Trainer,
    /// Worker threads, one run each.
    pub jobs: usize,
    /// Folder of the records; checkpoints are kept in it while runs go on.
    pub folder: &'a Path,
    /// Keep each model in `models` there.
    pub save_models: bool,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

/// Do every run of a plan that the store does not hold, one a thread.
///
/// The state of a run is kept until its record is written, so that a run that is cut off goes on where it was. A run
/// that fails or panics does not stop others. At the end the store is rewritten in canonical order, so that its bytes
/// (timings aside) depend neither on the number of jobs nor on interruptions.
///
/// # Errors
/// [`EngineError::Store`] if a record cannot be written: then no further run is started.
pub fn run<S: Study>(
    plan: &Plan<'_, S>,
    store: &mut Store<RecordOf<S>>,
    work: &Work<'_>,
) -> Result<Finished, EngineError> {
    let observer = work.observer;
    for text in plan.warnings.iter().chain(store.warnings()) {
        observer.warning(text);
    }
    let checkpoints = Checkpoints::open(work.folder)?;
    let pending = pending(plan, store);
    let skipped = plan.jobs() - pending.len();
    observer.planned(pending.len(), skipped);
    let shared = Mutex::new(store);
    let failures = Mutex::new(Vec::new());
    pool::for_each(&pending, work.jobs, |job| -> Result<(), EngineError> {
        observer.started(&job.label);
        let checkpoint = checkpoints.path(&job.group.config, job.run);
        match record_of(
            plan.study,
            (job.group, job.run),
            &job.label,
            &checkpoint,
            work,
        ) {
            Ok(record) => {
                pool::lock(&shared).append(record.clone())?;
                // It has served; one that is left over is removed by a later call.
                let _ = std::fs::remove_file(&checkpoint);
                observer.finished(&job.label, &shown(&record));
            }
            Err(message) => {
                observer.failed(&job.label, &message);
                let job = job.label.clone();
                pool::lock(&failures).push(Failure { job, message });
            }
        }
        Ok(())
    })?;
    let mut failures = failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|failure: &Failure| failure.job.index);
    pool::lock(&shared).finish()?;
    checkpoints.close();
    Ok(Finished {
        ran: pending.len() - failures.len(),
        skipped,
        failures,
    })
}

struct Pending<'a, D> {
    label: JobLabel,
    group: &'a Group<D>,
    run: RunId,
}

/// What the store does not hold, in the order of the plan.
fn pending<'a, S: Study>(
    plan: &'a Plan<'_, S>,
    store: &Store<RecordOf<S>>,
) -> Vec<Pending<'a, S::Design>> {
    let mut pending = Vec::new();
    for group in &plan.groups {
        for &run in &group.runs {
            if !store.contains(&group.config, run) {
                let label = label(pending.len(), group, run, String::new());
                pending.push(Pending { label, group, run });
            }
        }
    }
    pending
}

/// The seed is said where there are several.
pub(crate) fn label<D: Design>(
    index: usize,
    group: &Group<D>,
    run: RunId,
    note: String,
) -> JobLabel {
    let design = &group.configuration.design;
    let mut notes: Vec<String> = design
        .columns()
        .into_iter()
        .filter(|(_, cell)| cell != "all")
        .map(|(name, cell)| format!("{name} {cell}"))
        .collect();
    if group.runs.iter().any(|other| other.seed != run.seed) {
        notes.push(format!("seed {}", run.seed));
    }
    notes.extend((!note.is_empty()).then_some(note));
    JobLabel {
        index,
        dataset: design.dataset().to_owned(),
        method: group.configuration.method,
        note: notes.join(" "),
        fold: run.fold,
        folds: design.folds(),
    }
}

/// Train a run of a group.
pub(super) fn fit<S: Study>(
    study: &S,
    group: &Group<S::Design>,
    (run, fold): (RunId, &Fold),
    label: &JobLabel,
    checkpoint: Option<&Path>,
    work: &Work<'_>,
) -> Result<Trained, RunError> {
    let context = Context {
        stream: S::STREAM,
        dataset: group.configuration.design.dataset(),
        run,
        scaled: S::SCALED,
        checkpoint: checkpoint.map(Path::to_owned),
        progress: &|progress| work.observer.progress(label, progress),
        warn: &|text| work.observer.warning(&format!("{label}: {text}")),
    };
    let resolved = group.resolved(study, fold.train.y.len());
    work.trainer.fit(fold, &resolved, &context)
}

/// Do a run of a group, from its checkpoint if there is one, and measure it; a failure or a panic in words.
pub(crate) fn record_of<S: Study>(
    study: &S,
    of: (&Group<S::Design>, RunId),
    label: &JobLabel,
    checkpoint: &Path,
    work: &Work<'_>,
) -> Result<RecordOf<S>, String> {
    pool::caught(|| one(study, of, label, checkpoint, work))
}

fn one<S: Study>(
    study: &S,
    (group, run): (&Group<S::Design>, RunId),
    label: &JobLabel,
    checkpoint: &Path,
    work: &Work<'_>,
) -> Result<RecordOf<S>, RunError> {
    let start = Instant::now();
    let configuration = &group.configuration;
    let of = Of {
        design: &configuration.design,
        run,
    };
    let fold = study.fold(of).map_err(RunError::failed)?;
    let trained = fit(study, group, (run, &fold), label, Some(checkpoint), work)?;
    let model = trained.model.as_ref();
    let set_aside = configuration.settings.select.is_none();
    let (mut metrics, predicted) = measure(model, &fold, set_aside)?;
    let extra = study.extra(of, &fold, (model, &predicted), &mut metrics)?;
    if work.save_models {
        let RunId { seed, fold } = run;
        let name = format!(
            "{}-{}-{}-{seed}-{fold}",
            of.design.dataset(),
            configuration.method,
            group.config
        );
        model.save(&work.folder.join("models").join(name))?;
    }
    let mut warnings = metrics.warnings;
    warnings.extend(trained.warnings);
    warnings.extend(study.data_warnings(of.design));
    Ok(Record {
        schema: SCHEMA,
        study: S::NAME.to_owned(),
        config: group.config.clone(),
        design: configuration.design.clone(),
        method: configuration.method,
        settings: configuration.settings.clone(),
        seed: run.seed,
        fold: run.fold,
        rows: PartSizes {
            train: fold.train.y.len(),
            validation: fold.validation.y.len(),
            test: fold.test.y.len(),
        },
        epochs: trained.epochs,
        best_epoch: trained.best_epoch,
        validation_nll: trained.validation_nll,
        metrics: metrics.values,
        extra,
        curve: trained.curve,
        kernel: trained.kernel,
        warnings,
        timing: Timing::of(
            &trained.step_ms,
            &trained.epoch_s,
            start.elapsed().as_secs_f64(),
        ),
    })
}

/// What is shown of a record.
pub(crate) fn shown<D, X>(record: &Record<D, X>) -> Shown<'_> {
    Shown {
        metrics: Some(&record.metrics),
        validation_nll: None,
        best_epoch: record.best_epoch,
        epochs: record.epochs,
        wall_s: record.timing.wall_s,
        warnings: &record.warnings,
    }
}

/// The folder of the states of runs that go on.
struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// Makes the folder, and removes what a process that was killed while it wrote has left.
    fn open(folder: &Path) -> Result<Self, EngineError> {
        let folder = folder.join("checkpoints");
        let io = |source| EngineError::Io {
            path: folder.clone(),
            source,
        };
        std::fs::create_dir_all(&folder).map_err(io)?;
        let entries = std::fs::read_dir(&folder).map_err(io)?;
        for entry in entries.flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(b".tmp") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(Self { folder })
    }

    fn path(&self, config: &str, run: RunId) -> PathBuf {
        let RunId { seed, fold } = run;
        self.folder.join(format!("{config}-{seed}-{fold}.ckpt"))
    }

    /// Removes the folder if nothing is left to go on from.
    fn close(self) {
        let _ = std::fs::remove_dir(self.folder);
    }
}
