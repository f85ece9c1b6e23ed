//! Why a fit ended. (`svn_stein::StopReason` says so of its driver, which knows no epochs.)

use crate::ModelError;

/// Why a [`Fit`](super::Fit) ended. Whatever it was, the best weights until then are kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ending {
    /// All epochs of the settings are done.
    Completed,
    /// The [`Observer`](super::Observer) asked for it before the last epoch.
    Observer,
    /// So many epochs had no better validation score as the settings allow.
    Patience,
    /// The time of the settings was over.
    TimeLimit,
    /// A step or the score on the validation rows failed.
    Failed {
        /// Epochs that were finished before.
        after: usize,
        /// What went wrong.
        error: ModelError,
    },
}
