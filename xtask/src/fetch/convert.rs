//! Raw rows → common CSV: columns reordered, incomplete rows dropped, labels coded, numbers shortened.

use super::manifest::Dataset;
use super::number::shortest;
use super::raw::{self, Row};
use anyhow::{Result, anyhow, bail};

/// The converted file of a data set, from the bytes of its official file.
///
/// # Errors
/// Row and column of a cell that is not what the manifest says; a number of rows that is not either.
pub(super) fn convert(set: &Dataset, bytes: &[u8]) -> Result<String> {
    let names = set.raw_columns();
    let place = |name: &String| names.iter().position(|other| other == name);
    let order: Vec<usize> = set
        .columns
        .iter()
        .map(place)
        .collect::<Option<_>>()
        .ok_or_else(|| anyhow!("raw.columns lack a column"))?;
    let mut rows = raw::rows(&set.raw, bytes)?;
    if set.raw.header && !rows.is_empty() {
        rows.remove(0);
    }
    let mut text = set.columns.join(",") + "\n";
    let mut count = 0;
    for mut row in rows {
        while row.cells.len() > names.len() && row.cells.last().is_some_and(String::is_empty) {
            row.cells.pop();
        }
        if row.cells.len() != names.len() {
            bail!(
                "row {}: {} cells, expected {}",
                row.number,
                row.cells.len(),
                names.len()
            );
        }
        let incomplete =
            |missing: &String| order.iter().any(|&column| &row.cells[column] == missing);
        if set.raw.missing.as_ref().is_some_and(incomplete) {
            continue;
        }
        let cells = order
            .iter()
            .map(|&column| value(set, &row, column))
            .collect::<Result<Vec<_>>>()?;
        text += &cells.join(",");
        text.push('\n');
        count += 1;
    }
    if count != set.rows {
        bail!("{count} rows, expected {}", set.rows);
    }
    Ok(text)
}

fn value(set: &Dataset, row: &Row, column: usize) -> Result<String> {
    let (cell, name, labels) = (
        &row.cells[column],
        &set.raw_columns()[column],
        &set.raw.labels,
    );
    let place = || format!("row {}, column `{name}`", row.number);
    if !labels.is_empty() && Some(name) == set.columns.last() {
        let known = || labels.keys().cloned().collect::<Vec<_>>().join(", ");
        let class = labels
            .get(cell)
            .ok_or_else(|| anyhow!("{}: label `{cell}`, expected one of {}", place(), known()))?;
        return Ok(class.to_string());
    }
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(shortest(value)),
        _ => bail!("{}: `{cell}` is not a number", place()),
    }
}
