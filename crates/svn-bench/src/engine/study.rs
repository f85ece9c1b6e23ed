//! What is fitted and measured. Everything else is the engine's.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::Task;

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
