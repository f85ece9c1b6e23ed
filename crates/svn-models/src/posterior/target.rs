//! [`Posterior`]: network × likelihood × prior × data as a [`Score`] and [`Curved`] target.

use super::curvature::RowsByLayer;
use super::{Batches, NoiseEstimate, RowRing};
use crate::{Likelihood, ModelError, Rows, likelihood::Gaussian};
use ndarray::{Array3, ArrayView2, ArrayViewMut1, ArrayViewMut2, Ix1, s};
use svn_curvature::{LayeredRows, Linearization, Sequential, convert};
use svn_stein::{Curvature, CurvatureRows, Curved, LowRank, Score, TargetError};
use tch::{Device, Kind, Tensor};

/// How a [`Posterior`] sees its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosteriorSettings {
    /// Rows of a minibatch `b`.
    pub batch_size: usize,
    /// Prior precision `δ` of every weight.
    pub prior_precision: f64,
    /// Number of recent batches `L` whose curvature rows are kept.
    pub accumulated_batches: usize,
    /// Whether a common noise level follows the residuals.
    pub learn_noise: bool,
    /// Seed of the order of the rows.
    pub seed: u64,
    /// Where the network is evaluated.
    pub device: Device,
}

/// The posterior of the weights of a network, seen through minibatches.
#[derive(Debug)]
pub struct Posterior {
    network: Sequential,
    likelihood: Likelihood,
    settings: PosteriorSettings,
    features: Tensor,
    targets: Tensor,
    rows: usize,
    batches: Batches,
    batch: Option<Batch>,
    noise: NoiseEstimate,
    latest_residual: Option<f64>,
    accumulated: Option<(RowRing, KeptRows)>,
}

/// Curvature rows of recent batches.
#[derive(Debug)]
enum KeptRows {
    /// As layer inputs and cotangents, where the network has that form.
    ByLayer(RowsByLayer),
    /// Written out, `N × R × d`.
    WrittenOut(Array3<f64>),
}

#[derive(Debug)]
struct Batch {
    features: Tensor,
    targets: Tensor,
    rows: usize,
}

impl Posterior {
    /// Join a network, a likelihood and the training rows.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the network's inputs or outputs do not fit the rows or the likelihood.
    pub fn new(
        network: Sequential,
        likelihood: Likelihood,
        data: &Rows,
        settings: PosteriorSettings,
    ) -> Result<Self, ModelError> {
        if network.outputs() != likelihood.outputs() {
            return Err(ModelError::Shape {
                what: "network output beside the likelihood".into(),
                found: vec![network.outputs()],
                expected: vec![likelihood.outputs()],
            });
        }
        let batches = Batches::new(data.len(), settings.batch_size, settings.seed);
        let noise = NoiseEstimate::with_memory(batches.per_epoch() as f64 / 4.0);
        Ok(Self {
            features: convert::tensor_on(data.features(), Kind::Double, settings.device)?,
            targets: convert::tensor_on(data.targets(), Kind::Double, settings.device)?,
            rows: data.len(),
            batches,
            batch: None,
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

    /// Age in steps of the oldest curvature rows in use; none if no curvature was asked for.
    pub fn curvature_age(&self) -> Option<usize> {
        self.accumulated.as_ref().map(|(ring, _)| ring.age())
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
            rows: index.len(),
            features: self.features.f_index_select(0, &index_tensor)?,
            targets: self.targets.f_index_select(0, &index_tensor)?,
        });
        if let Some((ring, _)) = &mut self.accumulated {
            ring.advance();
        }
        Ok(())
    }

    /// Evaluate the current batch: log density and score, and the linearisation for whoever wants curvature.
    fn evaluate(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(Linearization, f64), ModelError> {
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
        let parameters = convert::tensor_on(particles, Kind::Double, self.settings.device)?;
        let linear = self.network.linearize(&parameters, &batch.features)?;
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
        self.latest_residual = Some(
            terms
                .mean_squared_residual
                .f_mean(terms.mean_squared_residual.kind())?
                .f_double_value(&[])?,
        );
        Ok((linear, scale))
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
        let (linear, scale) = self
            .evaluate(particles, log_density.view_mut(), score.view_mut())
            .map_err(to_target_error)?;
        check_finite(log_density, score)?;
        self.keep_rows(&linear, scale).map_err(to_target_error)
    }
}

impl Posterior {
    /// Write the batch's rows over those of the oldest one and give the curvature of all that are kept.
    fn keep_rows(
        &mut self,
        linear: &Linearization,
        scale: f64,
    ) -> Result<Curvature<'_>, ModelError> {
        let root = self.likelihood.curvature_root(linear.outputs())? * scale.sqrt();
        let rank = self.likelihood.curvature_rank();
        let settings = &self.settings;
        let weight = self.likelihood.curvature_weight();
        if self.accumulated.is_none() {
            let ring = RowRing::new(
                settings.accumulated_batches,
                settings.batch_size.min(self.rows) * rank,
            );
            let rows = match LayeredRows::new(linear, ring.capacity()) {
                Some(rows) => KeptRows::ByLayer(RowsByLayer(rows)),
                None => KeptRows::WrittenOut(Array3::zeros((
                    linear.particles(),
                    ring.capacity(),
                    linear.dim(),
                ))),
            };
            self.accumulated = Some((ring, rows));
        }
        let Some((ring, rows)) = &mut self.accumulated else {
            return Err(ModelError::setting("accumulated batches", 0, "at least 1"));
        };
        let slot = ring.slot();
        let rows: &dyn CurvatureRows = match rows {
            KeptRows::ByLayer(rows) => {
                rows.0.write(linear, &root, slot)?;
                rows
            }
            KeptRows::WrittenOut(rows) => {
                let filled = slot.start + linear.batch() * rank;
                rows.slice_mut(s![.., filled..slot.end, ..]).fill(0.0);
                linear.rows_into(&root, rows.slice_mut(s![.., slot.start..filled, ..]))?;
                rows
            }
        };
        Ok(Curvature::LowRank(LowRank {
            rows,
            weight: weight * ring.weight(),
            shift: settings.prior_precision,
        }))
    }
}
