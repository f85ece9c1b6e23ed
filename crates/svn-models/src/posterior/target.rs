//! [`Posterior`]: network × likelihood × prior × data as a [`Score`] and [`Curved`] target.

use super::accumulated::{Accumulated, Shape};
use super::context::FunctionContext;
use super::{
    Batches, ContextSettings, CurvaturePart, CurvatureRoot, NoiseEstimate, PosteriorSettings,
    SavedPosterior,
};
use crate::{Likelihood, ModelError, Rows, likelihood::Gaussian};
use ndarray::{
    Array1, Array2, Array4, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, Axis,
};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use svn_curvature::{Linearized, Samples, Sequential};
use svn_linalg::dense;
use svn_stein::{Curvature, Curved, FunctionSpace, Score, TargetError};

/// Streams of the seed from here on belong to the drawn curvature of the batches.
const ROOT_STREAM: u64 = 1 << 63;

/// The posterior of the weights of a network, seen through minibatches.
#[derive(Debug)]
pub struct Posterior {
    network: Sequential,
    likelihood: Likelihood,
    settings: PosteriorSettings,
    features: Box<dyn Samples>,
    targets: Array1<f64>,
    batches: Batches,
    batch: Option<Batch>,
    /// Batches drawn.
    drawn: u64,
    noise: NoiseEstimate,
    latest_residual: Option<f64>,
    accumulated: Option<Accumulated>,
    context: Option<FunctionContext>,
}

#[derive(Debug)]
struct Batch {
    /// Counted from 0.
    index: u64,
    features: Box<dyn Samples>,
    targets: Array1<f64>,
}

impl Posterior {
    /// Join a network, a likelihood and the training rows; a row's features are reshaped to the network's input, row-major
    /// (channels slowest).
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the network's inputs or outputs do not fit the rows or the likelihood,
    /// [`ModelError::ClassIndex`] for a target that is no class, [`ModelError::Setting`] for curvature out of range.
    pub fn new(
        network: Sequential,
        likelihood: Likelihood,
        data: &Rows,
        settings: PosteriorSettings,
    ) -> Result<Self, ModelError> {
        if data.width() != network.inputs() {
            return Err(ModelError::Shape {
                what: "training features".into(),
                found: vec![data.len(), data.width()],
                expected: vec![data.len(), network.inputs()],
            });
        }
        let features = settings.backend.samples(&network, data.features())?;
        Self::with_features(network, likelihood, features, data.targets(), settings)
    }

    /// The same with a function space, before the first batch: outputs at rows drawn from `data`, or from its own context. With
    /// `curved`, where Newton steps are taken, from those of its rows alone whose curvature is in the ring.
    #[must_use]
    pub fn with_context(self, data: &Rows, settings: ContextSettings, curved: bool) -> Self {
        let recent = curved && data.own_context().is_none();
        let recent = recent.then_some(self.settings.curvature.ring);
        let seed = self.settings.seed;
        Self {
            context: Some(FunctionContext::new(data.context(), recent, settings, seed)),
            ..self
        }
    }

    /// The same with features that a backend holds already, the same for all particles or some for each.
    pub(crate) fn with_features(
        network: Sequential,
        likelihood: Likelihood,
        features: Box<dyn Samples>,
        targets: ArrayView1<'_, f64>,
        settings: PosteriorSettings,
    ) -> Result<Self, ModelError> {
        if network.outputs() != likelihood.outputs() {
            return Err(ModelError::Shape {
                what: "network output beside the likelihood".into(),
                found: vec![network.outputs()],
                expected: vec![likelihood.outputs()],
            });
        }
        settings.curvature.validate()?;
        likelihood.check_targets(targets)?;
        let batches = Batches::new(targets.len(), settings.batch_size, settings.seed);
        let noise = NoiseEstimate::with_memory(batches.per_epoch() as f64 / 4.0);
        Ok(Self {
            features,
            targets: targets.to_owned(),
            batches,
            batch: None,
            drawn: 0,
            noise,
            latest_residual: None,
            accumulated: None,
            context: None,
            network,
            likelihood,
            settings,
        })
    }

