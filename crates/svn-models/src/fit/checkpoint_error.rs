//! Why a checkpoint cannot be written, read or gone on from.

use std::path::PathBuf;

/// What is wrong with a checkpoint and where it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("checkpoint {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file does not begin as a checkpoint does.
    #[error("{} is no checkpoint; point to a file written by this program, or remove it to start anew", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// The file is of another version of the format.
    #[error(
        "checkpoint {} has format {found}; this program reads {expected}; go on with the version that wrote it, or remove it to start anew",
        file.display()
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// Its format.
        found: u32,
        /// The format that is read.
        expected: u32,
    },
    /// The file is shorter or longer than it says.
    #[error("checkpoint {} has {found} bytes of {expected}; it was cut off or added to; remove it to start anew", file.display())]
    Length {
        /// The file.
        file: PathBuf,
        /// Bytes of the file.
        found: u64,
        /// Bytes that it should have.
        expected: u64,
    },
    /// The content is not what was written, or cannot be understood.
    #[error("checkpoint {} is damaged: {reason}; remove it to start anew", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What about it.
        reason: String,
    },
    /// The run that wrote the checkpoint had other settings.
    #[error("{checkpoint} was made with {setting} {found}; this run has {expected}")]
    OtherSettings {
        /// The checkpoint, with its file if it was read from one.
        checkpoint: String,
        /// Name of the first setting that differs.
        setting: &'static str,
        /// Its value in the checkpoint.
        found: String,
        /// Its value in this run.
        expected: String,
    },
    /// The run that wrote the checkpoint saw other rows.
    #[error("{checkpoint} was made with other {rows} rows: {found}; this run has {expected}")]
    OtherRows {
        /// The checkpoint, with its file if it was read from one.
        checkpoint: String,
        /// `training` or `validation`.
        rows: &'static str,
        /// Sizes and checksum in the checkpoint.
        found: String,
        /// Sizes and checksum in this run.
        expected: String,
    },
}
