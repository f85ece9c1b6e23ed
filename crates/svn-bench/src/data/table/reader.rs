//! A table read row by row, in bounded memory.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use super::super::{DataError, bytes};
use super::dialect::{Delimiter, sniff};
use super::layout::Head;
use super::lines::{Bytes, Lines, decoded};
use super::records::{Records, is_blank};
use super::row::Row;

/// Bytes of the file that are looked at before the first row is read, and more if no row ends in them.
const HEAD: usize = 1 << 18;
const LONGEST_HEAD: usize = 1 << 25;
/// Rows of them that tell a header from data.
const ROWS: usize = 200;

/// Whether the first row holds names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeaderMode {
    /// It does if none of its cells is a number.
    #[default]
    Auto,
    /// It does.
    Present,
    /// It does not; columns are named `column1`, `column2`, …
    Absent,
}

/// How to read a table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Whether the first row holds names.
    pub header: HeaderMode,
    /// What stands between cells; found out if it is not given.
    pub delimiter: Option<Delimiter>,
}

/// A table read row by row.
///
/// Blank lines, comment lines, a title line `sep=;` and a row of units are no rows; a row of separators is one, with empty
/// cells.
pub struct TableReader {
    records: Records,
    columns: Vec<String>,
    delimiter: Delimiter,
    notes: Vec<String>,
    /// Records that begin on this line or before are no data.
    above: u64,
    path: PathBuf,
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader")
            .field("columns", &self.columns)
            .field("delimiter", &self.delimiter)
            .finish_non_exhaustive()
    }
}

impl TableReader {
    /// Open a file, plain or gzip; `-` is standard input. The head of the file tells separator, header and columns.
    ///
    /// # Errors
    /// As for [`open`](super::super::open); [`DataError::Empty`], [`DataError::Title`], [`DataError::DuplicateColumn`] and,
    /// in the head, the errors of [`next`](Self::next).
    pub fn open(path: &Path, reading: &Reading) -> Result<Self, DataError> {
        Self::new(path, bytes::open(path)?, reading)
    }

    /// As [`open`](Self::open), of content that is there already; `path` is for messages.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn new(path: &Path, content: Bytes, reading: &Reading) -> Result<Self, DataError> {
        let (mut raw, wide) = decoded(path, content)?;
        let (head, whole) = read_head(path, &mut raw)?;
        let sample = complete_lines(&head, whole);
        let lines = all_lines(Lines::new(
            path,
            Box::new(Cursor::new(sample.to_vec())),
            wide,
        ))?;
        let hint = lines.first().and_then(|line| separator_hint(line));
        let title_lines = usize::from(hint.is_some());
        let given = reading.delimiter.or(hint);
        let (delimiter, width) = sniff(lines.get(title_lines..).unwrap_or_default(), given);

