//! Two folds at once against one after the other.

use std::time::Instant;

use svn_models::fit::{FitSettings, fit};
use svn_models::posterior::CurvatureSettings;
use svn_models::stein::Coupling;
use svn_models::{ModelError, Rows};

use super::case::{Case, Interaction, RING, Shape};
use super::env;
use super::error::PerfError;
use super::problem::SEED;
use super::statistics::Spread;

/// Time of two yacht folds on two threads over the time of one after the other; median of three pairs.
///
/// As in `svn bench-uci`, libtorch and OpenBLAS have cores / jobs threads, at least one, at once and one thread one
/// after the other.
///
/// # Errors
/// [`PerfError::Fold`].
pub(super) fn ratio(epochs: usize) -> Result<f64, PerfError> {
    let problem = Shape::Yacht.problem();
    let rows = problem.data()?;
    let cut = rows.len() * 4 / 5;
    let part = |from: usize, to: usize| {
        let range = ndarray::s![from..to];
        Rows::new(
            rows.features().slice(ndarray::s![from..to, ..]).to_owned(),
            rows.targets().slice(range).to_owned(),
        )
    };
    let (train, validation) = (part(0, cut)?, part(cut, rows.len())?);
    let case = Case::svn(
        "yacht",
        problem.clone(),
        Coupling::Gram,
        RING,
        Interaction::Curvature,
    );
    let method = case.method(&problem.network()?);
    let settings = |fold: u64| FitSettings {
        method: method.clone(),
        network: problem.network.clone(),
        task: problem.task,
        prior_precision: 2.0,
        particles: problem.particles,
        epochs,
        batch_size: problem.batch,
        curvature: CurvatureSettings {
            accumulated_batches: RING,
            ..CurvatureSettings::default()
        },
        precision: None,
        noise_floor: None,
        averaging: None,
        device: svn_models::Device::Cpu,
        seed: SEED + fold,
    };
    let train_one = |fold: u64| -> Result<(), ModelError> {
        fit(&settings(fold), &train, &validation, &mut |_| {}).map(|_| ())
    };
    let set_threads = |threads: usize| {
        svn_linalg::threads::set_blas_threads(threads);
        tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
    };
    let mut ratios = [0.0; 3];
    train_one(0)?;
    for ratio in &mut ratios {
        set_threads(1);
        let start = Instant::now();
        train_one(0)?;
        train_one(1)?;
        let sequential = start.elapsed().as_secs_f64();
        set_threads((env::cores() / 2).max(1));
        let start = Instant::now();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| train_one(1));
            train_one(0)?;
            // A panic there is one here.
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        *ratio = start.elapsed().as_secs_f64() / sequential;
    }
    set_threads(1);
    Ok(Spread::of(&ratios).map_or(f64::NAN, |spread| spread.median))
}
