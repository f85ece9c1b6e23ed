//! After each epoch: predict the validation rows, remember the best weights.

use super::report::{EpochReport, EpochSums};
use crate::ensemble::best_noise_variance;
use crate::likelihood::Gaussian;
use crate::posterior::Precision;
use crate::{Ensemble, Likelihood, ModelError, Rows};
use ndarray::ArrayView2;
use std::time::{Duration, Instant};
use svn_curvature::Sequential;
use svn_stein::{Flow, Info, Observer, State, SteinError};
use tch::Device;

/// Observer of a run; holds the best checkpoint and the time each step took.
pub(super) struct Validation<'a> {
    pub(super) network: &'a Sequential,
    pub(super) likelihood: Likelihood,
    pub(super) rows: &'a Rows,
    pub(super) precision: Precision,
    pub(super) device: Device,
    pub(super) steps_per_epoch: usize,
    pub(super) report: &'a mut dyn FnMut(&EpochReport),
    pub(super) sums: EpochSums,
    pub(super) history: Vec<EpochReport>,
    pub(super) best: Option<Checkpoint>,
    pub(super) step_times: Vec<Duration>,
    pub(super) clock: Instant,
}

/// Weights and likelihood of the epoch with the best validation score so far.
pub(super) struct Checkpoint {
    pub(super) epoch: usize,
    pub(super) nll: f64,
    pub(super) ensemble: Ensemble,
}

impl Validation<'_> {
    fn join(
        &self,
        likelihood: Likelihood,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Ensemble, ModelError> {
        let network = self.network.clone();
        let ensemble = Ensemble::new(network, likelihood, particles.to_owned(), self.device)?;
        Ok(ensemble.with_precision(self.precision))
    }

    /// The ensemble as it would predict now, and its score: the mean negative log likelihood of the validation rows, of
    /// classes under the mean probability. A common noise is the one that suits the validation rows best.
    fn ensemble(&self, particles: ArrayView2<'_, f64>) -> Result<(Ensemble, f64), ModelError> {
        let ensemble = self.join(self.likelihood, particles)?;
        if self.likelihood.classes().is_some() {
            let prediction = ensemble.predict_classes(self.rows.features())?;
            let nll = prediction.negative_log_likelihood(self.rows.targets())?;
            return Ok((ensemble, nll));
        }
        let mut prediction = ensemble.predict(self.rows.features())?;
        if !prediction.means.iter().all(|mean| mean.is_finite()) {
            return Ok((ensemble, f64::NAN));
        }
        let ensemble = match self.likelihood {
            Likelihood::Gaussian(_) => {
                let errors = (&self.rows.targets() - &prediction.mean()).mapv(|e| e * e);
                let variance =
                    best_noise_variance(errors.view(), prediction.spread().view(), Gaussian::FLOOR);
                prediction.noise_variances.fill(variance);
                self.join(Likelihood::Gaussian(Gaussian::new(variance)?), particles)?
            }
            _ => ensemble,
        };
        let nll = prediction.negative_log_likelihood(self.rows.targets());
        Ok((ensemble, nll))
    }

    fn end_epoch(
        &mut self,
        epoch: usize,
        particles: ArrayView2<'_, f64>,
    ) -> Result<(), ModelError> {
        let (ensemble, nll) = self.ensemble(particles)?;
        // A NaN is no improvement: it never replaces a checkpoint.
        if nll.is_finite() && self.best.as_ref().is_none_or(|best| nll < best.nll) {
            self.best = Some(Checkpoint {
                epoch,
                nll,
                ensemble,
            });
        }
        let report = self.sums.finish(epoch, nll);
        (self.report)(&report);
        self.history.push(report);
        Ok(())
    }
}

impl Observer for Validation<'_> {
    fn observe(&mut self, state: &mut State, info: &Info) -> Result<Flow, SteinError> {
        self.step_times.push(self.clock.elapsed());
        self.sums.add(info);
        let step = info.step as usize;
        if step.is_multiple_of(self.steps_per_epoch) {
            self.end_epoch(step / self.steps_per_epoch, state.particles())
                .map_err(|error| SteinError::Observer(Box::new(error)))?;
        }
        self.clock = Instant::now();
        Ok(Flow::Continue)
    }
}
