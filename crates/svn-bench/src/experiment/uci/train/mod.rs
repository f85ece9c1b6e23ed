//! Where training is joined to the benchmark: the one folder of this crate that knows who trains.

mod defaults;
mod method;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::Rng;
use svn_models::fit::{EpochReport, Fit, FitSettings, NoiseModel, Task as FitTask, fit};
use svn_models::network::NetworkSettings;
use svn_models::posterior::CurvatureSettings;
use svn_models::stein::KernelWarning;
use svn_models::{Prediction, Rows, curvature::Activation};

use crate::data::Task;
use crate::experiment::{
    DatasetSummary, EpochPoint, EpochProgress, FoldJob, FoldOutcome, FoldRunner, Hessian, Method,
    Noise, Part, RunError, TrainSettings,
};
use crate::metrics::{RegressionPrediction, regression_metrics};

/// The runner of the `svn` command for `jobs` worker threads.
///
/// Parallelism is over folds: inside a fold OpenBLAS and libtorch use one thread each, so that results do not depend on
/// the number of jobs.
///
/// # Errors
/// None now; the type is the command's.
pub fn runner(jobs: usize) -> Result<Box<dyn FoldRunner>, RunError> {
    let _ = jobs;
    svn_linalg::threads::set_blas_threads(1);
    tch::set_num_threads(1);
    Ok(Box::new(NetworkRunner))
}

/// Trains multilayer perceptrons by `svn-models`.
struct NetworkRunner;

impl FoldRunner for NetworkRunner {
    fn resolve(
        &self,
        dataset: &DatasetSummary,
        method: Method,
        settings: &TrainSettings,
    ) -> Result<TrainSettings, RunError> {
        if dataset.task != Task::Regression {
            return Err(RunError::Unsupported(format!(
                "`{}` is a classification set; bench-uci trains regression sets",
                dataset.name
            )));
        }
        let resolved = defaults::resolve(dataset, method, settings);
        if let Some(hessian @ (Hessian::Diag | Hessian::Kfac)) = resolved.hessian {
            return Err(RunError::Unsupported(format!(
                "--hessian {hessian}: bench-uci trains with `full` curvature"
            )));
        }
        Ok(resolved)
    }

    fn run(
        &self,
        job: &FoldJob,
        progress: &dyn Fn(EpochProgress),
    ) -> Result<FoldOutcome, RunError> {
        let start = Instant::now();
        let settings = fit_settings(job)?;
        let (train, validation) = (rows(&job.train)?, rows(&job.validation)?);
        let original_units = job.target_scaler.scale.ln();
        let mut report = |epoch: &EpochReport| {
            progress(EpochProgress {
                epoch: epoch.epoch,
                epochs: settings.epochs,
                validation_nll: epoch.validation_nll.map(|nll| nll + original_units),
            });
        };
        let fit = fit(&settings, &train, &validation, &mut report).map_err(failed)?;
        let prediction = fit.ensemble.predict(job.test.x.view()).map_err(failed)?;
        let metrics = regression_metrics(
            &in_original_units(job, prediction)?,
            job.test.original_y.view(),
        );
        Ok(FoldOutcome {
            metrics: metrics.map_err(failed)?,
            epochs: fit.history.len(),
            best_epoch: fit.best_epoch,
            curve: curve(&fit, original_units),
            step_ms: fit.step_times.iter().map(milliseconds).collect(),
            warnings: warnings(&fit),
            wall_s: start.elapsed().as_secs_f64(),
        })
    }

    fn environment(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("blas".to_owned(), svn_linalg::threads::blas_config())])
    }
}

fn fit_settings(job: &FoldJob) -> Result<FitSettings, RunError> {
    let settings = &job.settings;
    Ok(FitSettings {
        method: method::build(job)?,
        network: NetworkSettings::Mlp {
            hidden: required(settings.hidden.clone(), "hidden")?,
            activation: Activation::Relu,
        },
        task: FitTask::Regression(match required(settings.noise, "noise")? {
            Noise::Homoscedastic => NoiseModel::Homoscedastic,
            Noise::Heteroscedastic => NoiseModel::Heteroscedastic,
        }),
        prior_precision: required(settings.prior_precision, "prior-precision")?,
        particles: required(settings.particles, "particles")?,
        epochs: required(settings.epochs, "epochs")?,
        batch_size: required(settings.batch_size, "batch-size")?,
        curvature: CurvatureSettings {
            accumulated_batches: settings.ring.unwrap_or(1),
            ..CurvatureSettings::default()
        },
        precision: None,
        seed: job.stream("training").next_u64(),
    })
}

/// A setting that `resolve` has filled in.
fn required<T>(value: Option<T>, option: &str) -> Result<T, RunError> {
    value.ok_or_else(|| RunError::Unsupported(format!("--{option} is not set and has no default")))
}

fn rows(part: &Part) -> Result<Rows, RunError> {
    Rows::new(part.x.clone(), part.y.clone()).map_err(failed)
}

fn in_original_units(
    job: &FoldJob,
    prediction: Prediction,
) -> Result<RegressionPrediction, RunError> {
    let scaler = &job.target_scaler;
    RegressionPrediction::new(
        scaler.inverse_means(prediction.means),
        scaler.inverse_variances(prediction.noise_variances),
        None,
    )
    .map_err(failed)
}

fn curve(fit: &Fit, original_units: f64) -> Vec<EpochPoint> {
    let point = |epoch: &EpochReport| EpochPoint {
        epoch: epoch.epoch,
        validation_nll: epoch.validation_nll.map(|nll| nll + original_units),
    };
    fit.history.iter().map(point).collect()
}

fn warnings(fit: &Fit) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(reason) = &fit.stopped_early {
        warnings.push(format!(
            "training stopped after epoch {}: {reason}",
            fit.history.len()
        ));
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

fn milliseconds(duration: &Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> RunError {
    RunError::Failed(Box::new(error))
}
