//! What can go wrong while measuring.

use std::path::PathBuf;

use svn_models::ModelError;
use svn_models::stein::{SteinError, TargetError};

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerfError {
    /// A step of a case failed.
    #[error("{case}: step {step}: {source}")]
    Step {
        /// Identifier of the case.
        case: String,
        /// Steps taken before.
        step: u64,
        /// Why.
        source: Box<SteinError>,
    },
    /// A case could not be set up.
    #[error("{case}: {source}")]
    Case {
        /// Identifier of the case.
        case: String,
        /// Why.
        source: Box<ModelError>,
    },
    /// A part of a step, measured alone, failed.
    #[error("{case}: {part}: {source}")]
    Part {
        /// Identifier of the case.
        case: String,
        /// Which part.
        part: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The thread pool of a setting could not be started.
    #[error("{threads} threads: {message}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        message: String,
    },
    /// The process that measures the memory of a case failed.
    #[error("{case}: the process that measures its memory failed: {message}")]
    Child {
        /// Identifier of the case.
        case: String,
        /// Its last words.
        message: String,
    },
    /// An operation count is above its limit.
    #[error("{case}: {count} is {found}, limit {limit}")]
    Limit {
        /// Identifier of the case.
        case: String,
        /// Which count.
        count: &'static str,
        /// What was counted.
        found: f64,
        /// What is allowed.
        limit: f64,
    },
    /// A file could not be read or written.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// Training for the check of parallel folds failed.
    #[error("fold: {0}")]
    Fold(Box<ModelError>),
    /// A figure could not be drawn.
    #[error("figure {name}: {message}")]
    Figure {
        /// Its file name.
        name: String,
        /// Why.
        message: String,
    },
}

impl From<ModelError> for PerfError {
    fn from(error: ModelError) -> Self {
        Self::Fold(Box::new(error))
    }
}

impl PerfError {
    /// Whether arguments or input files are at fault, rather than the machine or the library.
    pub fn is_input(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    pub(super) fn part(case: &str, part: &'static str) -> impl FnOnce(SteinError) -> Self {
        let case = case.to_owned();
        move |source| Self::Part {
            case,
            part,
            source: Box::new(source),
        }
    }

    pub(super) fn target(case: &str, part: &'static str) -> impl FnOnce(TargetError) -> Self {
        let case = case.to_owned();
        move |source| Self::Part {
            case,
            part,
            source: Box::new(source),
        }
    }
}
