//! Training a run: from its checkpoint if there is one, all layers, and for pretrained LL-SVN the last one after that.

use std::path::Path;

use svn_models::fit::{Checkpoint, EpochReport, Fit, FitSettings, fit_from, fit_last_layer};
use svn_models::stein::Flow;
use svn_models::{Device, ModelError, Rows};

use super::Run;
use super::settings::{last_layer_settings, network_settings};
use crate::experiment::uci::train::failed;
use crate::experiment::vision::LlMode;
use crate::experiment::{EpochProgress, RunError};

/// A finished training.
pub(super) struct Trained {
    pub fit: Fit,
    /// Whether patience ended it, which is no fault.
    pub out_of_patience: bool,
}

/// Where the training of a run leaves its state, and whom it tells.
pub(super) struct Training<'a> {
    pub run: &'a Run<'a>,
    pub device: Device,
    pub train: &'a Rows,
    pub validation: &'a Rows,
    pub checkpoint: &'a Path,
    pub progress: &'a dyn Fn(EpochProgress),
}

impl Training<'_> {
    pub(super) fn fit(&self) -> Result<Trained, RunError> {
        let pretrained = self.run.configuration.vision.ll_mode == Some(LlMode::Pretrained);
        let settings = network_settings(self.run, self.device)?;
        let stages = if pretrained { 2 } else { 1 };
        let mut trained = self.network(&settings, stages * settings.epochs)?;
        if pretrained {
            trained.fit = self.last_layer(trained.fit, settings.epochs)?;
        }
        Ok(trained)
    }

    /// All layers; each epoch is kept before the next one begins.
    fn network(&self, settings: &FitSettings, epochs: usize) -> Result<Trained, RunError> {
        let start = self.start(settings);
        let mut patience = Patience::new(self.run.configuration.vision.patience);
        for epoch in start.iter().flat_map(Checkpoint::history) {
            patience.is_over(epoch);
        }
        if let Some(folder) = self.checkpoint.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut out_of_patience = false;
        let fit = fit_from(settings, self.train, self.validation, start, &mut |epoch| {
            epoch.checkpoint()?.write(self.checkpoint)?;
            self.tell(epoch.report(), 0, epochs);
            out_of_patience = patience.is_over(epoch.report());
            Ok(if out_of_patience {
                Flow::Stop
            } else {
                Flow::Continue
            })
        });
        Ok(Trained {
            fit: fit.map_err(failed)?,
            out_of_patience,
        })
    }

    /// The state of an earlier call; one that cannot be used is told and done without.
    fn start(&self, settings: &FitSettings) -> Option<Checkpoint> {
        if !self.checkpoint.exists() {
            return None;
        }
        let read = Checkpoint::read(self.checkpoint).map_err(ModelError::from);
        let read = read.and_then(|checkpoint| match checkpoint.settings() == settings {
            true => Ok(checkpoint),
            false => Err(ModelError::Setting {
                name: "checkpoint".to_owned(),
                found: "of other settings".to_owned(),
                expected: "that of this run".to_owned(),
            }),
        });
        match read {
            Ok(checkpoint) => Some(checkpoint),
            Err(error) => {
                tracing::warn!("{error}; the run starts anew");
                None
            }
        }
    }

    /// Newton steps on the last layer of a trained network. The epochs of both parts count.
    fn last_layer(&self, before: Fit, first: usize) -> Result<Fit, RunError> {
        let settings = last_layer_settings(self.run, self.device)?;
        let epochs = first + settings.epochs;
        let mut report = |epoch: &EpochReport| self.tell(epoch, first, epochs);
        let last = fit_last_layer(
            &settings,
            &before.ensemble,
            self.train,
            self.validation,
            &mut report,
        )
        .map_err(failed)?;
        let done = before.history.len();
        let mut history = before.history;
        history.extend(last.history.into_iter().map(|mut epoch| {
            epoch.epoch += done;
            epoch
        }));
        Ok(Fit {
            best_epoch: match last.best_epoch {
                0 => before.best_epoch,
                epoch => done + epoch,
            },
            history,
            step_times: [before.step_times, last.step_times].concat(),
            stopped_early: before.stopped_early.or(last.stopped_early),
            ..last
        })
    }

    fn tell(&self, epoch: &EpochReport, before: usize, epochs: usize) {
        (self.progress)(EpochProgress {
            epoch: before + epoch.epoch,
            epochs,
            validation_nll: epoch.validation_nll,
        });
    }
}

/// Counts the epochs since the best one.
#[derive(Debug)]
struct Patience {
    limit: Option<usize>,
    best: f64,
    since: usize,
}

impl Patience {
    fn new(limit: Option<usize>) -> Self {
        Self {
            limit,
            best: f64::INFINITY,
            since: 0,
        }
    }

    /// Whether training should end after this epoch.
    fn is_over(&mut self, epoch: &EpochReport) -> bool {
        match epoch.validation_nll {
            Some(nll) if nll < self.best => (self.best, self.since) = (nll, 0),
            _ => self.since += 1,
        }
        self.limit.is_some_and(|limit| self.since >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(validation_nll: Option<f64>) -> EpochReport {
        EpochReport {
            epoch: 1,
            validation_nll,
            mean_kernel: None,
            kernel_warning: None,
            repulsion_ratio: None,
            damping: 0.0,
            trust_scale: 1.0,
            rejected: 0,
        }
    }

    #[test]
    fn patience_counts_epochs_without_a_better_one() {
        let values = [
            Some(1.0),
            Some(0.9),
            None,
            Some(0.9),
            Some(0.8),
            Some(1.0),
            None,
        ];
        let over = |limit| {
            let mut patience = Patience::new(limit);
            values.map(|value| patience.is_over(&report(value)))
        };
        assert_eq!(
            over(Some(2)),
            [false, false, false, true, false, false, true]
        );
        assert_eq!(over(Some(3)), [false; 7]);
        assert_eq!(over(None), [false; 7]);
    }
}
