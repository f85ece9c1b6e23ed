//! A row of cells, borrowed from where it was read to.

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// 1-based line of the file on which it begins.
    pub line: u64,
    text: &'a str,
    start: usize,
    ends: &'a [usize],
}

impl<'a> Row<'a> {
    /// Cells one after another in `text`, the first from `start` on.
    pub(super) fn new(line: u64, text: &'a str, start: usize, ends: &'a [usize]) -> Self {
        Self {
            line,
            text,
            start,
            ends,
        }
    }

    /// Number of cells, one for each column.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A cell without white space around it; empty behind the last one.
    pub fn cell(&self, column: usize) -> &'a str {
        let start = match column.checked_sub(1) {
            Some(before) => self.ends.get(before).copied(),
            None => Some(self.start),
        };
        let cell = start.zip(self.ends.get(column));
        let cell = cell.and_then(|(start, &end)| self.text.get(start..end));
        trimmed(cell.unwrap_or_default())
    }

    /// All cells, without white space around them.
    pub fn cells(self) -> impl Iterator<Item = &'a str> {
        (0..self.len()).map(move |column| self.cell(column))
    }

    /// Whether all cells are empty.
    pub fn is_blank(&self) -> bool {
        self.cells().all(str::is_empty)
    }
}

/// Most cells have nothing to trim.
fn trimmed(cell: &str) -> &str {
    match cell.as_bytes() {
        [] | [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~'] => cell,
        _ => cell.trim(),
    }
}
