//! The boundary to training: a fold goes in, a model comes out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ndarray::{Array2, ArrayView2};
use rand::rngs::ChaCha20Rng;
use svn_models::recipe::Resolved;
use svn_models::{ClassPrediction, ModelError, Prediction};

use super::{EpochPoint, EpochProgress, Fold, KernelUse, RunError, RunId};
use crate::split::stream;

/// A trained model, in the units of the data.
pub trait Model {
    /// Numbers at the rows of `x` (`n × d`).
    ///
    /// # Errors
    /// [`ModelError`] for a model of classes, or features that are not those of training.
    fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Prediction, ModelError>;

    /// Classes at the rows of `x` (`n × d`).
    ///
    /// # Errors
    /// [`ModelError`] for a model of numbers, or features that are not those of training.
    fn predict_classes(&self, x: ArrayView2<'_, f64>) -> Result<ClassPrediction, ModelError>;

    /// Laplace variances of each member's mean (`N × n`), where the predictive density has them.
    ///
    /// # Errors
    /// As for [`predict`](Self::predict).
    fn laplace_variances(
        &self,
        _x: ArrayView2<'_, f64>,
    ) -> Result<Option<Array2<f64>>, ModelError> {
        Ok(None)
    }

    /// What was chosen, and what that is worth, beside the metrics; by key.
    fn chosen(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// Keep it in a folder.
    ///
    /// # Errors
    /// [`RunError`] for a model that cannot be kept, or where it cannot be written.
    fn save(&self, _folder: &Path) -> Result<(), RunError> {
        Err(RunError::Unsupported(
            "this model cannot be saved".to_owned(),
        ))
    }
}

/// A model and how it came about.
#[expect(missing_debug_implementations, reason = "a model is of any kind")]
pub struct Trained {
    /// The best epoch's.
    pub model: Box<dyn Model>,
    /// Validation NLL of the predictive density, where it is not that of the best epoch in the curve.
    pub validation_nll: Option<f64>,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was restored, from 1.
    pub best_epoch: usize,
    /// Validation NLL epoch by epoch, original units.
    pub curve: Vec<EpochPoint>,
    /// What the kernel did.
    pub kernel: Option<KernelUse>,
    /// Time of each step, ms.
    pub step_ms: Vec<f64>,
    /// Time of each epoch, s.
    pub epoch_s: Vec<f64>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

impl Trained {
    /// Validation NLL of what was restored.
    pub fn score(&self) -> Option<f64> {
        let best = |point: &&EpochPoint| point.epoch == self.best_epoch;
        let of_curve = self.curve.iter().find(best);
        self.validation_nll
            .or(of_curve.and_then(|point| point.validation_nll))
    }
}

/// What a trainer may know of its run.
#[expect(missing_debug_implementations, reason = "it holds closures")]
pub struct Context<'a> {
    /// Word of the study's random streams.
    pub stream: &'static str,
    /// Name of the data set.
    pub dataset: &'a str,
    /// Which run.
    pub run: RunId,
    /// Whether features are standardised.
    pub scaled: bool,
    /// Where the state of an interrupted run is, and is kept.
    pub checkpoint: Option<PathBuf>,
    /// Is told of each epoch.
    pub progress: &'a dyn Fn(EpochProgress),
    /// Is told what a user should know.
    pub warn: &'a dyn Fn(&str),
}

impl Context<'_> {
    /// The random stream of this run for a purpose such as `training`. It does not depend on the method, so that methods
    /// start from the same networks and see the same batches.
    pub fn stream(&self, purpose: &str) -> ChaCha20Rng {
        let fold = self.run.fold.to_string();
        stream(self.run.seed, &[self.stream, purpose, self.dataset, &fold])
    }
}

/// Trains one fold. Called from several threads at once, one run a thread.
pub trait Trainer: Sync {
    /// Train and restore the best epoch. The result depends on fold, settings and run alone (timings aside), not on what
    /// else runs.
    ///
    /// # Errors
    /// [`RunError::Failed`]; other runs go on.
    fn fit(
        &self,
        fold: &Fold,
        resolved: &Resolved,
        context: &Context<'_>,
    ) -> Result<Trained, RunError>;

    /// Versions and devices, for the report.
    fn environment(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}
