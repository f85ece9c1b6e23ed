//! The last layer of a trained ensemble, all other weights frozen.
//!
//! ```text
//! frozen      a_pi = g(θ_p, x_i)                      once, for all rows
//! posterior   log π(ω) = −Σ_i ℓ(W_p a_pi + β_p, y_i) − (δ/2) |ω|²,    ω = (W, β)
//! ```
//!
//! Logits are linear in `ω`, so that the Gauss-Newton matrix is the Hessian of the loss (of two-moment Gaussians, of the
//! part that the mean has). A step costs the last layer's share of a step: kernel, metric and Newton system are those of
//! the last layer's weights alone, among which the particles are compared.

use super::training::{Progress, Training};
use super::validation::{Outputs, Validation};
use super::{Fit, FitSettings, Observer, check_widths, posterior_settings};
use crate::network::last_layer;
use crate::posterior::{CurvaturePart, Posterior};
use crate::{Members, ModelError, Rows};
use ndarray::{ArrayView2, Axis, s};
use std::cell::OnceCell;
use svn_curvature::{Backend, Layer, Samples, Sequential};
use svn_stein::{Method, Sampler};

/// Freeze all but the last affine layer of `ensemble` and train that one; features are computed once.
///
/// `settings.method` moves the last layer's weights alone, so every method but `ll-svn` fits, and any kernel metric.
/// Network, likelihood and particles have to be the ensemble's; `curvature.part` makes no difference. The run starts from the
/// ensemble's weights and noise, and keeps them (`best_epoch` 0) unless an epoch has a better validation score. Frozen
/// weights are the ensemble's to the last bit.
///
/// # Errors
/// [`ModelError::Setting`] for a method, network, likelihood or number of particles that does not fit, or a network of one layer;
/// else as for [`fit`](super::fit()).
pub fn fit_last_layer(
    settings: &FitSettings,
    ensemble: &Members,
    train: &Rows,
    validation: &Rows,
    observer: &mut dyn Observer,
) -> Result<Fit, ModelError> {
    let mut settings = settings.clone();
    if let Method::LlSvn { .. } = settings.method {
        return Err(ModelError::setting(
            "method of a last-layer fit",
            settings.method.name(),
            "one that moves all coordinates it is given, such as svn: they are the last layer's",
        ));
    }
    settings.curvature.part = CurvaturePart::WholeNetwork;
    settings.validate(train.len())?;
    check_widths(train, validation)?;
    check_ensemble(&settings, ensemble, train.width())?;
    let backend = settings.backend();
    let likelihood = ensemble.likelihood();
    likelihood.check_targets(validation.targets())?;
    let split = Split::new(ensemble)?;
    let weights = ensemble.particles();
    let (frozen, last) = weights.split_at(Axis(1), split.start);
    let features = |rows: &Rows| split.features(frozen, rows, backend);
    let posterior = Posterior::with_features(
        split.last.clone(),
        likelihood,
        features(train)?,
        train.targets(),
        posterior_settings(&settings),
    )?;
    let sampler = Sampler::new(settings.method.clone())?;
    let mut training = Training {
        settings: &settings,
        train,
        state: sampler.init(last.to_owned(), settings.seed)?,
        sampler,
        posterior,
        validation: Validation {
            likelihood,
            rows: validation,
            outputs: Outputs::LastLayer {
                network: &split.last,
                features: features(validation)?,
            },
        },
        progress: Progress::default(),
        fingerprints: OnceCell::new(),
    };
    training.score(0)?;
    training.run(observer, |best| {
        let mut particles = weights.to_owned();
        particles
            .slice_mut(s![.., split.start..])
            .assign(&best.particles);
        let network = ensemble.network().clone();
        Members::new(network, best.likelihood, particles, backend)
    })
}

/// Whether the settings speak of the ensemble.
fn check_ensemble(
    settings: &FitSettings,
    ensemble: &Members,
    inputs: usize,
) -> Result<(), ModelError> {
    let network = settings.build_network(inputs)?;
    if network.layers() != ensemble.network().layers() {
        return Err(ModelError::setting(
            "network of a last-layer fit",
            format!("{:?}", network.layers()),
            &format!("the ensemble's, {:?}", ensemble.network().layers()),
        ));
    }
    let (given, likelihood) = (settings.build_likelihood()?, ensemble.likelihood());
    if std::mem::discriminant(&given) != std::mem::discriminant(&likelihood) {
        return Err(ModelError::setting(
            "likelihood of a last-layer fit",
            format!("{:?}", settings.likelihood),
            &format!("the ensemble's, {likelihood:?}"),
        ));
    }
    let members = ensemble.particles().nrows();
    if settings.particles != members {
        return Err(ModelError::setting(
            "particles of a last-layer fit",
            settings.particles,
            &format!("the ensemble's, {members}"),
        ));
    }
    Ok(())
}

/// A network cut before its last affine layer.
struct Split {
    frozen: Sequential,
    last: Sequential,
    /// First parameter of the last layer.
    start: usize,
}

impl Split {
    fn new(ensemble: &Members) -> Result<Self, ModelError> {
        let network = ensemble.network();
        let layers = network.layers();
        let affine = layers.iter().filter(|layer| layer.is_affine()).count();
        let cut = layers.iter().rposition(Layer::is_affine).unwrap_or(0);
        if affine < 2 {
            return Err(ModelError::setting(
                "affine layers of a last-layer fit",
                affine,
                "at least one before the last; a network of one layer is trained by `fit`",
            ));
        }
        let frozen = Sequential::new(network.input_shape(), layers[..cut].to_vec())?;
        let width = [frozen.outputs()];
        Ok(Self {
            last: Sequential::new(&width, layers[cut..].to_vec())?,
            frozen,
            start: last_layer(network).indices().first().copied().unwrap_or(0),
        })
    }

    /// What each particle's frozen layers make of `rows`.
    fn features(
        &self,
        weights: ArrayView2<'_, f64>,
        rows: &Rows,
        backend: Backend,
    ) -> Result<Box<dyn Samples>, ModelError> {
        let samples = backend.samples(&self.frozen, rows.features())?;
        Ok(samples.through(&self.frozen, weights)?)
    }
}
