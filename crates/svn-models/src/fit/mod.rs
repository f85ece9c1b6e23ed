//! Train an ensemble: steps of a particle method on the posterior, validation after each epoch, best weights restored.
//!
//! | call | trains | starts from |
//! |---|---|---|
//! | [`fit`] | the whole network | weights drawn by the seed, trained members, or a run that was interrupted: [`Start`] |
//! | [`fit_last_layer`] | the last layer, all others frozen | a trained ensemble |

mod checkpoint;
mod checkpoint_error;
mod ending;
mod fingerprint;
mod folds;
mod last_layer;
mod linear;
mod observer;
mod report;
mod run;
mod settings;
mod step_decay;
mod training;
mod validation;

pub use checkpoint::Checkpoint;
pub use checkpoint_error::CheckpointError;
pub use ending::Ending;
pub use folds::{FoldFit, fit_folds};
pub use last_layer::fit_last_layer;
pub(crate) use linear::{fit_linear, fit_linear_folds};
pub use observer::{Epoch, Observer};
pub(crate) use observer::{Part, Within};
pub use report::EpochReport;
pub use settings::{FitSettings, LikelihoodKind};

use crate::network::initial_particles;
use crate::posterior::{Posterior, PosteriorSettings};
use crate::{Members, ModelError, Rows};
use ndarray::ArrayView1;
use std::time::Duration;
use svn_stein::Sampler;
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
    /// Wall time of every epoch, validation included.
    pub epoch_times: Vec<Duration>,
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
            epoch_times: [self.epoch_times, last.epoch_times].concat(),
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

/// Where a run begins.
#[derive(Debug, Default)]
pub enum Start<'a> {
    /// With weights drawn by the seed of the settings.
    #[default]
    Seed,
    /// With the weights of trained members, for example on rows that came later. The network has to be theirs.
    Members(&'a Members),
    /// After the last epoch of a run that was interrupted. `epochs`, `patience` and `time_limit` may be others than then,
    /// everything else has to be as it was.
    Checkpoint(Box<Checkpoint>),
}

/// Train on `train`, choose the epoch on `validation`, tell `observer` of each epoch.
///
/// Noise, weights and epoch are chosen from these rows alone. The same settings give the same ensemble to the last bit. A
/// run that goes on from a [`Checkpoint`] gives the same [`Fit`] as one that was never interrupted, to the last bit on the
/// same machine and device; only the times differ.
///
/// # Errors
/// [`ModelError::Setting`] or [`ModelError::Shape`] for what does not fit, also for members of another number or network; a
/// backend or device that is not there; [`ModelError::Checkpoint`] for a checkpoint of other settings or rows; the observer's;
/// anything else only if no epoch was ever finished with a finite validation score. After one, an error is
/// [`Ending::Failed`].
///
/// # Examples
/// ```
/// # use ndarray::{Array1, Array2};
/// # use svn_models::{Rows, curvature::Activation, network::NetworkSettings};
/// use svn_models::fit::{Checkpoint, Epoch, FitSettings, LikelihoodKind, Start, fit};
/// use svn_models::stein::{FirstOrder, Flow, Method};
/// # let rows = |n: usize| Rows::new(Array2::from_shape_fn((n, 1), |(i, _)| (i as f64).sin()), Array1::from_iter((0..n).map(|i| (i as f64).cos())));
/// # let (train, validation) = (rows(12)?, rows(7)?);
/// # let method = Method::Ensemble { step: FirstOrder::adam(0.01) };
/// # let network = NetworkSettings::Mlp { hidden: vec![3], activation: Activation::Tanh };
/// let settings = FitSettings { epochs: 4, batch_size: 5, ..FitSettings::new(method, network, LikelihoodKind::Gaussian) };
/// # let folder = tempfile::tempdir().map_err(|e| svn_models::ModelError::Setting { name: "folder".into(), found: e.to_string(), expected: "one".into() })?;
/// # let path = folder.path().join("run.ckpt");
/// // Interrupted after the second of four epochs:
/// fit(&settings, &train, &validation, Start::Seed, &mut |epoch: &Epoch<'_>| {
///     if let Some(checkpoint) = epoch.checkpoint()? {
///         checkpoint.write(&path)?;
///     }
///     Ok(if epoch.report().epoch == 2 { Flow::Stop } else { Flow::Continue })
/// })?;
/// // Taken up again:
/// let start = Start::Checkpoint(Box::new(Checkpoint::read(&path)?));
/// let resumed = fit(&settings, &train, &validation, start, &mut ())?;
/// let whole = fit(&settings, &train, &validation, Start::Seed, &mut ())?;
/// assert_eq!(resumed.ensemble.particles(), whole.ensemble.particles());
/// # Ok::<(), svn_models::ModelError>(())
/// ```
pub fn fit(
    settings: &FitSettings,
    train: &Rows,
    validation: &Rows,
    start: Start<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit, ModelError> {
    let network = settings.build_network(train.width())?;
    let whole = Whole {
        network: &network,
        backend: settings.backend(),
    };
    let training = begin(settings, whole, (train, train.targets()), validation, start)?;
    training.run(observer, |best| {
        whole.ensemble(best.likelihood, best.particles.view())
    })
}

/// A run before its next epoch. The likelihood takes its levels from the targets beside the training rows.
fn begin<'a>(
    settings: &'a FitSettings,
    whole: Whole<'a>,
    (train, targets): (&'a Rows, ArrayView1<'_, f64>),
    validation: &'a Rows,
    start: Start<'_>,
) -> Result<Training<'a>, ModelError> {
    settings.validate(train.len())?;
    check_widths(train, validation)?;
    let likelihood = match start {
        // Levels are those that its weights mean.
        Start::Members(members) if settings.likelihood == LikelihoodKind::Ordinal => {
            members.likelihood()
        }
        _ => settings.build_likelihood()?.of_targets(targets)?,
    };
    likelihood.check_targets(validation.targets())?;
    let network = whole.network;
    let mut posterior = Posterior::new(
        network.clone(),
        likelihood,
        train,
        posterior_settings(settings),
    )?;
    if settings.method.function_repulsion().is_some() {
        let curved = settings.method.needs_curvature();
        posterior = posterior.with_context(train, settings.context, curved);
    }
    let sampler = Sampler::new(settings.method.clone())?;
    let (state, progress) = match start {
        Start::Seed => {
            let particles = initial_particles(network, settings.particles, settings.seed);
            let state = sampler.init(particles, settings.seed)?;
            (state, Progress::default())
        }
        Start::Members(members) => {
            if members.network().layers() != network.layers() {
                let found = format!("{:?}", members.network().layers());
                let expected = format!("{:?}", network.layers());
                return Err(ModelError::setting(
                    "network of the members that training goes on from",
                    found,
                    &expected,
                ));
            }
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
        Start::Checkpoint(checkpoint) => {
            checkpoint.check(settings, train, validation)?;
            posterior.restore(checkpoint.posterior, settings.particles)?;
            (checkpoint.state, checkpoint.progress)
        }
    };
    Ok(Training {
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
