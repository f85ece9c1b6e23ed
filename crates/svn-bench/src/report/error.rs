//! What can go wrong when a report is written.

use plotters::drawing::DrawingAreaErrorKind;

use crate::engine::StoreError;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] StoreError),
    /// A figure could not be drawn.
    #[error("{name}: {source}")]
    Figure {
        /// Its file.
        name: String,
        /// What the backend said.
        source: DrawingAreaErrorKind<std::io::Error>,
    },
    /// The summary could not be serialised.
    #[error("summary.json: {0}")]
    Json(#[from] serde_json::Error),
    /// Printed numbers, embedded in the program, do not parse.
    #[error("the embedded numbers of the literature: {0}")]
    Printed(serde_json::Error),
}
