//! The trainer of the `svn` command: networks, by `svn_models::Ensemble`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ndarray::{Array2, ArrayView2};
use rand::Rng;
use svn_models::fit::{Checkpoint, Ending, Epoch, EpochReport};
use svn_models::recipe::{Resolved, Selection};
use svn_models::stein::{Flow, KernelWarning};
use svn_models::{Candidate, ClassPrediction, Device, Ensemble, ModelError, Prediction};

use super::checkpoint::{self, Checkpoints};
use super::{
    Context, EpochPoint, EpochProgress, Fold, KernelUse, Model, RunError, Trained, Trainer,
};
use crate::libraries;

impl Model for Ensemble {
    fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Prediction, ModelError> {
        Ensemble::predict(self, x)
    }

    fn predict_classes(&self, x: ArrayView2<'_, f64>) -> Result<ClassPrediction, ModelError> {
        Ensemble::predict_classes(self, x)
    }

    fn laplace_variances(&self, x: ArrayView2<'_, f64>) -> Result<Option<Array2<f64>>, ModelError> {
        Ensemble::laplace_variances(self, x)
    }

    fn chosen(&self) -> Vec<(String, f64)> {
        let (predictor, training) = (self.predictor(), self.training());
        let recipe = &self.settings().recipe;
        let by_evidence = recipe.select.is_some_and(Selection::is_evidence);
        let all = [
            ("laplace_precision", predictor.laplace_precision()),
            ("temperature", predictor.temperature()),
            ("tail_degrees", predictor.tails().map(|tails| tails.degrees)),
            ("tail_scale", predictor.tails().map(|tails| tails.scale)),
            (
                "linear_weight",
                self.stacked().then(|| self.linear_weight()),
            ),
            (
                "prior_precision",
                recipe.prior_precision.filter(|_| by_evidence),
            ),
            (
                "evidence_nll",
                by_evidence.then_some(training.validation_nll),
            ),
        ];
        let all = all.map(|(key, value)| (key.to_owned(), value));
        let mut rounds = 1..;
        let tried = training.tried.iter().map(|one| {
            let value = one.candidate.value();
            let name = match one.candidate {
                Candidate::PriorPrecision(_) => format!("prior_precision_{value}"),
                Candidate::LayerPrecisions(_) => {
                    format!("layer_precisions_{}", rounds.next().unwrap_or_default())
                }
                _ => value.replace('-', "_"),
            };
            (format!("tried_{name}"), one.nll)
        });
        let layers = recipe.layer_precisions.iter().flatten().zip(1..);
        let layers = layers.map(|(factor, layer)| {
            let key = format!("layer_precision_{layer}");
            (key, Some(*factor).filter(|_| by_evidence))
        });
        all.into_iter()
            .chain(layers)
            .chain(tried)
            .filter_map(|(key, value)| Some((key, value?)))
            .collect()
    }

    fn save(&self, folder: &Path) -> Result<(), RunError> {
        Ensemble::save(self, folder).map_err(RunError::failed)
    }
}

/// Trains networks by `svn-models`.
#[derive(Debug, Clone, Copy)]
struct Networks {
    device: Device,
}

/// The trainer of the `svn` command.
///
/// Parallelism is over runs: inside a run libraries use one thread each. Results depend on neither.
///
/// # Errors
/// [`RunError::Unsupported`] for a CUDA device that is not there.
pub fn networks(device: Device) -> Result<Box<dyn Trainer>, RunError> {
    let unsupported = |error: ModelError| RunError::Unsupported(format!("--{error}"));
    device.check().map_err(|error| unsupported(error.into()))?;
    svn_models::set_library_threads(1);
    Ok(Box::new(Networks { device }))
}

impl Trainer for Networks {
    fn fit(
        &self,
        fold: &Fold,
        resolved: &Resolved,
        context: &Context<'_>,
    ) -> Result<Trained, RunError> {
        match context
            .checkpoint
            .as_deref()
            .and_then(|path| checkpoint::read(path, context.warn))
        {
            None => self.attempt(fold, resolved, context, None),
            Some(checkpoint) => match self.attempt(fold, resolved, context, Some(checkpoint)) {
                Err(error @ ModelError::Checkpoint(_)) => {
                    (context.warn)(&format!("{error}; the run starts anew"));
                    self.attempt(fold, resolved, context, None)
                }
                other => other,
            },
        }
        .map_err(RunError::failed)
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let mut environment = libraries::environment();
        environment.insert("device".to_owned(), self.device.to_string());
        environment
    }
}

impl Networks {
    fn attempt(
        &self,
        fold: &Fold,
        resolved: &Resolved,
        context: &Context<'_>,
        checkpoint: Option<Checkpoint>,
    ) -> Result<Trained, ModelError> {
        let mut checkpoints = context.checkpoint.as_deref().map(Checkpoints::new);
        let mut watch = |epoch: &Epoch<'_>| {
            if let Some(checkpoints) = &mut checkpoints {
                checkpoints.keep(epoch)?;
            }
            (context.progress)(EpochProgress::of(epoch));
            Ok(Flow::Continue)
        };
        let mut builder = Ensemble::builder()
            .method(resolved.method)
            .network(resolved.problem.network.clone())
            .recipe(&resolved.recipe)
            .seed(context.stream("training").next_u64())
            .device(self.device)
            .observer(&mut watch);
        if !context.scaled {
            builder = builder.unscaled();
        }
        if let Some(checkpoint) = checkpoint {
            builder = builder.checkpoint(checkpoint);
        }
        let train = (fold.train.x.view(), fold.train.y.view());
        let validation = (fold.validation.x.view(), fold.validation.y.view());
        let ensemble = match &fold.labels {
            Some(labels) => builder.fit_classes(train, validation, labels),
            None => builder.fit_with(train, validation, svn_models::Task::Regression),
        };
        Ok(trained(ensemble?))
    }
}

