//! What can go wrong in an experiment, and whose fault it is.

use crate::data::DataError;
use crate::record::RecordError;
use crate::report::ReportError;
use crate::split::SplitError;
use svn_models::scaling::ScaleError;

use svn_models::ModelError;

use super::Method;
use super::uci::TunedError;

/// An option outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("--{option} {value}: expected {expected}")]
pub struct SettingsError {
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
) -> SettingsError {
    SettingsError {
        option,
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// Why a [`FoldRunner`](super::FoldRunner) gave up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The settings do not go together; the user's fault, known before anything runs.
    #[error("{0}")]
    Unsupported(String),
    /// A job failed.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
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
    /// A fold could not be scaled.
    #[error("data set `{dataset}`, fold {fold}: {source}")]
    Scale {
        /// Name of the data set.
        dataset: String,
        /// The fold.
        fold: usize,
        /// What is wrong.
        source: ScaleError,
    },
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] SettingsError),
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
    /// Nothing was asked for.
    #[error("{0}")]
    Arguments(String),
    /// The runner refused the settings or could not start.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Records could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The report could not be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl ExperimentError {
    /// Whether arguments or input are to blame (exit code 2) and not the machine or the program (1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Data(DataError::Io { source, .. }) => {
                source.kind() == std::io::ErrorKind::NotFound
            }
            Self::Data(_)
            | Self::Split { .. }
            | Self::Scale { .. }
            | Self::Option(_)
            | Self::Recipe { .. }
            | Self::Tuned(_)
            | Self::Arguments(_) => true,
            Self::Run(error) => matches!(error, RunError::Unsupported(_)),
            Self::Record(error) => error.is_input(),
            Self::Report(_) => false,
        }
    }
}
