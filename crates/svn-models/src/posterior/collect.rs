//! What a collector of curvature does with the batches of a run, whatever it keeps of them.

use std::fmt::Debug;

use ndarray::{ArrayD, ArrayView4};
use serde::{Deserialize, Serialize};
use svn_curvature::{AccumulatedSums, Linearized};
use svn_stein::Curvature;

use super::order::RingOrder;
use crate::ModelError;

/// Curvature of recent batches: `C_p`, scaled to `n` training rows.
pub(super) trait Collect: Debug + Send {
    /// The batch given last belongs to the past from now on.
    fn advance(&mut self) -> Result<(), ModelError>;

    /// The current batch is this one, whatever was given as the current one before. With `renew` what is costly to make
    /// (eigenbases) is made anew, where it is made of single batches.
    fn set_batch(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        renew: bool,
    ) -> Result<(), ModelError>;

    /// `weight · C_p + shift · I`. With `renew` what is costly to make (decompositions) is made anew.
    fn curvature(
        &mut self,
        weight: f64,
        shift: f64,
        renew: bool,
    ) -> Result<Curvature<'_>, ModelError>;

    /// Batches that were added since the oldest one in use, or since the newest one that a moving average in use knows of.
    fn age(&self) -> usize;

    /// All that the next batches build on.
    fn save(&self) -> Result<SavedCollector, ModelError>;

    /// Put back what [`Self::save`] gave of the same settings.
    fn restore(&mut self, saved: SavedCollector) -> Result<(), ModelError>;
}

/// State of a collector between two batches; what follows from it by the same computation is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedCollector {
    /// Of a ring.
    pub ring: Option<RingOrder>,
    pub arrays: Vec<ArrayD<f64>>,
    /// Of a moving average: the sums, and those that the decompositions in use were made from.
    pub sums: Vec<AccumulatedSums>,
    pub behind: usize,
    /// Of a ring: the noise weight that its rows are used under.
    pub weight: Option<f64>,
}

/// A state that does not fit the settings.
pub(super) fn other_settings() -> ModelError {
    ModelError::setting(
        "curvature of the checkpoint",
        "of another family or size",
        "that of the settings",
    )
}
