//! What can be wrong with a records file.

use std::path::PathBuf;

/// Why records could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A line that is no record, and not the last one.
    #[error("{}, line {line}: not a record ({message}); remove the line or choose another --out", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// Records of another version of this program.
    #[error("{}, line {line}: schema {found}, this program writes schema {expected}; choose another --out", path.display())]
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

impl RecordError {
    /// Whether the file is to blame, and not the machine.
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Line { .. } | Self::Schema { .. })
    }
}