fn trained(ensemble: Ensemble) -> Trained {
    let training = ensemble.training();
    let history = &training.history;
    let chosen = ensemble.predictor().validation_nll();
    Trained {
        validation_nll: chosen.map(|_| training.validation_nll),
        epochs: training.epochs,
        best_epoch: training.best_epoch,
        curve: curve(history),
        kernel: kernel(history),
        step_ms: training
            .step_times
            .iter()
            .map(|t| t.as_secs_f64() * 1e3)
            .collect(),
        epoch_s: training
            .epoch_times
            .iter()
            .map(Duration::as_secs_f64)
            .collect(),
        warnings: warnings(history, &training.ending)
            .into_iter()
            .chain(alone(&ensemble))
            .chain(narrow(&ensemble))
            .chain(at_end(&ensemble))
            .collect(),
        model: Box::new(ensemble),
    }
}

/// A sentence where each fold has one member, so that a method with a kernel has nothing to interact.
fn alone(ensemble: &Ensemble) -> Option<String> {
    let (settings, out_of_fold) = (
        ensemble.settings(),
        ensemble.training().out_of_fold.as_ref()?,
    );
    let folds = out_of_fold.folds.iter().max()? + 1;
    let method = settings.method;
    let alone = method.has_kernel() && settings.recipe.particles? <= folds;
    alone.then(|| {
        let enough = 2 * folds;
        format!("each of {folds} folds has one member, which nothing interacts with: {method} has no kernel; take {enough} particles or more")
    })
}

/// A sentence where members that repel as functions have fewer directions than the data determine.
fn narrow(ensemble: &Ensemble) -> Option<String> {
    if !ensemble.settings().method.is_of_functions() {
        return None;
    }
    let members = ensemble.members().particles().nrows();
    let determined = ensemble.training().history.last()?.effective_parameters?;
    let spanned = members.saturating_sub(1);
    (determined > spanned as f64).then(|| {
        format!(
            "{members} members span {spanned} of the {determined:.0} or more directions that the data determine and stay narrower than the \
             posterior; take more particles"
        )
    })
}

/// A sentence where the evidence is largest at an end of the prior precisions tried, or a layer's beyond it: it may be still larger beyond, and there it is seldom to be trusted.
pub(crate) fn at_end(ensemble: &Ensemble) -> Option<String> {
    let chosen = ensemble.settings().recipe.prior_precision?;
    let tried = ensemble.training().tried.iter();
    let tried: Vec<f64> = tried
        .filter_map(|one| match one.candidate {
            Candidate::PriorPrecision(precision) => Some(precision),
            _ => None,
        })
        .collect();
    let [first, .., last] = tried[..] else {
        return None;
    };
    let compare = "and may be wrong: compare with --select kfold";
    if [first, last].contains(&chosen) {
        return Some(format!(
            "the evidence is largest at prior precision {chosen}, an end of those tried, {compare}"
        ));
    }
    let factors = ensemble.settings().recipe.layer_precisions.iter().flatten();
    let mut layers = factors.map(|factor| factor * chosen).zip(1..);
    let (precision, layer) = layers.find(|(precision, _)| !(first..=last).contains(precision))?;
    Some(format!(
        "the evidence is largest at prior precision {precision:.3e} of layer {layer}, outside {first} to {last}, {compare}"
    ))
}

/// The validation NLL of each epoch.
pub(crate) fn curve(history: &[EpochReport]) -> Vec<EpochPoint> {
    let points = history.iter().map(|epoch| EpochPoint {
        epoch: epoch.epoch,
        validation_nll: epoch.validation_nll,
    });
    points.collect()
}

/// Means over the epochs that had a kernel.
fn kernel(history: &[EpochReport]) -> Option<KernelUse> {
    let used = history.iter();
    let used: Vec<(f64, f64)> = used
        .filter_map(|epoch| Some((epoch.mean_kernel?, epoch.repulsion_ratio?)))
        .collect();
    let mean = |sum: f64| sum / used.len() as f64;
    (!used.is_empty()).then(|| KernelUse {
        mean: mean(used.iter().map(|(kernel, _)| kernel).sum()),
        repulsion: mean(used.iter().map(|(_, repulsion)| repulsion).sum()),
        effective_parameters: history.last().and_then(|epoch| epoch.effective_parameters),
    })
}

/// What a reader of the record should know. An end that was asked for is no fault.
pub(crate) fn warnings(history: &[EpochReport], ending: &Ending) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Ending::Failed { after, error } = ending {
        warnings.push(format!("training stopped after epoch {after}: {error}"));
    }
    let rejected: usize = history.iter().map(|epoch| epoch.rejected).sum();
    if rejected > 0 {
        warnings.push(format!("{rejected} particle steps were taken back"));
    }
    // What held in most epochs, not what a start or an end may show.
    let most = |warning| {
        let with = history
            .iter()
            .filter(|epoch| epoch.kernel_warning == Some(warning));
        2 * with.count() > history.len()
    };
    let said = [
        (
            KernelWarning::Identity,
            "the kernel is the identity: the particles do not interact; widen the bandwidth",
        ),
        (
            KernelWarning::Constant,
            "the kernel tells no particles apart; narrow the bandwidth",
        ),
        (
            KernelWarning::Negligible,
            "the kernel does nothing here: its repulsion is less than a hundredth of the drive",
        ),
    ];
    warnings.extend(
        said.into_iter()
            .filter(|(kind, _)| most(*kind))
            .map(|(_, text)| text.to_owned()),
    );
    warnings
}
