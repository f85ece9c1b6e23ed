//! Why a fit ended. (`svn_stein::StopReason` says so of its driver, which knows no epochs.)

use crate::ModelError;

/// Why a [`Fit`](super::Fit) ended. Whatever it was, the best weights until then are kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ending {
    /// All epochs of the settings are done.
    Completed,
    /// The observer of [`fit_from`](super::fit_from) asked for it before the last epoch.
    Observer,
    /// A step or the score on the validation rows failed.
    Failed {
        /// Epochs that were finished before.
        after: usize,
        /// What went wrong.
        error: ModelError,
    },
}
