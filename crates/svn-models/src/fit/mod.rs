//! Train an ensemble: steps of a particle method on the posterior, validation after each epoch, best weights restored.
//!
//! | call | trains | starts from |
//! |---|---|---|
//! | [`fit`] | the whole network | weights drawn by the seed |
//! | [`fit_from`] | the whole network | the same, or a [`Checkpoint`] of a run that was interrupted |
//! | [`fit_on`] | the whole network | trained members |
//! | [`fit_last_layer`] | the last layer, all others frozen | a trained ensemble |

mod checkpoint;
mod checkpoint_error;
mod ending;
mod epoch;
mod fingerprint;
mod last_layer;
mod patience;
mod report;
mod settings;
mod training;
mod validation;

pub use checkpoint::Checkpoint;
pub use checkpoint_error::CheckpointError;
pub use ending::Ending;
pub use epoch::Epoch;
pub use last_layer::fit_last_layer;
pub use patience::Patience;
pub use report::EpochReport;
pub use settings::{FitSettings, NoiseModel, Task};

use crate::network::initial_particles;
use crate::posterior::{Posterior, PosteriorSettings};
use crate::{Members, ModelError, Rows};
use std::time::Duration;
use svn_stein::{Flow, Sampler};
use training::{Progress, Training};
use validation::{Outputs, Validation, Whole};

/// A finished training run.
#[derive(Debug)]
pub struct Fit {
    /// The ensemble with the weights of the best epoch.
    pub ensemble: Members,
    /// Epoch whose weights are restored, from 1; 0 for an ensemble given to [`fit_last_layer`] that no epoch improved.
    pub best_epoch: usize,
    /// Every epoch's report.
    pub history: Vec<EpochReport>,
    /// Wall time of every step, validation left out.
    pub step_times: Vec<Duration>,
    /// Age in steps of the curvature at the last step, see [`Posterior::curvature_age`]; none for methods without curvature.
    pub curvature_age: Option<usize>,
    /// Why the run ended.
    pub ending: Ending,
}

impl Fit {
    /// One fit of two: of all layers, then of the last one alone. A failure in either is how it ended.
    #[must_use]
    pub fn then(self, last: Self) -> Self {
        let done = self.history.len();
        let mut history = self.history;
        history.extend(last.history.into_iter().map(|mut epoch| {
            epoch.epoch += done;
            epoch
        }));
        Self {
            best_epoch: match last.best_epoch {
                0 => self.best_epoch,
                epoch => done + epoch,
            },
            history,
            step_times: [self.step_times, last.step_times].concat(),
            ending: match (self.ending, last.ending) {
                (failed @ Ending::Failed { .. }, _) => failed,
                (_, Ending::Failed { after, error }) => Ending::Failed {
                    after: done + after,
                    error,
                },
                (_, ending) => ending,
            },
            ..last
        }
    }
}

/// Train on `train`, choose the epoch on `validation`, tell `report` of each epoch.
///
/// Noise, weights and epoch are chosen from these rows alone. The same settings give the same ensemble to the last bit.
///
/// # Errors
/// [`ModelError::Setting`] or [`ModelError::Shape`] for what does not fit, a backend or device that is not there; anything else only
/// if no epoch was ever finished with a finite validation score. After one, an error is [`Ending::Failed`].
pub fn fit(
    settings: &FitSettings,
    train: &Rows,
    validation: &Rows,
    report: &mut dyn FnMut(&EpochReport),
) -> Result<Fit, ModelError> {
    fit_from(settings, train, validation, None, &mut |epoch| {
        report(epoch.report());
        Ok(Flow::Continue)
    })
}

