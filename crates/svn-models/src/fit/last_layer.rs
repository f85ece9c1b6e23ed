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
use super::{EpochReport, Fit, FitSettings, check_widths, posterior_settings};
use crate::network::last_layer;
use crate::posterior::{CurvaturePart, Posterior, Precision};
use crate::{Ensemble, ModelError, Rows};
use ndarray::{ArrayView2, Axis, s};
use std::cell::OnceCell;
use svn_curvature::{Layer, Sequential, convert};
use svn_stein::{Flow, Method, Sampler};
use tch::{Device, Kind, Tensor};

/// Rows that go through the frozen layers at once.
const CHUNK: usize = 256;

/// Freeze all but the last affine layer of `ensemble` and train that one; features are computed once.
///
/// `settings.method` moves the last layer's weights alone, so every method but `ll-svn` fits, and any kernel metric.
/// Network, task and particles have to be the ensemble's; `curvature.part` makes no difference. The run starts from the
/// ensemble's weights and noise, and keeps them (`best_epoch` 0) unless an epoch has a better validation score. Frozen
/// weights are the ensemble's to the last bit.
///
/// # Errors
/// [`ModelError::Setting`] for a method, network, task or number of particles that does not fit, or a network of one layer;
/// else as for [`fit`](super::fit()).
pub fn fit_last_layer(
    settings: &FitSettings,
    ensemble: &Ensemble,
    train: &Rows,
    validation: &Rows,
    report: &mut dyn FnMut(&EpochReport),
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
    let device = settings.device.resolve()?;
    let likelihood = ensemble.likelihood();
    likelihood.check_targets(validation.targets())?;
    let split = Split::new(ensemble)?;
    let weights = ensemble.particles();
    let (frozen, last) = weights.split_at(Axis(1), split.start);
    let features = |rows: &Rows| split.features(frozen, rows, settings.precision(), device);
    let posterior = Posterior::with_features(
        split.last.clone(),
        likelihood,
        features(train)?,
        1,
        train.targets(),
        posterior_settings(&settings)?,
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
    let mut observer = |epoch: &super::Epoch<'_>| {
        report(epoch.report());
        Ok(Flow::Continue)
    };
    training.run(&mut observer, |best| {
        let mut particles = weights.to_owned();
        particles
            .slice_mut(s![.., split.start..])
            .assign(&best.particles);
        let network = ensemble.network().clone();
        let joined = Ensemble::new(network, best.likelihood, particles, device)?;
        Ok(joined.with_precision(settings.precision()))
    })
}

/// Whether the settings speak of the ensemble.
fn check_ensemble(
    settings: &FitSettings,
    ensemble: &Ensemble,
    inputs: usize,
) -> Result<(), ModelError> {
    let network = settings.build_network(inputs)?;
    if network.layers() != ensemble.network().layers() {
        return Err(ModelError::setting(
            "network of a last-layer fit",
            format!("{:?}", settings.network),
            &format!("the ensemble's, {:?}", ensemble.network().layers()),
        ));
    }
    let (task, likelihood) = (settings.likelihood()?, ensemble.likelihood());
    if std::mem::discriminant(&task) != std::mem::discriminant(&likelihood) {
        return Err(ModelError::setting(
            "task of a last-layer fit",
            format!("{:?}", settings.task),
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
    fn new(ensemble: &Ensemble) -> Result<Self, ModelError> {
        let network = ensemble.network();
        let layers = network.layers();
        let is_affine = |layer: &Layer| matches!(layer, Layer::Linear { .. } | Layer::Conv2d(_));
        let affine = layers.iter().filter(|layer| is_affine(layer)).count();
        let cut = layers.iter().rposition(is_affine).unwrap_or(0);
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

    /// What the frozen layers make of `rows`, `N × n × K`.
    fn features(
        &self,
        weights: ArrayView2<'_, f64>,
        rows: &Rows,
        precision: Precision,
        device: Device,
    ) -> Result<Tensor, ModelError> {
        let kind: Kind = precision.kind();
        let parameters = convert::tensor_on(weights, kind, device)?;
        let size = [weights.nrows(), rows.len(), self.frozen.outputs()].map(|side| side as i64);
        let out = Tensor::f_empty(size, (kind, device))?;
        let sample = self.frozen.input_shape().iter().map(|side| *side as i64);
        let shape: Vec<i64> = std::iter::once(-1).chain(sample).collect();
        let chunks = rows.features();
        let chunks = chunks.axis_chunks_iter(Axis(0), CHUNK);
        for (chunk, start) in chunks.zip((0..).step_by(CHUNK)) {
            let x = convert::tensor_on(chunk, kind, device)?.f_view(shape.as_slice())?;
            let features = self.frozen.forward(&parameters, &x)?;
            out.f_narrow(1, start, chunk.nrows() as i64)?
                .f_copy_(&features)?;
        }
        Ok(out)
    }
}
