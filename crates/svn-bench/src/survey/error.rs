//! Why a survey could not be made.

use std::path::PathBuf;

use crate::data::DataError;
use crate::engine::{EngineError, StoreError};
use crate::report::ReportError;

/// Why a survey, or a part of it, could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurveyError {
    /// A data set could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A study could not be run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A network could not be trained.
    #[error(transparent)]
    Model(#[from] svn_models::ModelError),
    /// A curvature could not be decomposed.
    #[error(transparent)]
    Factor(#[from] svn_linalg::FactorError),
    /// A step could not be measured.
    #[error(transparent)]
    Perf(#[from] crate::perf::PerfError),
    /// A table or figure could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Records could not be read, or the page not written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was kept is not what it should be.
    #[error("{path}: {source}; remove it and it is made again", path = path.display())]
    Kept {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A measurement is not one that can be written down.
    #[error("a measurement that is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A folder cannot be used.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
