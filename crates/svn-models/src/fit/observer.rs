//! Who watches a run, and what there is to see after each epoch.

use std::time::Duration;

use super::run::Run;
use super::{Checkpoint, EpochReport};
use crate::ModelError;
use svn_stein::Flow;

/// Watches a training run: for a progress bar, a log, checkpoints, or to end it.
///
/// A closure is one, and `()` watches nothing:
///
/// ```
/// use svn_models::fit::Epoch;
/// use svn_models::stein::Flow;
/// let mut watch = |epoch: &Epoch<'_>| {
///     println!("{}/{} {:?}", epoch.report().epoch, epoch.epochs(), epoch.report().validation_nll);
///     Ok(if epoch.elapsed().as_secs() < 60 { Flow::Continue } else { Flow::Stop })
/// };
/// # fn takes(_: &mut dyn svn_models::fit::Observer) {}
/// # takes(&mut watch);
/// ```
pub trait Observer {
    /// An epoch is over; [`Flow::Stop`] ends the run.
    ///
    /// # Errors
    /// Ends the run as failed.
    fn epoch(&mut self, epoch: &Epoch<'_>) -> Result<Flow, ModelError>;
}

impl<F: FnMut(&Epoch<'_>) -> Result<Flow, ModelError>> Observer for F {
    fn epoch(&mut self, epoch: &Epoch<'_>) -> Result<Flow, ModelError> {
        self(epoch)
    }
}

impl Observer for () {
    fn epoch(&mut self, _: &Epoch<'_>) -> Result<Flow, ModelError> {
        Ok(Flow::Continue)
    }
}

/// An epoch that was just finished.
#[derive(Debug)]
pub struct Epoch<'a> {
    pub(super) run: &'a dyn Run,
    pub(super) report: &'a EpochReport,
    pub(super) part: Part,
}

impl Epoch<'_> {
    /// What the epoch showed: its number, validation score, health of the kernel, damping.
    pub fn report(&self) -> &EpochReport {
        self.report
    }

    /// Epochs at most, of the whole run.
    pub fn epochs(&self) -> usize {
        self.part.before + self.run.settings().epochs + self.part.after
    }

    /// The best epoch so far and its validation score; none if no score was finite.
    pub fn best(&self) -> Option<(usize, f64)> {
        let best = self.run.best();
        best.map(|(epoch, nll)| (self.part.before + epoch, nll + self.part.units))
    }

    /// Wall time of the epochs so far, validation included, what was watched left out.
    pub fn elapsed(&self) -> Duration {
        self.part.elapsed + self.run.elapsed()
    }

    /// Age of the curvature in steps, see [`Posterior::curvature_age`](crate::posterior::Posterior::curvature_age); none for
    /// methods without.
    pub fn curvature_age(&self) -> Option<usize> {
        self.run.curvature_age()
    }

    /// All that a later run needs to go on from here; none in the second part of a fit of two (the last layer, or the Newton steps after
    /// a warm-up), which is done anew. Nothing is copied unless this is called.
    ///
    /// # Errors
    /// [`ModelError::Curvature`] if libtorch fails.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>, ModelError> {
        match self.part.before {
            0 => self.run.checkpoint(),
            _ => Ok(None),
        }
    }
}

/// Where a fit stands in a run of several, and the units its scores are shown in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part {
    /// Epochs of the fits before.
    pub(crate) before: usize,
    /// Epochs at most of the fits after.
    pub(crate) after: usize,
    /// Time of the fits before.
    pub(crate) elapsed: Duration,
    /// What is added to a validation score, nats.
    pub(crate) units: f64,
}

/// Shows the epochs of a part as those of the whole.
pub(crate) struct Within<'o> {
    pub(crate) observer: &'o mut dyn Observer,
    pub(crate) part: Part,
}

impl Observer for Within<'_> {
    fn epoch(&mut self, epoch: &Epoch<'_>) -> Result<Flow, ModelError> {
        let (inner, outer) = (epoch.part, self.part);
        let report = epoch.report.clone();
        self.observer.epoch(&Epoch {
            run: epoch.run,
            report: &EpochReport {
                epoch: report.epoch + outer.before,
                validation_nll: report.validation_nll.map(|nll| nll + outer.units),
                ..report
            },
            part: Part {
                before: inner.before + outer.before,
                after: inner.after + outer.after,
                elapsed: inner.elapsed + outer.elapsed,
                units: inner.units + outer.units,
            },
        })
    }
}
