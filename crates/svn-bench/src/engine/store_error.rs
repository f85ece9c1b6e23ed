//! What can be wrong with a file of records.

use std::path::PathBuf;

use crate::data::DataError;

/// Why records could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Bytes that hold no records.
    #[error(transparent)]
    Content(DataError),
    /// The folder is a file.
    #[error("{} is a file; --out takes a folder", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// Another process has the folder open.
    #[error("{} is in use by another process; wait for it, or choose another --out", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A line that is no record, and not the last one.
    #[error("{}, line {line}: not a record of bench-{study} ({message}); choose another --out, or mend the line", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// Name of the study.
        study: String,
        /// What the parser said.
        message: String,
    },
    /// Records of another study.
    #[error("{}, line {line}: a record of bench-{found}, not of bench-{expected}; choose another --out", path.display())]
    OtherStudy {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// The file's.
        found: String,
        /// The one that was asked for.
        expected: String,
    },
    /// Records of a later version of this program.
    #[error("{}, line {line}: schema {found}, this program reads up to {expected}; choose another --out", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// The file's.
        found: u64,
        /// This program's.
        expected: u32,
    },
}

impl StoreError {
    /// Whether the file or the folder is to blame, and not the machine.
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }
}

impl From<DataError> for StoreError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Io { path, source } => Self::Io { path, source },
            other => Self::Content(other),
        }
    }
}
