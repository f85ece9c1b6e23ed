//! What the first rows are: a title, the header, units, data; and how many columns are used.

use std::path::Path;

use super::super::{DataError, notation};
use super::reader::HeaderMode;

/// Equal words that make a second header row.
const EQUAL_WORDS: usize = 3;

/// The first rows of a file.
pub(super) struct Head {
    /// Lines on which they begin.
    pub(super) lines: Vec<u64>,
    /// Their trimmed cells.
    pub(super) rows: Vec<Vec<String>>,
    /// Whether a blank line follows the first row.
    pub(super) gap: bool,
    /// Cells of most lines.
    pub(super) width: usize,
}

/// What was found out.
pub(super) struct Layout {
    /// Names, distinct.
    pub(super) columns: Vec<String>,
    /// Records that begin on this line or before are no data.
    pub(super) above: u64,
    /// What is said of it.
    pub(super) notes: Vec<String>,
}

impl Head {
    /// Tell names from data.
    ///
    /// # Errors
    /// [`DataError::Title`], [`DataError::DuplicateColumn`].
    pub(super) fn layout(&self, path: &Path, mode: HeaderMode) -> Result<Layout, DataError> {
        let (first, below) = match self.rows.split_first() {
            Some((first, below)) => (first.as_slice(), below),
            None => (&[][..], &[][..]),
        };
        let named = match mode {
            HeaderMode::Auto => is_words(first),
            HeaderMode::Present => true,
            HeaderMode::Absent => false,
        };
        if named {
            self.refuse_title(path, first, below)?;
        }
        let width = used_width(first, below);
        let mut layout = Layout {
            columns: columns(path, first, width, named)?,
            above: 0,
            notes: Vec::new(),
        };
        let Some(&line) = self.lines.first().filter(|_| named) else {
            return Ok(layout);
        };
        layout.above = line;
        if let (Some((second, data)), Some(&line)) = (below.split_first(), self.lines.get(1))
            && is_units(second, data)
        {
            layout.above = line;
            let what = "holds units or a second header and is left out";
            layout.notes.push(format!("line {line} {what}"));
        }
        Ok(layout)
    }

    fn refuse_title(
        &self,
        path: &Path,
        first: &[String],
        below: &[Vec<String>],
    ) -> Result<(), DataError> {
        let filled = first.iter().filter(|cell| !cell.is_empty()).count();
        let alone = filled == 1 && self.width > 1 && below.iter().any(|row| row.len() > 1);
        let [second, third, ..] = below else {
            return Ok(());
        };
        let names = is_words(second) && !second.iter().any(|cell| notation::is_missing(cell));
        let header_below = names && !is_words(third);
        if alone && (header_below || self.gap) || self.gap && header_below {
            return Err(DataError::Title {
                path: path.to_owned(),
                line: self.lines.first().copied().unwrap_or(1),
                header: self.lines.get(1).copied().unwrap_or(2),
            });
        }
        Ok(())
    }
}

/// No cell is a number, and not all are empty.
fn is_words(row: &[String]) -> bool {
    row.iter().all(|cell| !notation::is_number(cell)) && row.iter().any(|cell| !cell.is_empty())
}

/// Columns up to the last one that the first row (a header or data) fills, or that all rows fill.
fn used_width(first: &[String], below: &[Vec<String>]) -> usize {
    let filled = |row: &[String]| {
        let last = row.iter().rposition(|cell| !cell.is_empty());
        last.map_or(0, |last| last + 1)
    };
    // A header that leaves the last names out still has its data kept: they get generic names.
    let blank = |row: &&Vec<String>| row.iter().any(|cell| !cell.is_empty());
    let all = below.iter().filter(blank).map(|row| filled(row)).min();
    filled(first).max(all.unwrap_or(0).min(first.len()))
}

fn columns(
    path: &Path,
    first: &[String],
    width: usize,
    named: bool,
) -> Result<Vec<String>, DataError> {
    let mut seen = std::collections::HashSet::new();
    let mut columns = Vec::with_capacity(width);
    for index in 0..width {
        let name = first.get(index).filter(|name| named && !name.is_empty());
        let name = name
            .cloned()
            .unwrap_or_else(|| format!("column{}", index + 1));
        if !seen.insert(name.clone()) {
            return Err(DataError::DuplicateColumn {
                path: path.to_owned(),
                column: name,
            });
        }
        columns.push(name);
    }
    Ok(columns)
}

/// Words above two columns of numbers or more; or nothing above numbers, and one word in the other columns that is in no row
/// below.
fn is_units(second: &[String], data: &[Vec<String>]) -> bool {
    if !is_words(second) || data.is_empty() {
        return false;
    }
    let mut above_numbers = 0;
    let mut bare = 0;
    for (index, cell) in second.iter().enumerate() {
        let below = data.iter().filter_map(|row| row.get(index));
        let mut below = below.filter(|cell| !notation::is_missing(cell)).peekable();
        if below.peek().is_some() && below.all(|cell| notation::is_number(cell)) {
            let word = !notation::is_missing(cell);
            above_numbers += usize::from(word);
            bare += usize::from(!word);
        }
    }
    let mut words = second.iter().filter(|cell| !cell.is_empty());
    let word = words.next();
    let repeated = bare > 0
        && words.clone().count() + 1 >= EQUAL_WORDS
        && words.all(|other| Some(other) == word)
        && !data.iter().flatten().any(|cell| Some(cell) == word);
    above_numbers >= 2 && bare == 0 || repeated
}
