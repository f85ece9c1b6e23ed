//! What a posterior carries from batch to batch, saved and put back to the last bit.
//!
//! The order of the rows is not saved: it is a function of the seed, and as many batches are passed over as were drawn.
//! Nor is what follows from the rest by the same computation: inner products of rows, diagonals, decompositions of
//! Kronecker factors, for which the sums are saved that they were made from.

use super::NoiseEstimate;
use super::collect::SavedCollector;
use crate::Likelihood;
use serde::{Deserialize, Serialize};

/// State of a [`Posterior`](super::Posterior) between two batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedPosterior {
    /// Batches drawn.
    pub(super) batches: u64,
    pub(super) likelihood: Likelihood,
    pub(super) noise: NoiseEstimate,
    pub(super) latest_residual: Option<f64>,
    pub(super) curvature: Option<SavedCurvature>,
}

/// State of the accumulated curvature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedCurvature {
    pub(super) step: usize,
    pub(super) overdue: bool,
    pub(super) collector: SavedCollector,
}
