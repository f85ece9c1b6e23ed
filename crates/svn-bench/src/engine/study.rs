//! What is fitted and measured. Everything else is the engine's.

use std::fmt::Debug;

use ndarray::{Array1, Array2};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svn_models::LabelEncoding;
use svn_models::recipe::{Method, Problem, Recipe};

use super::{EngineError, Model, Predicted, RunError};
use crate::data::Task;
use crate::metrics::Metrics;

/// Which run of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId {
    /// Seed of splits and training.
    pub seed: u64,
    /// Index of the fold.
    pub fold: usize,
}

/// Everything but method, settings, seed and fold that a result depends on: data, splits, limits, device.
///
/// Results of different designs are never compared.
pub trait Design: Debug + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// Name of the data set.
    fn dataset(&self) -> &str;

    /// SHA-256 of the data.
    fn data_sha256(&self) -> &str;

    /// What is predicted.
    fn task(&self) -> Task;

    /// How rows are cut into parts, by name.
    fn protocol(&self) -> &'static str;

    /// Runs that are planned for each seed.
    fn folds(&self) -> usize;

    /// What else tells it from other designs of the study, as columns of every table: name and cell.
    fn columns(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Bring a line of an older schema to `design`, `method`, `settings`, `extra` and the common fields.
    fn upgrade(_line: &mut Value) {}
}

/// Measures of a study beside the common metrics.
pub trait Extra:
    Debug + Clone + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// Of several runs together.
    type Pooled: Debug + Clone + PartialEq + Serialize;

    /// Of all runs of one configuration.
    fn pool(runs: &[&Self]) -> Self::Pooled;
}

impl Extra for () {
    type Pooled = ();

    fn pool(_: &[&Self]) {}
}

/// A part of a fold, in the units of the data.
///
/// # Shapes
/// `x`: `n × d`; `y`: `n`, a real number or a class index `0.0, 1.0, …`.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Features.
    pub x: Array2<f64>,
    /// Target.
    pub y: Array1<f64>,
}

impl Part {
    /// Class indices, for classification.
    pub fn classes(&self) -> Vec<usize> {
        self.y.iter().map(|&class| class as usize).collect()
    }
}

/// The rows of one run. Nothing is scaled: that is the model's.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    /// Rows to fit on.
    pub train: Part,
    /// Rows to stop on.
    pub validation: Part,
    /// Rows to measure on; none while settings are chosen.
    pub test: Part,
    /// The classes, for classification.
    pub labels: Option<LabelEncoding>,
}

/// A run of a design.
#[derive(Debug)]
pub struct Of<'a, D> {
    /// Data and splits.
    pub design: &'a D,
    /// Seed and fold.
    pub run: RunId,
}

impl<D> Clone for Of<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for Of<'_, D> {}

/// What is fitted and measured, its data loaded.
///
/// Order, threads, resume, checkpoints, tuning, records and tables are the engine's.
pub trait Study: Sync {
    /// Name, in records and of the command `bench-NAME`.
    const NAME: &'static str;
    /// Word of the random streams of training.
    const STREAM: &'static str = Self::NAME;
    /// Whether features are standardised. Pixels are not.
    const SCALED: bool = true;
    /// Data and splits.
    type Design: Design;
    /// Measures of its own.
    type Extra: Extra;

    /// What is run, in the order of the tables.
    fn designs(&self) -> Vec<Self::Design>;

    /// Seeds and folds that each method is run for.
    fn runs(&self, design: &Self::Design) -> Vec<RunId>;

    /// What settings are resolved for.
    fn problem(&self, design: &Self::Design) -> Problem;

    /// Sentences for the user, about the data.
    fn warnings(&self) -> Vec<String>;

    /// The rows of a run.
    ///
    /// # Errors
    /// [`EngineError`] for rows that cannot be cut like this.
    fn fold(&self, of: Of<'_, Self::Design>) -> Result<Fold, EngineError>;

    /// Whether the rows of a run can be cut as asked, before anything runs.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    fn check(&self, of: Of<'_, Self::Design>) -> Result<(), EngineError> {
        self.fold(of).map(drop)
    }

    /// Settings of the study, behind those that are given and before the method's defaults.
    fn recipe(&self, _design: &Self::Design, _method: Method) -> Recipe {
        Recipe::default()
    }

    /// What the common metrics leave out. Metrics may be added to.
    ///
    /// # Errors
    /// [`RunError`]; the run is lost.
    fn extra(
        &self,
        _of: Of<'_, Self::Design>,
        _fold: &Fold,
        _trained: (&dyn Model, &Predicted),
        _metrics: &mut Metrics,
    ) -> Result<Self::Extra, RunError> {
        Ok(Self::Extra::default())
    }

    /// What a record says of the data.
    fn data_warnings(&self, _design: &Self::Design) -> Vec<String> {
        Vec::new()
    }
}
