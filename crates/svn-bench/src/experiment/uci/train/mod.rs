//! Where training is joined to the benchmark: the one folder of this crate that knows who trains.

mod predictive;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::Rng;
use svn_models::fit::{Ending, Epoch, EpochReport, Fit, Start};
use svn_models::recipe::{Problem, Resolved};
use svn_models::stein::{Flow, KernelWarning};
use svn_models::{Device, Rows};

use crate::experiment::{
    EpochPoint, EpochProgress, FoldJob, FoldOutcome, FoldRunner, Part, RunError, Validated,
};
use crate::libraries;

/// The runner of the `svn` command for `jobs` worker threads.
///
/// Parallelism is over folds: inside a fold libraries use one thread each. Results depend on neither.
///
/// # Errors
/// None now; the type is the command's.
pub fn runner(jobs: usize) -> Result<Box<dyn FoldRunner>, RunError> {
    let _ = jobs;
    svn_models::set_library_threads(1);
    Ok(Box::new(NetworkRunner))
}

/// Trains multilayer perceptrons by `svn-models`.
struct NetworkRunner;

impl FoldRunner for NetworkRunner {
    fn run(
        &self,
        job: &FoldJob,
        test: &Part,
        progress: &dyn Fn(EpochProgress),
    ) -> Result<FoldOutcome, RunError> {
        let start = Instant::now();
        let fit = train(job, progress)?;
        let measured = predictive::measure(job, &fit, Some(test))?;
        Ok(FoldOutcome {
            metrics: measured.test.unwrap_or_default(),
            validation_nll: measured.validation_nll,
            epochs: fit.history.len(),
            best_epoch: fit.best_epoch,
            curve: curve(&fit, original_units(job)),
            step_ms: fit.step_times.iter().map(milliseconds).collect(),
            warnings: warnings(&fit),
            wall_s: start.elapsed().as_secs_f64(),
        })
    }

    fn validate(
        &self,
        job: &FoldJob,
        progress: &dyn Fn(EpochProgress),
    ) -> Result<Validated, RunError> {
        let start = Instant::now();
        let fit = train(job, progress)?;
        let measured = predictive::measure(job, &fit, None)?;
        let best = curve(&fit, original_units(job))
            .into_iter()
            .find(|point| point.epoch == fit.best_epoch)
            .and_then(|point| point.validation_nll);
        Ok(Validated {
            nll: measured.validation_nll.or(best).unwrap_or(f64::NAN),
            best_epoch: fit.best_epoch,
            wall_s: start.elapsed().as_secs_f64(),
        })
    }

    fn environment(&self) -> BTreeMap<String, String> {
        libraries::environment()
    }
}

/// NLL in original units is that in the network's plus this.
fn original_units(job: &FoldJob) -> f64 {
    job.target_scaler.scale.ln()
}

/// Fit a job's ensemble, epoch by epoch.
fn train(job: &FoldJob, progress: &dyn Fn(EpochProgress)) -> Result<Fit, RunError> {
    let resolved = Resolved {
        method: job.method,
        problem: Problem {
            rows: job.train.y.len(),
            ..job.dataset.problem()
        },
        recipe: job.settings.clone(),
    };
    let seed = job.stream("training").next_u64();
    let (train, validation) = (rows(&job.train)?, rows(&job.validation)?);
    let shift = original_units(job);
    let mut watch = |epoch: &Epoch<'_>| {
        progress(EpochProgress {
            epoch: epoch.report().epoch,
            epochs: epoch.epochs(),
            validation_nll: epoch.report().validation_nll.map(|nll| nll + shift),
        });
        Ok(Flow::Continue)
    };
    let rows = (&train, &validation);
    resolved
        .fit(Device::Cpu, seed, rows, Start::Seed, &mut watch)
        .map_err(failed)
}

fn rows(part: &Part) -> Result<Rows, RunError> {
    Rows::new(part.x.clone(), part.y.clone()).map_err(failed)
}

fn curve(fit: &Fit, original_units: f64) -> Vec<EpochPoint> {
    let point = |epoch: &EpochReport| EpochPoint {
        epoch: epoch.epoch,
        validation_nll: epoch.validation_nll.map(|nll| nll + original_units),
    };
    fit.history.iter().map(point).collect()
}

/// What a reader of the record should know. An end that was asked for is no fault.
pub(in crate::experiment) fn warnings(fit: &Fit) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Ending::Failed { after, error } = &fit.ending {
        warnings.push(format!("training stopped after epoch {after}: {error}"));
    }
    let rejected: usize = fit.history.iter().map(|epoch| epoch.rejected).sum();
    if rejected > 0 {
        warnings.push(format!("{rejected} particle steps were taken back"));
    }
    // What held in most epochs, not what a start or an end may show.
    let epochs = |warning| {
        let reports = fit.history.iter();
        2 * reports
            .filter(|epoch| epoch.kernel_warning == Some(warning))
            .count()
            > fit.history.len()
    };
    if epochs(KernelWarning::Identity) {
        warnings.push(
            "the kernel is the identity: the particles do not interact; widen the bandwidth"
                .to_owned(),
        );
    }
    if epochs(KernelWarning::Constant) {
        warnings.push("the kernel tells no particles apart; narrow the bandwidth".to_owned());
    }
    warnings
}

pub(in crate::experiment) fn milliseconds(duration: &Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub(in crate::experiment) fn failed(
    error: impl std::error::Error + Send + Sync + 'static,
) -> RunError {
    RunError::Failed(Box::new(error))
}
