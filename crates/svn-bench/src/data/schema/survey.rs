//! The cells of a column: where they are, and what they look like one by one.

use std::collections::HashSet;

use super::super::notation::{Notation, Tally, is_missing};
use super::super::{DataError, Delimiter, Table};

/// Distinct numbers above which a few texts among them are no levels.
const DISTINCT_NUMBERS: usize = 20;
/// Some rows of one column.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    pub(super) table: &'a Table,
    pub(super) column: usize,
    pub(super) rows: &'a [usize],
}

impl<'a> Cells<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = &'a str> + 'a {
        let Self {
            table,
            column,
            rows,
        } = self;
        rows.iter().map(move |&row| table.cell(row, column))
    }

    pub(super) fn name(self) -> &'a str {
        self.table
            .columns
            .get(self.column)
            .map_or("", String::as_str)
    }

    /// Line of a cell by its place among the rows.
    pub(super) fn line(self, place: usize) -> u64 {
        self.rows
            .get(place)
            .map_or(0, |&row| self.table.row(row).line)
    }

    pub(super) fn error(self, place: usize, expected: &'static str, found: String) -> DataError {
        DataError::Cell {
            path: self.table.path.clone(),
            line: self.line(place),
            column: self.column + 1,
            name: self.name().to_owned(),
            expected,
            found,
        }
    }

    fn decimal_commas(self) -> bool {
        self.table.delimiter != Delimiter::Byte(b',')
    }
}

/// Cells by what they look like one by one.
pub(super) struct Survey {
    pub(super) tally: Tally,
    /// Empty cells or words for them.
    pub(super) missing: usize,
    pub(super) texts: usize,
    pub(super) first_text: usize,
}

impl Survey {
    pub(super) fn of(cells: Cells<'_>) -> Self {
        let mut survey = Self {
            tally: Tally::new(),
            missing: 0,
            texts: 0,
            first_text: 0,
        };
        for (place, cell) in cells.iter().enumerate() {
            if survey.tally.add(cell) {
                continue;
            }
            if is_missing(cell) {
                survey.missing += 1;
            } else {
                if survey.texts == 0 {
                    survey.first_text = place;
                }
                survey.texts += 1;
            }
        }
        survey
    }

    /// Whether all that is there is numbers, and no codes.
    pub(super) fn is_number(&self) -> bool {
        self.texts == 0 && self.tally.numbers > 0 && !self.is_code()
    }

    /// Whether bare digits are codes: one has leading zeros or too many digits.
    pub(super) fn is_code(&self) -> bool {
        self.tally.is_code()
    }

    /// Whether the texts are slips among numbers rather than levels.
    pub(super) fn has_slips(&self, cells: Cells<'_>) -> bool {
        let (numbers, texts) = (self.tally.numbers, self.texts);
        if texts == 0 || texts > numbers || self.is_code() {
            return false;
        }
        texts <= 2.max((numbers + texts) / 20) || {
            let numbers = cells.iter().filter(|cell| Tally::new().add(cell));
            numbers.collect::<HashSet<_>>().len() > DISTINCT_NUMBERS
        }
    }
}

/// Notation of a column of numbers.
pub(super) fn notation_of(cells: Cells<'_>, survey: &Survey) -> Notation {
    survey.tally.notation(cells.decimal_commas())
}
