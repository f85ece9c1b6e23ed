//! All rows of a table in memory.

use std::path::{Path, PathBuf};

use super::super::{DataError, bytes};
use super::lines::Bytes;
use super::{Delimiter, Reading, Row, TableReader};

/// A rectangle of trimmed cells, kept as one text.
#[derive(Debug, Clone)]
pub struct Table {
    /// Where it came from, for messages.
    pub path: PathBuf,
    /// Column names, distinct.
    pub columns: Vec<String>,
    /// 1-based line of each row in the file.
    pub lines: Vec<u64>,
    /// What was left out, a sentence each.
    pub notes: Vec<String>,
    /// What stands between cells.
    pub delimiter: Delimiter,
    text: String,
    ends: Vec<usize>,
}

impl Table {
    /// Read a file, plain or gzip; `-` is standard input.
    ///
    /// Blank rows after the data are no data; how many there are is a note.
    ///
    /// # Errors
    /// As for [`TableReader::open`] and [`TableReader::next`]; [`DataError::Empty`] without any row.
    pub fn open(path: &Path, reading: &Reading) -> Result<Self, DataError> {
        Self::new(path, bytes::open(path)?, reading)
    }

    /// As [`open`](Self::open), of content that is there already; `path` is for messages.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn new(path: &Path, content: Bytes, reading: &Reading) -> Result<Self, DataError> {
        let mut reader = TableReader::new(path, content, reading)?;
        let (mut text, mut ends, mut lines) = (String::new(), Vec::new(), Vec::new());
        // Lengths up to the last row that is not blank.
        let mut filled = (0, 0, 0);
        while let Some(row) = reader.next()? {
            let before = text.len();
            for cell in row.cells() {
                text.push_str(cell);
                ends.push(text.len());
            }
            lines.push(row.line);
            if text.len() > before {
                filled = (text.len(), ends.len(), lines.len());
            }
        }
        let mut notes = reader.notes();
        if lines.len() > filled.2 && filled.2 > 0 {
            let rows = lines.len() - filled.2;
            notes.push(format!("{rows} blank row(s) at the end are left out"));
        }
        text.truncate(filled.0);
        ends.truncate(filled.1);
        lines.truncate(filled.2);
        if lines.is_empty() {
            return Err(DataError::Empty {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            path: path.to_owned(),
            columns: reader.columns().to_vec(),
            lines,
            notes,
            delimiter: reader.delimiter(),
            text,
            ends,
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no row; a table that was read has some.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// A row; without cells behind the last one.
    pub fn row(&self, row: usize) -> Row<'_> {
        let width = self.columns.len();
        let first = row * width;
        let start = match first.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => 0,
        };
        let ends = self.ends.get(first..first + width).unwrap_or_default();
        let line = self.lines.get(row).copied().unwrap_or_default();
        Row::new(line, &self.text, start, ends)
    }

    /// A cell; empty outside the table.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        let width = self.columns.len();
        let at = row * width + column;
        if column >= width || at >= self.ends.len() {
            return "";
        }
        // Cells were trimmed when they were kept.
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text.get(start..self.ends[at]).unwrap_or_default()
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// Index of a column.
    ///
    /// # Errors
    /// [`DataError::NoColumn`], which lists the columns there are.
    pub fn column(&self, name: &str) -> Result<usize, DataError> {
        let found = self.columns.iter().position(|column| column == name);
        found.ok_or_else(|| DataError::NoColumn {
            path: self.path.clone(),
            column: name.to_owned(),
            known: self.columns.clone(),
        })
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
