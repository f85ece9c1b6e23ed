//! Where training is joined to the benchmark: the one file of this crate that knows who trains.

use crate::experiment::{FoldRunner, RunError};

/// The runner of the `svn` command for `jobs` worker threads.
///
/// # Errors
/// [`RunError::Unsupported`]: this build has no training in it.
pub fn runner(jobs: usize) -> Result<Box<dyn FoldRunner>, RunError> {
    let _ = jobs;
    Err(RunError::Unsupported(
        "this build of `svn` has no training in it".to_owned(),
    ))
}