        let records = |raw: Bytes| Records::new(Lines::new(path, raw, wide), delimiter, width);
        let sample = records(Box::new(Cursor::new(sample.to_vec())));
        let (numbers, rows) = first_rows(sample, title_lines as u64, whole)?;
        if rows.iter().flatten().all(String::is_empty) && whole {
            return Err(DataError::Empty {
                path: path.to_owned(),
            });
        }
        let after_first = numbers.first().and_then(|&line| lines.get(line as usize));
        let head_rows = Head {
            gap: after_first.is_some_and(|line| is_blank(line, delimiter)),
            lines: numbers,
            rows,
            width,
        };
        let layout = head_rows.layout(path, reading.header)?;
        let mut notes = layout.notes;
        if hint.is_some() {
            notes.insert(
                0,
                "line 1 tells Excel the separator and is left out".to_owned(),
            );
        }
        Ok(Self {
            records: records(Box::new(Cursor::new(head).chain(raw))),
            columns: layout.columns,
            delimiter,
            notes,
            above: layout.above.max(title_lines as u64),
            path: path.to_owned(),
        })
    }

    /// Names of the columns, distinct.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What stands between cells.
    pub fn delimiter(&self) -> Delimiter {
        self.delimiter
    }

    /// What was left out so far, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        match self.records.comments {
            0 => {}
            1 => notes.push("1 comment line is left out".to_owned()),
            lines => notes.push(format!("{lines} comment lines are left out")),
        }
        notes
    }

    /// The next row, or `None` behind the last one.
    ///
    /// # Errors
    /// [`DataError::Ragged`], [`DataError::OpenQuote`], [`DataError::SwallowedRows`], [`DataError::Nul`],
    /// [`DataError::Encoding`], [`DataError::LongLine`]; [`DataError::Io`], [`DataError::Gzip`], [`DataError::AfterGzip`].
    #[allow(
        clippy::should_implement_trait,
        reason = "a row is borrowed from the reader, which an iterator cannot say"
    )]
    pub fn next(&mut self) -> Result<Option<Row<'_>>, DataError> {
        let line = loop {
            match self.records.next()? {
                Some(line) if line <= self.above => {}
                Some(line) => break line,
                None => return Ok(None),
            }
        };
        let width = self.columns.len();
        let (text, ends) = self.records.cells();
        let ragged = || DataError::Ragged {
            path: self.path.clone(),
            line,
            expected: width,
            found: ends.len(),
        };
        let used = ends.get(..width).ok_or_else(ragged)?;
        if ends.len() > width {
            let rest = text.get(used.last().copied().unwrap_or_default()..);
            if rest.is_some_and(|rest| !rest.trim().is_empty()) {
                return Err(ragged());
            }
        }
        Ok(Some(Row::new(line, text, 0, used)))
    }
}

/// Bytes from the start on that hold two lines or more if they are not all of the file, and whether they are.
fn read_head(path: &Path, raw: &mut Bytes) -> Result<(Vec<u8>, bool), DataError> {
    let mut head = Vec::new();
    loop {
        let before = head.len();
        raw.by_ref()
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|error| DataError::from_read(path, error))?;
        if head.len() - before < HEAD {
            return Ok((head, true));
        }
        let ends = head.iter().filter(|&&byte| byte == b'\n' || byte == b'\r');
        if ends.take(4).count() == 4 || head.len() >= LONGEST_HEAD {
            return Ok((head, false));
        }
    }
}

/// Without the line that the end of the head cuts off.
fn complete_lines(head: &[u8], whole: bool) -> &[u8] {
    let end = match whole {
        true => None,
        false => head
            .iter()
            .rposition(|&byte| byte == b'\n' || byte == b'\r'),
    };
    end.and_then(|end| head.get(..=end)).unwrap_or(head)
}

fn all_lines(mut lines: Lines) -> Result<Vec<Vec<u8>>, DataError> {
    let (mut line, mut all) = (Vec::new(), Vec::new());
    while lines.next(&mut line)?.is_some() {
        all.push(line.clone());
    }
    Ok(all)
}

/// Lines and trimmed cells of the first records after `above`.
fn first_rows(
    mut records: Records,
    above: u64,
    whole: bool,
) -> Result<(Vec<u64>, Vec<Vec<String>>), DataError> {
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    while rows.len() < ROWS {
        let line = match records.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            // Where the head ends inside a quote, the rest is read later.
            Err(DataError::OpenQuote { .. }) if !whole && !rows.is_empty() => break,
            Err(error) => return Err(error),
        };
        if line > above {
            let (text, ends) = records.cells();
            let row = Row::new(line, text, 0, ends);
            lines.push(line);
            rows.push(row.cells().map(str::to_owned).collect());
        }
    }
    Ok((lines, rows))
}

/// The separator of `sep=;`, as Excel writes and reads it.
fn separator_hint(line: &[u8]) -> Option<Delimiter> {
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    match line
        .strip_prefix(b"sep=")
        .or_else(|| line.strip_prefix(b"SEP="))?
    {
        [byte] | [byte, b'"' | b'\r'] if !byte.is_ascii_alphanumeric() => {
            Some(Delimiter::Byte(*byte))
        }
        // The line may have been written as a row of the table, with its separators.
        [byte, rest @ ..] if rest.iter().all(|other| other == byte || *other == b'"') => {
            Some(Delimiter::Byte(*byte))
        }
        _ => None,
    }
}
