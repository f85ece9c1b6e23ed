//! The state of a run on disk: written now and then, read when it is gone on with.

use std::path::Path;
use std::time::{Duration, Instant};

use svn_models::ModelError;
use svn_models::fit::{Checkpoint, Epoch};

/// A checkpoint is written when so much time has gone since the last one: a killed run loses no more.
const EVERY: Duration = Duration::from_secs(1);

/// Writes the checkpoints of a run.
#[derive(Debug)]
pub(crate) struct Checkpoints<'a> {
    path: &'a Path,
    last: Instant,
}

impl<'a> Checkpoints<'a> {
    /// To this file.
    pub(crate) fn new(path: &'a Path) -> Self {
        let last = Instant::now();
        Self { path, last }
    }

    /// Write one if it is time.
    ///
    /// # Errors
    /// [`ModelError::Checkpoint`]; the one before is still whole then.
    pub(crate) fn keep(&mut self, epoch: &Epoch<'_>) -> Result<(), ModelError> {
        if self.last.elapsed() >= EVERY
            && let Some(checkpoint) = epoch.checkpoint()?
        {
            checkpoint.write(self.path)?;
            self.last = Instant::now();
        }
        Ok(())
    }
}

/// The state of an earlier call, if there is one; one that cannot be used is told and done without.
pub(crate) fn read(path: &Path, warn: &dyn Fn(&str)) -> Option<Checkpoint> {
    if !path.exists() {
        return None;
    }
    match Checkpoint::read(path) {
        Ok(checkpoint) => Some(checkpoint),
        Err(error) => {
            warn(&format!("{error}; the run starts anew"));
            None
        }
    }
}
