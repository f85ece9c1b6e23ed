//! Training a run: from its checkpoint if there is one, all layers, and for pretrained LL-SVN the last one after that.

use std::path::Path;

use rand::Rng;
use svn_models::fit::{
    Checkpoint, EpochReport, Fit, FitSettings, Patience, fit_from, fit_last_layer,
};
use svn_models::recipe::{LastLayerMode, Resolved};
use svn_models::stein::Flow;
use svn_models::{Device, ModelError, Rows};

use super::Run;
use crate::experiment::uci::train::failed;
use crate::experiment::vision::plan::problem;
use crate::experiment::{EpochProgress, RunError};
use crate::split::stream;

/// Where the training of a run leaves its state, and whom it tells.
pub(super) struct Training<'a> {
    pub run: &'a Run<'a>,
    pub device: Device,
    pub train: &'a Rows,
    pub validation: &'a Rows,
    pub checkpoint: &'a Path,
    pub progress: &'a dyn Fn(EpochProgress),
    pub warn: &'a dyn Fn(&str),
}

impl Training<'_> {
    /// Patience that runs out is [`Ending::Observer`].
    pub(super) fn fit(&self) -> Result<Fit, RunError> {
        let recipe = &self.run.configuration.settings;
        let pretrained = recipe.ll_mode == Some(LastLayerMode::Pretrained);
        let (resolved, seed) = (self.resolved(), self.seed());
        let settings = resolved.fit_settings(self.device, seed).map_err(failed)?;
        let stages = if pretrained { 2 } else { 1 };
        let fit = self.network(&settings, stages * settings.epochs)?;
        match pretrained {
            true => self.last_layer(fit, settings.epochs),
            false => Ok(fit),
        }
    }

    fn resolved(&self) -> Resolved {
        let configuration = self.run.configuration;
        Resolved {
            method: configuration.method,
            problem: problem(self.run.rows.train.len()),
            recipe: configuration.settings.clone(),
        }
    }

    fn seed(&self) -> u64 {
        let run = self.run;
        let fold = run.fold.to_string();
        let words = ["vision", "training", &run.configuration.dataset, &fold];
        stream(run.seed, &words).next_u64()
    }

    /// All layers; each epoch is kept before the next one begins.
    fn network(&self, settings: &FitSettings, epochs: usize) -> Result<Fit, RunError> {
        let start = self.start(settings);
        let mut patience = Patience::new(self.run.configuration.settings.patience);
        for epoch in start.iter().flat_map(Checkpoint::history) {
            patience.is_over(epoch);
        }
        if let Some(folder) = self.checkpoint.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        fit_from(settings, self.train, self.validation, start, &mut |epoch| {
            epoch.checkpoint()?.write(self.checkpoint)?;
            self.tell(epoch.report(), 0, epochs);
            Ok(match patience.is_over(epoch.report()) {
                true => Flow::Stop,
                false => Flow::Continue,
            })
        })
        .map_err(failed)
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
                (self.warn)(&format!("{error}; the run starts anew"));
                None
            }
        }
    }

    /// Newton steps on the last layer of a trained network. The epochs of both parts count.
    fn last_layer(&self, before: Fit, first: usize) -> Result<Fit, RunError> {
        let resolved = self.resolved();
        let settings = resolved.last_layer_settings(self.device, self.seed());
        let settings = settings.map_err(failed)?;
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
        Ok(before.then(last))
    }

    fn tell(&self, epoch: &EpochReport, before: usize, epochs: usize) {
        (self.progress)(EpochProgress {
            epoch: before + epoch.epoch,
            epochs,
            validation_nll: epoch.validation_nll,
        });
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};
    use svn_models::curvature::Activation;
    use svn_models::fit::{Ending, Task, fit};
    use svn_models::network::NetworkSettings;
    use svn_models::posterior::CurvatureSettings;
    use svn_models::stein::{FirstOrder, Method};

    use super::*;
    use crate::experiment::uci::train::warnings;

    fn fit_of(epochs: usize, ending: Ending) -> Fit {
        let settings = FitSettings {
            method: Method::Ensemble {
                step: FirstOrder::adam(0.01),
            },
            network: NetworkSettings::Mlp {
                hidden: vec![2],
                activation: Activation::Tanh,
            },
            task: Task::Binary,
            prior_precision: 1.0,
            particles: 1,
            epochs,
            batch_size: 4,
            curvature: CurvatureSettings::default(),
            precision: None,
            noise_floor: None,
            averaging: None,
            backend: svn_models::BackendKind::Auto,
            device: Device::Cpu,
            seed: 0,
        };
        let x = Array2::from_shape_fn((8, 1), |(i, _)| i as f64);
        let rows = Rows::new(x, Array1::from_shape_fn(8, |i| (i % 2) as f64)).unwrap();
        let fit = fit(&settings, &rows, &rows, &mut |_| {}).unwrap();
        Fit { ending, ..fit }
    }

    /// Patience before the last layer's part is no fault and hides none.
    #[test]
    fn a_failure_in_either_part_is_told() {
        let failure = |after| Ending::Failed {
            after,
            error: ModelError::Diverged { epochs: 9 },
        };
        for (before, last, said) in [
            (Ending::Completed, Ending::Completed, None),
            (Ending::Observer, Ending::Completed, None),
            (Ending::Observer, failure(1), Some("after epoch 4: ")),
            (Ending::Completed, failure(2), Some("after epoch 5: ")),
            (failure(3), Ending::Completed, Some("after epoch 3: ")),
        ] {
            let joined = fit_of(3, before).then(fit_of(2, last));
            let epochs: Vec<_> = joined.history.iter().map(|epoch| epoch.epoch).collect();
            assert_eq!(epochs, [1, 2, 3, 4, 5]);
            let warnings = warnings(&joined);
            match said {
                None => assert_eq!(warnings, [""; 0]),
                Some(said) => {
                    let start = format!("training stopped {said}");
                    assert!(warnings[0].starts_with(&start), "{warnings:?}");
                }
            }
        }
    }
}
