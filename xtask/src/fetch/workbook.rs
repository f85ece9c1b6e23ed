//! Workbooks, in the complete build.

use super::number::shortest;
use super::raw::Row;
use anyhow::{Context, Result, bail};
use calamine::{Data, Reader};
use std::io::Cursor;

/// XLS, XLSX or ODS, told apart by content.
pub(super) fn rows(bytes: &[u8], sheet: Option<&str>) -> Result<Vec<Row>> {
    const NOT_ONE: &str = "not an XLS, XLSX or ODS workbook";
    let file = Cursor::new(bytes);
    if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
        return sheet_rows(calamine::Xls::new(file).context(NOT_ONE)?, sheet);
    }
    let archive = zip::ZipArchive::new(file.clone()).context(NOT_ONE)?;
    if archive.index_for_name("mimetype").is_some() {
        sheet_rows(calamine::Ods::new(file).context(NOT_ONE)?, sheet)
    } else {
        sheet_rows(calamine::Xlsx::new(file).context(NOT_ONE)?, sheet)
    }
}

/// The rows of a sheet without the blank cells after their last one.
fn sheet_rows<'a, R>(mut book: R, sheet: Option<&str>) -> Result<Vec<Row>>
where
    R: Reader<Cursor<&'a [u8]>>,
    R::Error: std::error::Error + Send + Sync + 'static,
{
    let names = book.sheet_names();
    let name = match sheet {
        None => names
            .first()
            .cloned()
            .context("a workbook without sheets")?,
        Some(name) if names.iter().any(|other| other == name) => name.to_string(),
        Some(name) => bail!(
            "the workbook has no sheet `{name}`; it has: {}",
            names.join(", ")
        ),
    };
    let range = book
        .worksheet_range(&name)
        .with_context(|| format!("cannot read sheet `{name}`"))?;
    let first = range.start().map_or(0, |(row, _)| row as usize) + 1;
    let mut rows = Vec::new();
    for (i, cells) in range.rows().enumerate() {
        let mut cells: Vec<String> = cells.iter().map(cell_text).collect();
        while cells.last().is_some_and(String::is_empty) {
            cells.pop();
        }
        rows.push(Row {
            number: first + i,
            cells,
        });
    }
    Ok(rows)
}

fn cell_text(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::Float(value) if value.is_finite() => shortest(*value),
        other => other.to_string().trim().to_string(),
    }
}
