//! The loop of a run: steps, and after each epoch a score on the validation rows.

use super::fingerprint::Fingerprint;
use super::report::EpochSums;
use super::run::{Run, drive};
use super::step_decay::StepDecay;
use super::validation::{Outputs, Validation};
use super::{Checkpoint, EpochReport, Fit, FitSettings, Observer};
use crate::posterior::{Posterior, stationary_noise};
use crate::{Likelihood, Members, ModelError, Rows};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::time::{Duration, Instant};
use svn_stein::{Sampler, State};

/// A run in progress.
#[derive(Debug)]
pub(super) struct Training<'a> {
    pub(super) settings: &'a FitSettings,
    pub(super) train: &'a Rows,
    pub(super) sampler: Sampler,
    pub(super) state: State,
    pub(super) posterior: Posterior,
    pub(super) validation: Validation<'a>,
    pub(super) progress: Progress,
    pub(super) fingerprints: OnceCell<[Fingerprint; 2]>,
}

/// What the epochs done have left.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Progress {
    pub(super) best: Option<Best>,
    pub(super) history: Vec<EpochReport>,
    pub(super) step_times: Vec<Duration>,
    pub(super) epoch_times: Vec<Duration>,
    /// Averaged weights, if the settings ask for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) average: Option<Array2<f64>>,
}

impl Progress {
    /// Wall time of the epochs done.
    pub(super) fn elapsed(&self) -> Duration {
        self.epoch_times.iter().sum()
    }
}

/// Weights and likelihood of the epoch with the best validation score so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Best {
    pub(super) epoch: usize,
    pub(super) nll: f64,
    pub(super) likelihood: Likelihood,
    pub(super) particles: Array2<f64>,
}

impl Training<'_> {
    /// Run the epochs that are left; `finish` makes an ensemble of the best.
    pub(super) fn run(
        mut self,
        observer: &mut dyn Observer,
        finish: impl FnOnce(Best) -> Result<Members, ModelError>,
    ) -> Result<Fit, ModelError> {
        let ending = drive(&mut self, observer)?;
        let Progress {
            best,
            history,
            step_times,
            epoch_times,
            average: _,
        } = self.progress;
        let Some(best) = best else {
            return Err(ModelError::Diverged {
                epochs: history.len(),
            });
        };
        Ok(Fit {
            best_epoch: best.epoch,
            ensemble: finish(best)?,
            history,
            step_times,
            epoch_times,
            curvature_age: self.posterior.curvature_age(),
            ending,
        })
    }

    /// Take the weights of the step just done into the average, see [`FitSettings::averaging`].
    fn average(&mut self) {
        let Some(share) = self.settings.averaging else {
            return;
        };
        let particles = self.state.particles();
        let step = self.progress.step_times.len() as f64;
        let weight = (1.0 / (share * step)).min(1.0);
        let average = &mut self.progress.average;
        match average {
            Some(average) => {
                average.zip_mut_with(&particles, |mean, now| *mean += weight * (now - *mean))
            }
            None => *average = Some(particles.to_owned()),
        }
    }

    /// Weights that are validated: the average, or those of now.
    pub(super) fn validated(&self) -> ArrayView2<'_, f64> {
        match &self.progress.average {
            Some(average) => average.view(),
            None => self.state.particles(),
        }
    }

    /// Validation score now, none of rows that do not choose; the weights are kept if it is the best, or there is none.
    pub(super) fn score(&mut self, epoch: usize) -> Result<f64, ModelError> {
        let particles = match &self.progress.average {
            Some(average) => average.view(),
            None => self.state.particles(),
        };
        let (likelihood, nll) = self.validation.score(particles)?;
        let last = self.settings.last_epoch;
        let best = &mut self.progress.best;
        // A NaN is no improvement: it never replaces what was best.
        if nll.is_finite() && best.as_ref().is_none_or(|best| last || nll < best.nll) {
            *best = Some(Best {
                epoch,
                nll,
                likelihood,
                particles: particles.to_owned(),
            });
        }
        Ok(if last { f64::NAN } else { nll })
    }
}

impl Run for Training<'_> {
    fn settings(&self) -> &FitSettings {
        self.settings
    }

    fn history(&self) -> &[EpochReport] {
        &self.progress.history
    }

    fn waited(&self) -> usize {
        let best = self.progress.best.as_ref().map_or(0, |best| best.epoch);
        self.progress.history.len() - best
    }

    fn epoch(&mut self, epoch: usize) -> Result<(), ModelError> {
        let start = Instant::now();
        let mut sums = EpochSums::default();
        let batches = self.posterior.batches_per_epoch();
        let decay = StepDecay::new(self.settings, self.posterior.rows(), batches);
        for batch in 0..batches {
            if let Some(decay) = decay {
                let step = (epoch - 1) * batches + batch;
                decay.limit(&mut self.state, step, &self.progress.history);
            }
            let clock = Instant::now();
            let info = self.sampler.step(&mut self.state, &mut self.posterior)?;
            self.progress.step_times.push(clock.elapsed());
            self.average();
            sums.add(&info);
        }
        let nll = self.score(epoch)?;
        let parameters = self.posterior.effective_parameters(self.state.damping())?;
        let (rate, batch) = (sums.rate, self.settings.batch_size);
        let noise = |(rate, parameters)| match batch < self.posterior.rows() {
            true => stationary_noise(rate, parameters, batch),
            false => 0.0,
        };
        self.progress.history.push(EpochReport {
            effective_parameters: parameters,
            stationary_noise: rate.zip(parameters).map(noise),
            ..sums.finish(epoch, nll)
        });
        self.progress.epoch_times.push(start.elapsed());
        Ok(())
    }

    fn best(&self) -> Option<(usize, f64)> {
        let best = self.progress.best.as_ref();
        best.map(|best| (best.epoch, best.nll))
    }

    fn elapsed(&self) -> Duration {
        self.progress.elapsed()
    }

    fn curvature_age(&self) -> Option<usize> {
        self.posterior.curvature_age()
    }

    /// None of a fit of the last layer.
    fn checkpoint(&self) -> Result<Option<Checkpoint>, ModelError> {
        if let Outputs::LastLayer { .. } = self.validation.outputs {
            return Ok(None);
        }
        let fingerprints = self
            .fingerprints
            .get_or_init(|| [self.train, self.validation.rows].map(Fingerprint::new));
        Ok(Some(Checkpoint {
            settings: self.settings.clone(),
            fingerprints: *fingerprints,
            state: self.state.clone(),
            posterior: self.posterior.save()?,
            progress: self.progress.clone(),
            folds: None,
            file: None,
        }))
    }
}
