//! What can go wrong when a report is written.

use std::path::PathBuf;

use crate::record::RecordError;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] RecordError),
    /// A figure could not be drawn.
    #[error("{}: {message}", path.display())]
    Figure {
        /// The file.
        path: PathBuf,
        /// What the backend said.
        message: String,
    },
    /// The summary could not be serialised.
    #[error("summary.json: {0}")]
    Json(#[from] serde_json::Error),
    /// The paper's numbers, embedded in the program, do not parse.
    #[error("the embedded numbers of the paper: {0}")]
    Paper(serde_json::Error),
}
