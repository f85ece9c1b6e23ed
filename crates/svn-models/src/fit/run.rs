//! The loop of every run: epochs until one of the reasons to end, each shown to the observer.

use std::fmt::Debug;
use std::time::Duration;

use svn_stein::Flow;

use super::{Checkpoint, Ending, Epoch, EpochReport, FitSettings, Observer, Part};
use crate::ModelError;

/// A run that goes on epoch by epoch.
pub(super) trait Run: Debug {
    /// Epochs at most, patience, time limit.
    fn settings(&self) -> &FitSettings;
    /// Every epoch's report so far.
    fn history(&self) -> &[EpochReport];
    /// The best epoch so far and its score.
    fn best(&self) -> Option<(usize, f64)>;
    /// Epochs since the best score.
    fn waited(&self) -> usize;
    /// Wall time of the epochs so far.
    fn elapsed(&self) -> Duration;
    /// Age of the curvature in steps.
    fn curvature_age(&self) -> Option<usize>;
    /// All that a later run needs.
    fn checkpoint(&self) -> Result<Option<Checkpoint>, ModelError>;
    /// One epoch, from 1, and its report.
    fn epoch(&mut self, epoch: usize) -> Result<(), ModelError>;
}

/// Run the epochs that are left; why it ended. An error after a good epoch ends a run and does not lose it.
pub(super) fn drive<R: Run>(
    run: &mut R,
    observer: &mut dyn Observer,
) -> Result<Ending, ModelError> {
    for epoch in run.history().len() + 1..=run.settings().epochs {
        if let Some(early) = early_end(run) {
            return Ok(early);
        }
        match run.epoch(epoch) {
            Ok(()) => {}
            Err(error) if run.best().is_some() => {
                let after = epoch - 1;
                return Ok(Ending::Failed { after, error });
            }
            Err(error) => return Err(error),
        }
        if let Some(report) = run.history().last()
            && observer.epoch(&Epoch {
                run,
                report,
                part: Part::default(),
            })? == Flow::Stop
            && epoch < run.settings().epochs
        {
            return Ok(Ending::Observer);
        }
    }
    Ok(Ending::Completed)
}

/// Whether patience or time is over. There is always a first epoch.
fn early_end(run: &impl Run) -> Option<Ending> {
    let settings = run.settings();
    if run.history().is_empty() {
        None
    } else if settings.patience.is_some_and(|limit| run.waited() >= limit) {
        Some(Ending::Patience)
    } else if settings
        .time_limit
        .is_some_and(|limit| run.elapsed() >= limit)
    {
        Some(Ending::TimeLimit)
    } else {
        None
    }
}
