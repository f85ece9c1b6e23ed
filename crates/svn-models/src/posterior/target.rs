//! [`Posterior`]: network × likelihood × prior × data as a [`Score`] and [`Curved`] target.

use super::accumulated::{Accumulated, Shape};
use super::{
    Batches, CurvaturePart, CurvatureRoot, NoiseEstimate, PosteriorSettings, SavedPosterior,
};
use crate::{Likelihood, ModelError, Rows, likelihood::Gaussian};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Ix1};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use svn_curvature::{Linearization, Sequential, convert};
use svn_stein::{Curvature, Curved, Score, TargetError};
use tch::Tensor;

/// Streams of the seed from here on belong to the drawn curvature of the batches.
const ROOT_STREAM: u64 = 1 << 63;

/// The posterior of the weights of a network, seen through minibatches.
#[derive(Debug)]
pub struct Posterior {
    network: Sequential,
    likelihood: Likelihood,
    settings: PosteriorSettings,
    features: Tensor,
    /// Dimension of `features` that counts rows: 0, or 1 where each particle has features of its own.
    row_dim: i64,
    targets: Tensor,
    rows: usize,
    batches: Batches,
    batch: Option<Batch>,
    /// Batches drawn.
    drawn: u64,
    noise: NoiseEstimate,
    latest_residual: Option<f64>,
    accumulated: Option<Accumulated>,
}

