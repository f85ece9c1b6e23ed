//! Cuts a block of CSV into rows and hands on those of wanted items, their needed cells alone.
//!
//! Quotes count where a cell begins with one, as in RFC 4180: inside them commas and line ends are text, and two of them are one.

use memchr::{memchr, memchr2, memrchr};

/// Cells of an event, in the order of [`Cell`].
pub(super) type Cells<'b> = [&'b [u8]; Cell::COUNT];

/// The cells that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Item,
    Subject,
    Time,
    Number,
    Stay,
    Stored,
    Text,
}

impl Cell {
    pub(super) const COUNT: usize = 7;
}

/// Which column is which cell; columns behind the last one that is needed are left out.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    slots: Vec<Option<usize>>,
}

impl Layout {
    /// Of the places of cells.
    pub(super) fn new(places: &[(Cell, usize)]) -> Self {
        let width = places.iter().map(|(_, place)| place + 1).max().unwrap_or(0);
        let slot = |column| {
            let cell = places.iter().find(|(_, place)| *place == column);
            cell.map(|(cell, _)| *cell as usize)
        };
        Self {
            slots: (0..width).map(slot).collect(),
        }
    }
}

/// Rows of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub rows: u64,
    /// Rows that are too short to have all cells.
    pub short: u64,
}

/// Call `each` with the offset and the cells of every row whose item `wanted` knows; cells that the file lacks are empty.
pub(super) fn scan<'b, T>(
    block: &'b [u8],
    layout: &Layout,
    wanted: impl Fn(&[u8]) -> Option<T>,
    mut each: impl FnMut(usize, T, &Cells<'b>),
) -> Tally {
    let mut tally = Tally::default();
    let mut start = 0;
    while start < block.len() {
        let mut cells: Cells<'b> = [&[]; Cell::COUNT];
        let (mut at, mut read, mut item, mut refused) = (start, 0, None, false);
        // Where the row ends, once that is known.
        let mut end = None;
        for slot in &layout.slots {
            let (cell, behind) = cell(block, at);
            read += 1;
            if let Some(place) = slot.and_then(|slot| cells.get_mut(slot)) {
                *place = cell;
                if *slot == Some(Cell::Item as usize) {
                    item = wanted(cell);
                    refused = item.is_none();
                }
            }
            if block.get(behind) != Some(&b',') {
                end = Some(behind);
                break;
            }
            at = behind + 1;
            if refused {
                break;
            }
        }
        let end = end.unwrap_or_else(|| line_end(block, at));
        let empty = trimmed(&block[start..end]).is_empty();
        if !empty {
            tally.rows += 1;
            match item {
                Some(item) if read == layout.slots.len() => each(start, item, &cells),
                // A row of no interest need not be whole.
                None if refused => {}
                _ => tally.short += 1,
            }
        }
        start = end + 1;
    }
    tally
}

/// The end of the last whole row of a block and the line ends up to there; `None` without one.
pub(super) fn whole_rows(block: &[u8]) -> Option<(usize, u64)> {
    if memchr(b'"', block).is_none() {
        let end = memrchr(b'\n', block)? + 1;
        return Some((end, count_lines(&block[..end])));
    }
    let mut end = None;
    let mut start = 0;
    while start < block.len() {
        let behind = line_end(block, start);
        if behind >= block.len() {
            break;
        }
        start = behind + 1;
        end = Some(start);
    }
    end.map(|end| (end, count_lines(&block[..end])))
}

/// Line ends.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Cells of the first row of a text, such as a header.
pub(super) fn cells(row: &[u8]) -> Vec<Vec<u8>> {
    let (mut cells, mut at) = (Vec::new(), 0);
    loop {
        let (text, behind) = cell(row, at);
        cells.push(trimmed(text).to_vec());
        if row.get(behind) != Some(&b',') {
            return cells;
        }
        at = behind + 1;
    }
}

/// The cell that begins here, without its quotes, and the place of the comma or line end behind it.
fn cell(block: &[u8], at: usize) -> (&[u8], usize) {
    let rest = block.get(at..).unwrap_or_default();
    if rest.first() != Some(&b'"') {
        let length = memchr2(b',', b'\n', rest).unwrap_or(rest.len());
        return (trimmed(&rest[..length]), at + length);
    }
    let closed = closing(rest);
    let behind = closed + 1;
    let behind = rest.get(behind..).map_or(rest.len(), |more| {
        behind + memchr2(b',', b'\n', more).unwrap_or(more.len())
    });
    (&rest[1..closed.max(1)], at + behind)
}

/// Place of the quote that closes a cell which begins with one; the length of the text if it is not closed.
fn closing(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match memchr(b'"', text.get(at..).unwrap_or_default()) {
            None => return text.len(),
            Some(found) if text.get(at + found + 1) == Some(&b'"') => at += found + 2,
            Some(found) => return at + found,
        }
    }
}

/// The end of the row, for a place where a cell begins.
fn line_end(block: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = block.get(at..).unwrap_or_default();
        let Some(found) = memchr2(b'\n', b'"', rest) else {
            return block.len();
        };
        if rest[found] == b'\n' {
            return at + found;
        }
        let begins = found + at == from || block[at + found - 1] == b',';
        at += match begins {
            true => found + closing(&rest[found..]).min(rest.len()) + 1,
            false => found + 1,
        };
        at = at.min(block.len());
    }
}

/// Without the carriage return of a line end.
fn trimmed(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\r").unwrap_or(text)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
