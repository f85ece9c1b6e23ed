//! What can be wrong with a plan, or with the folder it is done in.

use std::path::PathBuf;

use crate::engine::{EngineError, StoreError};

/// Why a sweep could not be planned or done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The plan is no TOML, or not of a plan's tables.
    #[error("{}, line {line}, column {column}: {message}", path.display())]
    Syntax {
        /// The plan.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// 1-based column.
        column: usize,
        /// What the parser said.
        message: String,
    },
    /// A table of the plan says what cannot be.
    #[error("{}, [[runs]] {number}{}: {message}", path.display(), in_table(table))]
    Table {
        /// The plan.
        path: PathBuf,
        /// Which of the tables, from 1.
        number: usize,
        /// The table in it, such as `grid`; empty for itself.
        table: &'static str,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// A study refuses what a table asks for.
    #[error("{}, [[runs]] {number}: {source}", path.display())]
    Study {
        /// The plan.
        path: PathBuf,
        /// Which of the tables, from 1.
        number: usize,
        /// What the study said.
        source: Box<EngineError>,
    },
    /// Arguments that ask for nothing, or for what cannot be.
    #[error("{0}")]
    Arguments(String),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

fn in_table(table: &str) -> String {
    match table {
        "" => String::new(),
        table => format!(", {table}"),
    }
}

impl SweepError {
    /// What the operating system said of a file or folder.
    pub(crate) fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { path, source }
    }

    /// Whether arguments or input are to blame (exit code 2) and not the machine or the program (1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Io { .. } => false,
            Self::Syntax { .. } | Self::Table { .. } | Self::Arguments(_) => true,
            Self::Study { source, .. } => source.is_input(),
            Self::Engine(error) => error.is_input(),
        }
    }
}

impl From<StoreError> for SweepError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}