#[derive(Debug)]
struct Batch {
    /// Counted from 0.
    index: u64,
    features: Tensor,
    targets: Tensor,
    rows: usize,
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
        let inputs: usize = network.input_shape().iter().product();
        if data.width() != inputs {
            return Err(ModelError::Shape {
                what: "training features".into(),
                found: vec![data.len(), data.width()],
                expected: vec![data.len(), inputs],
            });
        }
        let kind = settings.precision.kind();
        let samples: Vec<i64> = [data.len()]
            .iter()
            .chain(network.input_shape())
            .map(|side| *side as i64)
            .collect();
        let features = convert::tensor_on(data.features(), kind, settings.device)?
            .f_view(samples.as_slice())?;
        Self::with_features(network, likelihood, features, 0, data.targets(), settings)
    }

    /// The same with features on the settings' device already: `n × …` for `row_dim` 0, `N × n × …` for 1.
    pub(crate) fn with_features(
        network: Sequential,
        likelihood: Likelihood,
        features: Tensor,
        row_dim: i64,
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
        let kind = settings.precision.kind();
        Ok(Self {
            features,
            row_dim,
            targets: convert::tensor_on(targets, kind, settings.device)?,
            rows: targets.len(),
            batches,
            batch: None,
            drawn: 0,
            noise,
            latest_residual: None,
            accumulated: None,
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

    /// Number of training rows `n`.
    pub fn rows(&self) -> usize {
        self.rows
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
        let index = self.batches.draw();
        let index_tensor = Tensor::f_from_slice(index)?.f_to(self.settings.device)?;
        self.batch = Some(Batch {
            index: self.drawn,
            rows: index.len(),
            features: self.features.f_index_select(self.row_dim, &index_tensor)?,
            targets: self.targets.f_index_select(0, &index_tensor)?,
        });
        self.drawn += 1;
        match &mut self.accumulated {
            Some(accumulated) => accumulated.next_batch(),
            None => Ok(()),
        }
    }

    fn linearize(
        &self,
        parameters: &Tensor,
        features: &Tensor,
    ) -> Result<Linearization, ModelError> {
        Ok(match self.row_dim {
            0 => self.network.linearize(parameters, features)?,
            _ => self.network.linearize_each(parameters, features)?,
        })
    }

    /// Evaluate the current batch: log density and score, and the linearisation for whoever wants curvature.
    fn evaluate(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<Linearization, ModelError> {
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
        let scale = self.rows as f64 / batch.rows as f64;
        let parameters = convert::tensor_on(
            particles,
            self.settings.precision.kind(),
            self.settings.device,
        )?;
        let linear = self.linearize(&parameters, &batch.features)?;
        let terms = self.likelihood.loss(linear.outputs(), &batch.targets)?;
        let ascent = linear.vjp(&terms.ascent)?;
        convert::copy_into(&ascent, score.view_mut())?;
        let losses = convert::array::<Ix1>(&terms.negative_log_likelihood)?;
        let precision = self.settings.prior_precision;
        for (p, particle) in particles.rows().into_iter().enumerate() {
            log_density[p] = -scale * losses[p] - 0.5 * precision * particle.dot(&particle);
            score
                .row_mut(p)
                .zip_mut_with(&particle, |s, phi| *s = scale * *s - precision * phi);
        }
        self.latest_residual = match terms.mean_squared_residual {
            Some(residual) => Some(residual.f_mean(residual.kind())?.f_double_value(&[])?),
            None => None,
        };
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
        self.settings.batch_size < self.rows
    }

    fn next_batch(&mut self) -> Result<(), TargetError> {
        self.advance().map_err(to_target_error)
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
    fn curvature(&mut self, linear: Linearization) -> Result<Curvature<'_>, ModelError> {
        let linear = self.covered(linear)?;
        let due = self.accumulated.as_ref().is_none_or(Accumulated::is_due);
        let root = match due {
            true => Some(self.root(linear.outputs())?),
            false => None,
        };
        let accumulated = match self.accumulated.take() {
            Some(accumulated) => accumulated,
            None => self.accumulate(&linear)?,
        };
        let accumulated = self.accumulated.insert(accumulated);
        if let Some(root) = root {
            accumulated.set_batch(&linear, &root)?;
        }
        accumulated.curvature(self.likelihood.curvature_weight())
    }

    /// The part of the network that has curvature.
    fn covered(&self, linear: Linearization) -> Result<Linearization, ModelError> {
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
    fn accumulate(&self, linear: &Linearization) -> Result<Accumulated, ModelError> {
        let columns = match self.settings.curvature.root {
            CurvatureRoot::Exact => self.likelihood.curvature_rank(),
            CurvatureRoot::Sampled(samples) => samples,
        };
        let shape = Shape {
            settings: self.settings.curvature,
            batch: self
                .settings
                .curvature
                .rows_of(self.settings.batch_size.min(self.rows)),
            rows: self.rows,
            shift: self.settings.prior_precision,
        };
        Accumulated::new(linear, columns, shape)
    }

    /// All that the next batches depend on besides settings, rows and particles.
    ///
    /// # Errors
    /// [`ModelError::Curvature`] if libtorch fails.
    pub fn save(&self) -> Result<SavedPosterior, ModelError> {
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
    pub fn restore(&mut self, saved: SavedPosterior, particles: usize) -> Result<(), ModelError> {
        self.batches = Batches::new(self.rows, self.settings.batch_size, self.settings.seed);
        self.batches.skip(saved.batches);
        (self.batch, self.drawn) = (None, saved.batches);
        self.likelihood = saved.likelihood;
        self.noise = saved.noise;
        self.latest_residual = saved.latest_residual;
        self.accumulated = match saved.curvature {
            None => None,
            Some(saved) => {
                // Any weights and any row have the shapes that it is made for.
                let shape = [particles as i64, self.dim() as i64];
                let options = (self.settings.precision.kind(), self.settings.device);
                let row = self.features.f_narrow(self.row_dim, 0, 1)?;
                let linear = self.linearize(&Tensor::f_zeros(shape, options)?, &row)?;
                let mut accumulated = self.accumulate(&self.covered(linear)?)?;
                accumulated.restore(saved)?;
                Some(accumulated)
            }
        };
        Ok(())
    }

    /// Root of the curvature of the current batch in the outputs, noise weight taken out.
    fn root(&self, outputs: &Tensor) -> Result<Tensor, ModelError> {
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
