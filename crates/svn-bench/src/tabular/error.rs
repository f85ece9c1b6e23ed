//! Why a table could not be fitted, predicted or evaluated.

use std::path::PathBuf;

use svn_models::{ModelError, ModelFileError};

use super::TooFew;
use crate::data::DataError;
use crate::engine::{RunError, StoreError};
use crate::report::ReportError;

/// Why a table could not be fitted, predicted or evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TabularError {
    /// The table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model or its folder.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Training or measuring.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Another process works in the folder, or a file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A figure.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A conformal interval of too few rows.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// What the system says.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// A folder that cannot be fitted into.
    #[error("{} {what}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What it holds, and what to do.
        what: String,
    },
    /// A file of a model that is not what was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The table of a fit that is gone on with is another one.
    #[error("{} has changed since the fit began; begin anew with --overwrite", path.display())]
    Changed {
        /// The table.
        path: PathBuf,
    },
    /// An option that does not go with the model or the file.
    #[error("{0}")]
    Option(String),
}

impl TabularError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Whether other input or other options would help.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Run(_) | Self::Report(_) => false,
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Store(error) => error.is_input(),
            Self::Data(error) => error.is_input(),
            Self::Model(ModelError::File(ModelFileError::Io { source, .. })) => {
                source.kind() == std::io::ErrorKind::NotFound
            }
            Self::Model(error) => !matches!(
                error,
                ModelError::Diverged { .. }
                    | ModelError::Stein(_)
                    | ModelError::Curvature(_)
                    | ModelError::Checkpoint(_)
            ),
            _ => true,
        }
    }
}