    /// The likelihood with its present noise.
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    /// The network.
    pub fn network(&self) -> &Sequential {
        &self.network
    }

    /// Number of batches in an epoch.
    pub fn batches_per_epoch(&self) -> usize {
        self.batches.per_epoch()
    }

    /// Age in steps of the curvature in use: of the oldest rows for `Full`, of the newest batch in the moving average for
    /// `Diag`, `Kfac` and `Ekfac` (above 0 where `every` or `refresh` lets batches pass; the eigenbases of `Ekfac` may be
    /// older). None if no curvature was asked for.
    pub fn curvature_age(&self) -> Option<usize> {
        self.accumulated.as_ref().map(Accumulated::age)
    }

    /// Effective number of parameters of the curvature in use under Levenberg damping `λ`, mean over the particles; of `Full` up to the error of a
    /// few random vectors:
    ///
    /// ```text
    /// γ = (1/N) Σ_p tr C_p (C_p + (δ + λ) I)⁻¹
    /// ```
    ///
    /// A Newton step of size `ε` from a batch of `b` rows holds a quadratic at most `ε/(2 − ε) · γ/(2b)` nats a row above its minimum.
    /// None if no curvature was asked for.
    ///
    /// # Errors
    /// [`ModelError`] of a decomposition that fails.
    pub fn effective_parameters(&mut self, damping: f64) -> Result<Option<f64>, ModelError> {
        let weight = self.likelihood.curvature_weight();
        let seed = self.settings.seed.wrapping_add(self.drawn);
        match &mut self.accumulated {
            Some(accumulated) => accumulated.effective_parameters(weight, damping, seed),
            None => Ok(None),
        }
    }

    /// Number of training rows `n`.
    pub fn rows(&self) -> usize {
        self.targets.len()
    }

    /// Draw the next batch; what the last one said of the noise takes effect now, so that all evaluations
    /// of one batch belong to the same energy.
    fn advance(&mut self) -> Result<(), ModelError> {
        if let (true, Likelihood::Gaussian(_), Some(residual)) = (
            self.settings.learn_noise,
            self.likelihood,
            self.latest_residual.take(),
        ) && let Some(variance) = self.noise.update(residual)
        {
            self.likelihood = Likelihood::Gaussian(Gaussian::new(variance.max(Gaussian::FLOOR))?);
        }
        let rows = self.batches.draw();
        if let Some(context) = &mut self.context {
            context.advance(rows);
        }
        self.batch = Some(Batch {
            index: self.drawn,
            features: self.features.select(rows)?,
            targets: self.targets.select(Axis(0), rows),
        });
        self.drawn += 1;
        match &mut self.accumulated {
            Some(accumulated) => accumulated.next_batch(),
            None => Ok(()),
        }
    }