/// [`fit`] that can be interrupted after each epoch and taken up again.
///
/// A run that goes on from a [`Checkpoint`] gives the same [`Fit`] as one that was never interrupted, to the last bit on
/// the same machine and device; only the times of the steps differ. `epochs` may be more than when the checkpoint was made,
/// everything else has to be as it was. The observer ends the run with [`Flow::Stop`], or with an error of its own.
///
/// # Errors
/// As for [`fit`]; [`ModelError::Checkpoint`] for a checkpoint of other settings or rows; the observer's.
///
/// # Examples
/// ```
/// # use ndarray::{Array1, Array2};
/// # use svn_models::{Device, Rows, curvature::Activation, network::NetworkSettings, posterior::CurvatureSettings};
/// use svn_models::fit::{Checkpoint, FitSettings, NoiseModel, Task, fit, fit_from};
/// use svn_models::stein::{FirstOrder, Flow, Method};
/// # let rows = |n: usize| Rows::new(Array2::from_shape_fn((n, 1), |(i, _)| (i as f64).sin()), Array1::from_iter((0..n).map(|i| (i as f64).cos())));
/// # let (train, validation) = (rows(12)?, rows(7)?);
/// # let settings = FitSettings {
/// #     method: Method::Ensemble { step: FirstOrder::adam(0.01) }, network: NetworkSettings::Mlp { hidden: vec![3], activation: Activation::Tanh },
/// #     task: Task::Regression(NoiseModel::Homoscedastic), prior_precision: 1.0, particles: 2, epochs: 4, batch_size: 5,
/// #     curvature: CurvatureSettings::default(), precision: None, noise_floor: None, averaging: None, backend: Default::default(), device: Device::Cpu, seed: 0,
/// # };
/// # let folder = tempfile::tempdir().map_err(|e| svn_models::ModelError::Setting { name: "folder".into(), found: e.to_string(), expected: "one".into() })?;
/// # let path = folder.path().join("run.ckpt");
/// // Interrupted after the second of four epochs:
/// fit_from(&settings, &train, &validation, None, &mut |epoch| {
///     epoch.checkpoint()?.write(&path)?;
///     Ok(if epoch.report().epoch == 2 { Flow::Stop } else { Flow::Continue })
/// })?;
/// // Taken up again:
/// let start = Checkpoint::read(&path)?;
/// let resumed = fit_from(&settings, &train, &validation, Some(start), &mut |_| Ok(Flow::Continue))?;
/// let whole = fit(&settings, &train, &validation, &mut |_| {})?;
/// assert_eq!(resumed.ensemble.particles(), whole.ensemble.particles());
/// # Ok::<(), svn_models::ModelError>(())
/// ```
pub fn fit_from(
    settings: &FitSettings,
    train: &Rows,
    validation: &Rows,
    start: Option<Checkpoint>,
    observer: &mut dyn FnMut(&Epoch<'_>) -> Result<Flow, ModelError>,
) -> Result<Fit, ModelError> {
    let start = start.map_or(Start::Seed, |checkpoint| Start::Run(Box::new(checkpoint)));
    run(settings, train, validation, start, observer)
}

/// [`fit_from`] from the weights of trained members, for example on rows that came later. The network has to be theirs.
///
/// # Errors
/// As for [`fit_from`]; [`ModelError::Shape`] for members of another number or network.
pub fn fit_on(
    settings: &FitSettings,
    members: &Members,
    train: &Rows,
    validation: &Rows,
    observer: &mut dyn FnMut(&Epoch<'_>) -> Result<Flow, ModelError>,
) -> Result<Fit, ModelError> {
    run(
        settings,
        train,
        validation,
        Start::Members(members),
        observer,
    )
}

/// Where a run begins.
enum Start<'a> {
    Seed,
    Members(&'a Members),
    Run(Box<Checkpoint>),
}

fn run(
    settings: &FitSettings,
    train: &Rows,
    validation: &Rows,
    start: Start<'_>,
    observer: &mut dyn FnMut(&Epoch<'_>) -> Result<Flow, ModelError>,
) -> Result<Fit, ModelError> {
    settings.validate(train.len())?;
    check_widths(train, validation)?;
    let likelihood = settings.likelihood()?;
    likelihood.check_targets(validation.targets())?;
    let network = settings.build_network(train.width())?;
    let mut posterior = Posterior::new(
        network.clone(),
        likelihood,
        train,
        posterior_settings(settings),
    )?;
    let sampler = Sampler::new(settings.method.clone())?;
    let (state, progress) = match start {
        Start::Seed => {
            let particles = initial_particles(&network, settings.particles, settings.seed);
            let state = sampler.init(particles, settings.seed)?;
            (state, Progress::default())
        }
        Start::Members(members) => {
            let expected = (settings.particles, network.layout().dim());
            if members.particles().dim() != expected {
                return Err(ModelError::Shape {
                    what: "members that training goes on from".into(),
                    found: members.particles().shape().to_vec(),
                    expected: vec![expected.0, expected.1],
                });
            }
            let state = sampler.init(members.particles().to_owned(), settings.seed)?;
            (state, Progress::default())
        }
        Start::Run(checkpoint) => {
            checkpoint.check(settings, train, validation)?;
            posterior.restore(checkpoint.posterior, settings.particles)?;
            (checkpoint.state, checkpoint.progress)
        }
    };
    let whole = Whole {
        network: &network,
        backend: settings.backend(),
    };
    let training = Training {
        settings,
        train,
        sampler,
        state,
        posterior,
        validation: Validation {
            likelihood,
            rows: validation,
            outputs: Outputs::Whole(whole),
        },
        progress,
        fingerprints: std::cell::OnceCell::new(),
    };
    training.run(observer, |best| {
        whole.ensemble(best.likelihood, best.particles.view())
    })
}

fn posterior_settings(settings: &FitSettings) -> PosteriorSettings {
    PosteriorSettings {
        batch_size: settings.batch_size,
        prior_precision: settings.prior_precision,
        curvature: settings.curvature,
        learn_noise: true,
        seed: settings.seed,
        backend: settings.backend(),
    }
}

fn check_widths(train: &Rows, validation: &Rows) -> Result<(), ModelError> {
    if train.width() == validation.width() {
        return Ok(());
    }
    Err(ModelError::Shape {
        what: "validation features".into(),
        found: vec![validation.len(), validation.width()],
        expected: vec![validation.len(), train.width()],
    })
}
