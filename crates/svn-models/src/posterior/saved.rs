//! What a posterior carries from batch to batch, saved and put back to the last bit.
//!
//! The order of the rows is not saved: it is a function of the seed, and as many batches are passed over as were drawn.
//! Nor is what follows from the rest by the same computation: inner products of rows, diagonals, decompositions of
//! Kronecker factors, for which the sums are saved that they were made from.

use super::accumulated::{Accumulated, Decomposed, Family};
use super::{NoiseEstimate, RowRing};
use crate::{Likelihood, ModelError};
use ndarray::{Array3, Array4};
use serde::{Deserialize, Serialize};
use svn_curvature::{AccumulatedSums, LayeredRowsParts};

/// State of a [`Posterior`](super::Posterior) between two batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPosterior {
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
    step: usize,
    newest: usize,
    family: SavedFamily,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum SavedFamily {
    ByLayer(RowRing, LayeredRowsParts),
    WrittenOut(RowRing, Array3<f64>),
    Matrix(RowRing, Vec<Array4<f64>>),
    Diag(AccumulatedSums),
    /// The moving average, and what the factors in use were decomposed from.
    Kfac(AccumulatedSums, Option<AccumulatedSums>),
}

impl Accumulated {
    /// A copy of the state.
    pub fn save(&self) -> Result<SavedCurvature, ModelError> {
        let family = match &self.family {
            Family::ByLayer(ring, rows) => SavedFamily::ByLayer(ring.clone(), rows.0.parts()),
            Family::WrittenOut(ring, rows) => SavedFamily::WrittenOut(ring.clone(), rows.clone()),
            Family::Matrix { ring, batches, .. } => {
                SavedFamily::Matrix(ring.clone(), batches.slots().to_vec())
            }
            Family::Diag { average, .. } => SavedFamily::Diag(average.sums().sums()?),
            Family::Kfac {
                average, latest, ..
            } => {
                let decomposed = latest.as_ref().map(|latest| latest.sums.sums());
                SavedFamily::Kfac(average.sums().sums()?, decomposed.transpose()?)
            }
        };
        Ok(SavedCurvature {
            step: self.step,
            newest: self.newest,
            family,
        })
    }

    /// Put back what [`Self::save`] gave of the same settings.
    pub fn restore(&mut self, saved: SavedCurvature) -> Result<(), ModelError> {
        match (&mut self.family, saved.family) {
            (Family::ByLayer(ring, rows), SavedFamily::ByLayer(saved, parts))
                if ring.fits(&saved) =>
            {
                *ring = saved;
                rows.0.set_parts(parts, ring.written())?;
            }
            (Family::WrittenOut(ring, rows), SavedFamily::WrittenOut(saved, values))
                if ring.fits(&saved) && rows.dim() == values.dim() =>
            {
                (*ring, *rows) = (saved, values);
            }
            (Family::Matrix { ring, batches, .. }, SavedFamily::Matrix(saved, slots))
                if ring.fits(&saved) =>
            {
                *ring = saved;
                batches.set_slots(slots)?;
            }
            (
                Family::Diag {
                    average, latest, ..
                },
                SavedFamily::Diag(sums),
            ) => {
                average.sums_mut().set_sums(&sums)?;
                *latest = Some(average.finish_for(self.shape.rows)?);
            }
            (
                Family::Kfac {
                    average,
                    fan_ins,
                    latest,
                },
                SavedFamily::Kfac(sums, decomposed),
            ) => {
                *latest = match decomposed {
                    None => None,
                    Some(decomposed) => {
                        // The accumulator serves both, one after the other.
                        average.sums_mut().set_sums(&decomposed)?;
                        let (copy, shape) = (average.copy()?, &self.shape);
                        let factors = Decomposed::new(copy, shape.rows, fan_ins, 1.0, shape.shift);
                        Some(factors?)
                    }
                };
                average.sums_mut().set_sums(&sums)?;
            }
            _ => {
                return Err(ModelError::setting(
                    "curvature of the checkpoint",
                    "of another family or size",
                    "that of the settings",
                ));
            }
        }
        (self.step, self.newest) = (saved.step, saved.newest);
        Ok(())
    }
}