    /// Evaluate the current batch: log density and score, and the linearisation for whoever wants curvature.
    fn evaluate(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<Box<dyn Linearized>, ModelError> {
        if self.batch.is_none() {
            self.advance()?;
        }
        let Some(batch) = &self.batch else {
            return Err(ModelError::setting(
                "batch",
                "absent",
                "a batch drawn by next_batch",
            ));
        };
        let scale = self.targets.len() as f64 / batch.targets.len() as f64;
        let linear = batch.features.linearize(&self.network, particles)?;
        let terms = self
            .likelihood
            .loss(linear.outputs(), batch.targets.view())?;
        linear.vjp_into(terms.ascent.view(), score.view_mut())?;
        let precision = self.settings.prior_precision;
        for (p, particle) in particles.rows().into_iter().enumerate() {
            let prior = 0.5 * precision * dense::dot(particle, particle);
            log_density[p] = -scale * terms.negative_log_likelihood[p] - prior;
            score
                .row_mut(p)
                .zip_mut_with(&particle, |s, phi| *s = scale * *s - precision * phi);
        }
        self.latest_residual = terms
            .mean_squared_residual
            .and_then(|residuals| residuals.mean());
        Ok(linear)
    }
}

/// A number that is not finite is the particle's, and recoverable; anything else is fatal.
fn check_finite(
    log_density: ArrayViewMut1<'_, f64>,
    score: ArrayViewMut2<'_, f64>,
) -> Result<(), TargetError> {
    if let Some(particle) = log_density.iter().position(|value| !value.is_finite()) {
        return Err(TargetError::NonFinite {
            particle,
            quantity: "log density",
        });
    }
    match score
        .rows()
        .into_iter()
        .position(|row| !row.iter().all(|value| value.is_finite()))
    {
        Some(particle) => Err(TargetError::NonFinite {
            particle,
            quantity: "score",
        }),
        None => Ok(()),
    }
}

fn to_target_error(error: ModelError) -> TargetError {
    match error {
        ModelError::Curvature(svn_curvature::CurvatureError::NonFinite { particle, .. }) => {
            TargetError::NonFinite {
                particle,
                quantity: "network output",
            }
        }
        other => TargetError::Fatal(Box::new(other)),
    }
}

impl Score for Posterior {
    fn dim(&self) -> usize {
        self.network.layout().dim()
    }

    fn is_stochastic(&self) -> bool {
        self.settings.batch_size < self.rows()
    }

    fn next_batch(&mut self) -> Result<(), TargetError> {
        self.advance().map_err(to_target_error)
    }

    fn function_space(&mut self) -> Option<&mut dyn FunctionSpace> {
        match self.context {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        self.evaluate(particles, log_density.view_mut(), score.view_mut())
            .map_err(to_target_error)?;
        check_finite(log_density, score)
    }
}

/// Outputs at the context, see [`ContextSettings`](super::ContextSettings).
impl FunctionSpace for Posterior {
    fn images(&mut self, particles: ArrayView2<'_, f64>) -> Result<Array2<f64>, TargetError> {
        let networks = (&self.network, self.settings.backend);
        let Some(context) = &mut self.context else {
            return Err(no_context());
        };
        context
            .images(networks, self.likelihood, self.drawn, particles)
            .map_err(to_target_error)
    }

    fn pull_back_into(
        &mut self,
        cotangents: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        let Some(context) = &self.context else {
            return Err(no_context());
        };
        context
            .pull_back_into(cotangents, out)
            .map_err(to_target_error)
    }
}

fn no_context() -> TargetError {
    let expected = "rows at which functions are compared";
    to_target_error(ModelError::setting("context", "left out", expected))
}

impl Curved for Posterior {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        let linear = self
            .evaluate(particles, log_density.view_mut(), score.view_mut())
            .map_err(to_target_error)?;
        check_finite(log_density, score)?;
        self.curvature(linear).map_err(to_target_error)
    }
}

impl Posterior {
    /// Add the current batch where it is due, and give the curvature of all that are kept.
    fn curvature(&mut self, linear: Box<dyn Linearized>) -> Result<Curvature<'_>, ModelError> {
        let linear = self.covered(linear)?;
        let due = self.accumulated.as_ref().is_none_or(Accumulated::is_due);
        let root = match due {
            true => Some(self.root(linear.outputs())?),
            false => None,
        };
        let accumulated = match self.accumulated.take() {
            Some(accumulated) => accumulated,
            None => self.accumulate(linear.as_ref())?,
        };
        let accumulated = self.accumulated.insert(accumulated);
        if let Some(root) = root {
            accumulated.set_batch(linear.as_ref(), root.view())?;
        }
        accumulated.curvature(self.likelihood.curvature_weight())
    }

