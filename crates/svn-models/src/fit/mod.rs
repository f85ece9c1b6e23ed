//! Train an ensemble: steps of a particle method on the posterior, validation after each epoch, best weights restored.

mod report;
mod settings;
mod validation;

pub use report::EpochReport;
pub use settings::{FitSettings, NoiseModel, Task};

use crate::network::initial_particles;
use crate::posterior::{CurvaturePart, Posterior, PosteriorSettings, RowStorage};
use crate::{Ensemble, ModelError, Rows};
use report::EpochSums;
use std::time::{Duration, Instant};
use svn_stein::{Coupling, Method, Newton, Sampler, Stop, run};
use tch::Device;
use validation::Validation;

/// A finished training run.
#[derive(Debug)]
pub struct Fit {
    /// The ensemble with the weights of the best epoch.
    pub ensemble: Ensemble,
    /// Epoch whose weights are restored, from 1.
    pub best_epoch: usize,
    /// Every epoch's report.
    pub history: Vec<EpochReport>,
    /// Wall time of every step, validation left out.
    pub step_times: Vec<Duration>,
    /// Age in steps of the curvature at the last step, see [`Posterior::curvature_age`]; none for methods without curvature.
    pub curvature_age: Option<usize>,
    /// Why the run ended before its last epoch, if it did; what was best until then is kept.
    pub stopped_early: Option<String>,
}

/// Train on `train`, choose the epoch on `validation`, tell `report` of each epoch.
///
/// Noise, weights and epoch are chosen from these rows alone. The same settings give the same ensemble to the last bit.
///
/// # Errors
/// [`ModelError::Setting`] or [`ModelError::Shape`] for what does not fit; anything else only if no epoch was ever
/// finished with a finite validation score.
pub fn fit(
    settings: &FitSettings,
    train: &Rows,
    validation: &Rows,
    report: &mut dyn FnMut(&EpochReport),
) -> Result<Fit, ModelError> {
    settings.validate(train.len())?;
    if train.width() != validation.width() {
        return Err(ModelError::Shape {
            what: "validation features".into(),
            found: vec![validation.len(), validation.width()],
            expected: vec![validation.len(), train.width()],
        });
    }
    let device = Device::Cpu;
    let likelihood = settings.task.likelihood()?;
    likelihood.check_targets(validation.targets())?;
    let network = settings.build_network(train.width())?;
    let mut posterior = Posterior::new(
        network.clone(),
        likelihood,
        train,
        PosteriorSettings {
            batch_size: settings.batch_size,
            prior_precision: settings.prior_precision,
            curvature: settings.curvature,
            learn_noise: true,
            storage: storage(&settings.method, settings.curvature.part),
            precision: settings.precision(),
            seed: settings.seed,
            device,
        },
    )?;
    let steps_per_epoch = posterior.batches_per_epoch();
    let mut sampler = Sampler::new(settings.method.clone())?;
    let mut state = sampler.init(
        initial_particles(&network, settings.particles, settings.seed),
        settings.seed,
    )?;
    let mut validation = Validation {
        network: &network,
        likelihood,
        rows: validation,
        precision: settings.precision(),
        device,
        steps_per_epoch,
        report,
        sums: EpochSums::default(),
        history: Vec::with_capacity(settings.epochs),
        best: None,
        step_times: Vec::with_capacity(settings.epochs * steps_per_epoch),
        clock: Instant::now(),
    };
    let stop = Stop::after((settings.epochs * steps_per_epoch) as u64);
    let outcome = run(
        &mut sampler,
        &mut state,
        &mut posterior,
        stop,
        &mut [&mut validation],
    );
    let stopped_early = match outcome {
        Ok(_) => None,
        Err(error) if validation.best.is_some() => Some(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    let Validation {
        best,
        history,
        step_times,
        ..
    } = validation;
    let Some(best) = best else {
        return Err(ModelError::Diverged {
            epochs: history.len(),
        });
    };
    Ok(Fit {
        ensemble: best.ensemble,
        best_epoch: best.epoch,
        history,
        step_times,
        curvature_age: posterior.curvature_age(),
        stopped_early,
    })
}

/// The storage that the method's solver is fastest on, or the only one of which it can take a part.
fn storage(method: &Method, part: CurvaturePart) -> RowStorage {
    let block_diagonal = |newton: &Newton| newton.coupling == Coupling::BlockDiagonal;
    match method {
        Method::LlSvn { .. } if part == CurvaturePart::WholeNetwork => RowStorage::WrittenOut,
        Method::Svn(newton) | Method::LlSvn { newton, .. } if block_diagonal(newton) => {
            RowStorage::WrittenOut
        }
        _ => RowStorage::ByLayer,
    }
}
