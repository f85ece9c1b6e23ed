//! A finished epoch as an observer of a run sees it.

use super::training::Training;
use super::{Checkpoint, EpochReport};
use crate::ModelError;

/// An epoch that was just finished.
#[derive(Debug)]
pub struct Epoch<'a> {
    pub(super) training: &'a Training<'a>,
    pub(super) report: &'a EpochReport,
}

impl Epoch<'_> {
    /// What the epoch showed.
    pub fn report(&self) -> &EpochReport {
        self.report
    }

    /// All that a later run needs to go on from here. Nothing is copied unless this is called.
    ///
    /// # Errors
    /// [`ModelError::Curvature`] if libtorch fails.
    pub fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        self.training.checkpoint()
    }
}
