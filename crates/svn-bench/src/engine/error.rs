//! What can go wrong in a study, and whose fault it is.

use std::path::PathBuf;

use svn_models::ModelError;
use svn_models::recipe::Method;
use svn_models::scaling::ScaleError;

use super::{RunId, StoreError, TunedError};
use crate::data::DataError;
use crate::split::SplitError;

/// An option outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("--{option} {value}: expected {expected}")]
pub struct OptionError {
    /// The option's long name.
    pub option: &'static str,
    /// The value that was given.
    pub value: String,
    /// The range.
    pub expected: String,
}

/// An option whose value is out of its range.
pub(crate) fn out_of_range(
    option: &'static str,
    value: impl std::fmt::Display,
    expected: &str,
) -> OptionError {
    OptionError {
        option,
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// Why a [`Trainer`](super::Trainer) gave up, or a run was lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The settings do not go together; the user's fault, known before anything runs.
    #[error("{0}")]
    Unsupported(String),
    /// A run failed.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

impl RunError {
    /// Of any error.
    pub fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// Why a study could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A data set could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A data set could not be split.
    #[error("data set `{dataset}`: {source}")]
    Split {
        /// Name of the data set.
        dataset: String,
        /// What is wrong.
        source: SplitError,
    },
    /// A fold has nothing to learn.
    #[error("data set `{dataset}`, fold {fold} of seed {seed}: {source}", fold = run.fold + 1, seed = run.seed)]
    Fold {
        /// Name of the data set.
        dataset: String,
        /// Which.
        run: RunId,
        /// What is wrong.
        source: ScaleError,
    },
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// Training settings do not go together, or with the data.
    #[error("{dataset}, {method}: {source}")]
    Recipe {
        /// Name of the data set.
        dataset: String,
        /// How the particles move.
        method: Method,
        /// What is wrong.
        source: Box<ModelError>,
    },
    /// Tuned settings could not be used.
    #[error(transparent)]
    Tuned(#[from] TunedError),
    /// Arguments that ask for nothing, or for what cannot be.
    #[error("{0}")]
    Arguments(String),
    /// The trainer refused the settings or could not start.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Records could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl EngineError {
    /// Whether arguments or input are to blame (exit code 2) and not the machine or the program (1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Data(error) => error.is_input(),
            Self::Split { .. }
            | Self::Fold { .. }
            | Self::Option(_)
            | Self::Recipe { .. }
            | Self::Tuned(_)
            | Self::Arguments(_) => true,
            Self::Run(error) => matches!(error, RunError::Unsupported(_)),
            Self::Store(error) => error.is_input(),
            Self::Io { .. } => false,
        }
    }
}
