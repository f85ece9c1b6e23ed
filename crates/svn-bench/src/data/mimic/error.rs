//! What can be wrong with a folder of MIMIC-IV.

use std::path::PathBuf;

use super::super::DataError;

/// Why stays could not be read. No message holds a cell of a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MimicError {
    /// A table is missing.
    #[error("{}: no {table}.csv or {table}.csv.gz{near}; name the folder that holds hosp/ and icu/ of MIMIC-IV", folder.display())]
    NoTable {
        /// The folder that was searched.
        folder: PathBuf,
        /// Folder and name of the table.
        table: &'static str,
        /// `, did you mean …?`, or nothing.
        near: String,
    },
    /// A column is missing.
    #[error("{}: no column `{column}`{near}; is it the table of MIMIC-IV 2.x or 3.x?", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// `, did you mean …?`, or nothing.
        near: String,
    },
    /// A file could not be read to its end.
    #[error("{source}; read up to line {line}, byte {byte} of its text")]
    Broken {
        /// Lines that were read.
        line: u64,
        /// Bytes that were read, unpacked.
        byte: u64,
        /// What is wrong.
        source: Box<DataError>,
    },
    /// A row that does not end.
    #[error("{}, line {line}: a row of more than {limit} bytes; is a quotation mark not closed?", path.display())]
    LongRow {
        /// The file.
        path: PathBuf,
        /// 1-based line where it starts.
        line: u64,
        /// The longest row that is read.
        limit: usize,
    },
    /// A cell that cannot be read; what it holds is not told.
    #[error("{}, line {line}, column `{column}`: expected {expected}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// The column.
        column: &'static str,
        /// What should be there.
        expected: &'static str,
    },
    /// A key that two rows have.
    #[error("{}, line {line}: the same `{column}` as in line {first}; every row has its own", path.display())]
    Duplicate {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// 1-based line of the first row.
        first: u64,
        /// 1-based line of the second row.
        line: u64,
    },
    /// Nobody is left.
    #[error("{}: none of {stays} stays is left: {rules}", folder.display())]
    EmptyCohort {
        /// The folder.
        folder: PathBuf,
        /// Stays in the table.
        stays: usize,
        /// How many each rule left out.
        rules: String,
    },
    /// A cache that cannot be written or read.
    #[error("{}: {message}; remove the folder to extract the features again", path.display())]
    Cache {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}