    /// The part of the network that has curvature.
    fn covered(&self, linear: Box<dyn Linearized>) -> Result<Box<dyn Linearized>, ModelError> {
        let linear = match self.settings.curvature.part {
            CurvaturePart::WholeNetwork => linear,
            CurvaturePart::LastLayer => linear.last_layer(),
        };
        // The order of a batch's rows is random, so its first ones are as good a sample as any.
        let rows = self.settings.curvature.rows_of(linear.batch());
        Ok(match rows < linear.batch() {
            true => linear.first_samples(rows)?,
            false => linear,
        })
    }

    /// No curvature yet, of networks like that of `linear`.
    fn accumulate(&self, linear: &dyn Linearized) -> Result<Accumulated, ModelError> {
        let columns = match self.settings.curvature.root {
            CurvatureRoot::Exact => self.likelihood.curvature_rank(),
            CurvatureRoot::Sampled(samples) => samples,
        };
        let shape = Shape {
            settings: self.settings.curvature,
            batch: self
                .settings
                .curvature
                .rows_of(self.settings.batch_size.min(self.rows())),
            rows: self.rows(),
            shift: self.settings.prior_precision,
        };
        Accumulated::new(linear, columns, shape)
    }

    /// All that the next batches depend on besides settings, rows and particles.
    ///
    /// # Errors
    /// [`ModelError::Curvature`] if libtorch fails.
    pub(crate) fn save(&self) -> Result<SavedPosterior, ModelError> {
        let curvature = self.accumulated.as_ref().map(Accumulated::save);
        Ok(SavedPosterior {
            batches: self.drawn,
            likelihood: self.likelihood,
            noise: self.noise,
            latest_residual: self.latest_residual,
            curvature: curvature.transpose()?,
        })
    }

    /// Go on where [`Self::save`] was called on a posterior of the same settings and rows with `particles` particles: the
    /// next batch and all after it are the same to the last bit.
    ///
    /// # Errors
    /// [`ModelError::Setting`] or [`ModelError::Curvature`] if the state is that of other settings.
    pub(crate) fn restore(
        &mut self,
        saved: SavedPosterior,
        particles: usize,
    ) -> Result<(), ModelError> {
        self.batches = Batches::new(self.rows(), self.settings.batch_size, self.settings.seed);
        let memory = self.context.as_ref().map_or(0, FunctionContext::memory) as u64;
        let memory = memory.min(saved.batches);
        self.batches.skip(saved.batches - memory);
        for _ in 0..memory {
            let rows = self.batches.draw();
            if let Some(context) = &mut self.context {
                context.advance(rows);
            }
        }
        (self.batch, self.drawn) = (None, saved.batches);
        self.likelihood = saved.likelihood;
        self.noise = saved.noise;
        self.latest_residual = saved.latest_residual;
        self.accumulated = match saved.curvature {
            None => None,
            Some(saved) => {
                // Any weights and any row have the shapes that it is made for.
                let weights = Array2::zeros((particles, self.dim()));
                let row = self.features.select(&[0])?;
                let linear = row.linearize(&self.network, weights.view())?;
                let mut accumulated = self.accumulate(self.covered(linear)?.as_ref())?;
                accumulated.restore(saved)?;
                Some(accumulated)
            }
        };
        Ok(())
    }

    /// Root of the curvature of the current batch in the outputs, noise weight taken out.
    fn root(&self, outputs: ArrayView3<'_, f64>) -> Result<Array4<f64>, ModelError> {
        match self.settings.curvature.root {
            CurvatureRoot::Exact => self.likelihood.curvature_root(outputs),
            CurvatureRoot::Sampled(samples) => {
                let index = self.batch.as_ref().map_or(0, |batch| batch.index);
                let mut rng = ChaCha12Rng::seed_from_u64(self.settings.seed);
                rng.set_stream(ROOT_STREAM + index);
                self.likelihood
                    .sampled_curvature_root(outputs, samples, &mut rng)
            }
        }
    }
}
