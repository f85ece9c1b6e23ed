//! Cells to finite numbers, or to an error with line and column, or to what the chosen policy says.

use super::shown::shown;
use super::{DataError, Table, notation};

/// What to do with a cell that is no finite number: `?`, `NA`, empty, `>60`, `inf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CellPolicy {
    /// Refuse the file and name the cell.
    #[default]
    Reject,
    /// Leave the whole row out; counted.
    DropRow,
    /// Keep the row with NaN in a feature, which the scaler replaces by the mean of the *training* rows; counted.
    /// A target is never imputed.
    ImputeMean,
}

/// One cell: a finite number, or a description of what is there instead.
pub(super) fn number(cell: &str) -> Result<f64, String> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) if value.is_nan() => Err(format!("`{}` (missing)", shown(cell))),
        Ok(_) => Err(format!("`{}` (not finite)", shown(cell))),
        Err(_) => Err(describe(cell)),
    }
}

/// Whether a cell holds text that is neither a number nor a marker for a missing value.
pub(super) fn is_text(cell: &str) -> bool {
    number(cell).is_err_and(|found| found.starts_with("the text"))
}

/// What is there instead of a number.
pub(super) fn describe(cell: &str) -> String {
    let short = shown(cell);
    if cell.is_empty() {
        "an empty cell".to_owned()
    } else if notation::is_missing(cell) {
        format!("`{short}` (missing)")
    } else if cell.parse::<f64>().is_ok_and(f64::is_finite) {
        // Where the column is written otherwise, as with `%`.
        format!("the plain number `{short}`")
    } else if in_thousands(cell) && cell.matches(',').count() == 1 && !cell.contains('.') {
        // Whoever follows the advice for the one must not spoil the other.
        format!("`{short}` (a comma: write a point before decimals, and nothing between thousands)")
    } else if in_thousands(cell) {
        format!("`{short}` (commas between thousands? leave them out)")
    } else if cell.replacen(',', ".", 1).parse::<f64>().is_ok() {
        format!("`{short}` (a decimal comma? write a point)")
    } else {
        format!("the text `{short}`")
    }
}

/// Whether commas stand where they would between thousands: `1,234`, `-12,345,678.9`.
fn in_thousands(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let whole = digits.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups
        .next()
        .is_some_and(|group| (1..=3).contains(&group.len()));
    let rest: Vec<&str> = groups.collect();
    first
        && !rest.is_empty()
        && rest.iter().all(|group| group.len() == 3)
        && cell
            .replace(',', "")
            .parse::<f64>()
            .is_ok_and(f64::is_finite)
}

/// The error for a cell of a table.
pub(super) fn cell_error(
    table: &Table,
    row: usize,
    column: usize,
    expected: &'static str,
    found: String,
) -> DataError {
    DataError::Cell {
        path: table.path.clone(),
        line: table.row(row).line,
        column: column + 1,
        name: table.columns.get(column).cloned().unwrap_or_default(),
        expected,
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (cell, value) in [
            ("1", 1.0),
            ("-1.5e-20", -1.5e-20),
            ("+3", 3.0),
            (".5", 0.5),
            ("5.", 5.0),
        ] {
            assert_eq!(number(cell), Ok(value));
        }
    }

    #[test]
    fn everything_else_is_described() {
        for (cell, found) in [
            ("?", "`?` (missing)"),
            ("NA", "`NA` (missing)"),
            ("nan", "`nan` (missing)"),
            ("", "an empty cell"),
            (">60", "the text `>60`"),
            ("3,14", "`3,14` (a decimal comma? write a point)"),
            (
                "1,234",
                "`1,234` (a comma: write a point before decimals, and nothing between thousands)",
            ),
            (
                "1,234.5",
                "`1,234.5` (commas between thousands? leave them out)",
            ),
            (
                "-1,234,567",
                "`-1,234,567` (commas between thousands? leave them out)",
            ),
            ("1234,567", "`1234,567` (a decimal comma? write a point)"),
            ("1,2,3", "the text `1,2,3`"),
            ("inf", "`inf` (not finite)"),
            ("1e400", "`1e400` (not finite)"),
            ("1 000", "the text `1 000`"),
        ] {
            assert_eq!(number(cell), Err(found.to_owned()));
        }
    }
}
