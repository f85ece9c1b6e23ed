//! What can go wrong while measuring.

use std::error::Error;
use std::path::{Path, PathBuf};

type Source = Box<dyn Error + Send + Sync>;

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerfError {
    /// A case could not be set up, stepped or replayed.
    #[error("{case}: {part}: {source}")]
    Case {
        /// Its name.
        case: String,
        /// Which part of its measurement.
        part: &'static str,
        /// What is wrong.
        source: Source,
    },
    /// The thread pool of a setting could not be started.
    #[error("{threads} threads: {source}")]
    Threads {
        /// How many.
        threads: usize,
        /// What is wrong.
        source: rayon::ThreadPoolBuildError,
    },
    /// An operation count is above its limit.
    #[error("{case}: {count} is {found}, limit {limit}")]
    Limit {
        /// The case.
        case: String,
        /// What was counted.
        count: &'static str,
        /// The count.
        found: f64,
        /// Its limit.
        limit: f64,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Source,
    },
    /// Standard output takes no more.
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
}

impl PerfError {
    /// Whether arguments or input files are at fault, rather than the machine or the library.
    pub(super) fn is_input(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Names the case and the part of its measurement.
    pub(super) fn case<E: Into<Source>>(case: &str, part: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Case {
            case: case.to_owned(),
            part,
            source: source.into(),
        }
    }

    /// Names the file.
    pub(super) fn file(path: &Path, source: impl Into<Source>) -> Self {
        Self::File {
            path: path.to_owned(),
            source: source.into(),
        }
    }
}
