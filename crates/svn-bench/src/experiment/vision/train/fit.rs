//! Training a run: from its checkpoint if there is one, all layers, and for pretrained LL-SVN the last one after that.

use std::path::Path;

use rand::Rng;
use svn_models::fit::{Checkpoint, Epoch, Fit, FitSettings, Start};
use svn_models::recipe::Resolved;
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
    /// Each epoch is kept before the next one begins.
    pub(super) fn fit(&self) -> Result<Fit, RunError> {
        let (resolved, seed) = (self.resolved(), self.seed());
        let settings = resolved.fit_settings(self.device, seed).map_err(failed)?;
        if let Some(folder) = self.checkpoint.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut watch = |epoch: &Epoch<'_>| {
            if let Some(checkpoint) = epoch.checkpoint()? {
                checkpoint.write(self.checkpoint)?;
            }
            (self.progress)(EpochProgress {
                epoch: epoch.report().epoch,
                epochs: epoch.epochs(),
                validation_nll: epoch.report().validation_nll,
            });
            Ok(Flow::Continue)
        };
        let start = match self.start(&settings) {
            Some(checkpoint) => Start::Checkpoint(Box::new(checkpoint)),
            None => Start::Seed,
        };
        let rows = (self.train, self.validation);
        resolved
            .fit(self.device, seed, rows, start, &mut watch)
            .map_err(failed)
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
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};
    use svn_models::curvature::Activation;
    use svn_models::fit::{Ending, LikelihoodKind, fit};
    use svn_models::network::NetworkSettings;
    use svn_models::stein::{FirstOrder, Method};

    use super::*;
    use crate::experiment::uci::train::warnings;

    fn fit_of(epochs: usize, ending: Ending) -> Fit {
        let settings = FitSettings {
            particles: 1,
            epochs,
            batch_size: 4,
            seed: 0,
            ..FitSettings::new(
                Method::Ensemble {
                    step: FirstOrder::adam(0.01),
                },
                NetworkSettings::Mlp {
                    hidden: vec![2],
                    activation: Activation::Tanh,
                },
                LikelihoodKind::Bernoulli,
            )
        };
        let x = Array2::from_shape_fn((8, 1), |(i, _)| i as f64);
        let rows = Rows::new(x, Array1::from_shape_fn(8, |i| (i % 2) as f64)).unwrap();
        let fit = fit(&settings, &rows, &rows, Start::Seed, &mut ()).unwrap();
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
