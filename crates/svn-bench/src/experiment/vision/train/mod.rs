//! Training and measuring one run by `svn-models`: the one folder of this experiment that knows who trains.

mod fit;
mod measure;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use svn_models::fit::{EpochReport, Fit};
use svn_models::predictive::Predictor;
use svn_models::{Device, Rows};

use super::{Images, VisionConfiguration, VisionRecord};
use crate::experiment::uci::train::{failed, milliseconds, warnings};
use crate::experiment::{EpochPoint, EpochProgress, RunError};
use crate::libraries;
use crate::record::{PartSizes, SCHEMA, Timing};
use crate::split::FoldRows;
use fit::Training;
use measure::Measure;

/// What is trained and measured.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// With resolved settings.
    pub configuration: &'a VisionConfiguration,
    /// Its hash.
    pub config: &'a str,
    /// The images, and the foreign ones.
    pub images: &'a Images,
    /// Rows of the parts.
    pub rows: &'a FoldRows,
    /// Seed of splits and training.
    pub seed: u64,
    /// Index of the fold.
    pub fold: usize,
}

/// Prepare this process for a device: parallelism is over runs, so that inside a run OpenBLAS and libtorch use one
/// thread each and results do not depend on the number of jobs.
///
/// # Errors
/// [`RunError::Unsupported`] for a CUDA device that is not there, and in a build without libtorch.
pub fn prepare(device: Device) -> Result<(), RunError> {
    if cfg!(not(feature = "torch")) {
        return Err(RunError::Unsupported(
            "bench-vision needs the feature torch: cargo run --release --package svn-bench --features torch -- bench-vision"
                .to_owned(),
        ));
    }
    device
        .check()
        .map_err(|error| RunError::Unsupported(format!("--{error}")))?;
    svn_models::set_library_threads(1);
    Ok(())
}

/// What a reader of the report wants to know of the libraries.
pub fn environment(device: Device) -> BTreeMap<String, String> {
    let mut environment = libraries::environment();
    environment.insert("device".to_owned(), device.to_string());
    environment
}

/// Train, restore the best epoch, measure. The result depends on the run alone (timings aside), not on what else runs.
///
/// # Errors
/// [`RunError`]; other runs go on.
pub fn train_and_measure(
    run: &Run<'_>,
    device: Device,
    checkpoint: &Path,
    progress: &dyn Fn(EpochProgress),
    warn: &dyn Fn(&str),
) -> Result<VisionRecord, RunError> {
    let start = Instant::now();
    let part = |rows: &[usize]| {
        let own = &run.images.own;
        Rows::new(own.scaled(rows), own.targets(rows)).map_err(failed)
    };
    let (train, validation) = (part(&run.rows.train)?, part(&run.rows.validation)?);
    let fit = Training {
        run,
        device,
        train: &train,
        validation: &validation,
        checkpoint,
        progress,
        warn,
    }
    .fit()?;
    let recipe = &run.configuration.settings;
    let predictor = Predictor::new(&fit.ensemble, recipe, train.features(), &validation);
    let measure = Measure {
        members: &fit.ensemble,
        predictor: predictor.map_err(failed)?,
    };
    let measured = measure.measure(run)?;
    let mut said = measured.metrics.warnings;
    said.extend(warnings(&fit));
    said.extend_from_slice(&run.images.own.warnings);
    let step_ms: Vec<f64> = fit.step_times.iter().map(milliseconds).collect();
    Ok(VisionRecord {
        schema: SCHEMA,
        config: run.config.to_owned(),
        configuration: run.configuration.clone(),
        seed: run.seed,
        fold: run.fold,
        rows: PartSizes {
            train: run.rows.train.len(),
            validation: run.rows.validation.len(),
            test: run.rows.test.len(),
        },
        epochs: fit.history.len(),
        best_epoch: fit.best_epoch,
        metrics: measured.metrics.values,
        curve: curve(&fit),
        corruption: measured.corruption,
        reliability: measured.reliability,
        warnings: said,
        timing: Timing::of(&step_ms, start.elapsed().as_secs_f64()),
    })
}

fn curve(fit: &Fit) -> Vec<EpochPoint> {
    let point = |epoch: &EpochReport| EpochPoint {
        epoch: epoch.epoch,
        validation_nll: epoch.validation_nll,
    };
    fit.history.iter().map(point).collect()
}
