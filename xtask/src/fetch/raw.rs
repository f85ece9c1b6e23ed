//! Reading the layouts of the official files into rows of text cells.

use super::manifest::{Format, Raw};
use super::number::shortest;
use anyhow::{Context, Result, bail};
use calamine::{Data, Reader};
use std::io::{Cursor, Read};

/// One row with its place in the raw file, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub number: usize,
    pub cells: Vec<String>,
}

/// All rows that are not blank, the header included.
pub(super) fn rows(raw: &Raw, bytes: &[u8]) -> Result<Vec<Row>> {
    refuse_web_page(bytes)?;
    let unzipped;
    let bytes = match &raw.member {
        None => bytes,
        Some(name) => {
            unzipped = member(bytes, name)?;
            &unzipped
        }
    };
    let mut rows = match raw.format {
        Format::Whitespace => whitespace(text(bytes)?),
        Format::Delimited => delimited(text(bytes)?, raw.delimiter.context("no delimiter")?)?,
        Format::Arff => arff(text(bytes)?)?,
        Format::Workbook => workbook(bytes, raw.sheet.as_deref())?,
    };
    rows.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
    Ok(rows)
}

/// A server that lost a file likes to send a page that says so.
pub(super) fn refuse_web_page(bytes: &[u8]) -> Result<()> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_ascii_lowercase();
    let start = start.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        bail!("a web page (HTML) instead of data");
    }
    Ok(())
}

fn member(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).context("not a ZIP archive")?;
    let mut names: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .collect();
    names.sort();
    let mut file = match archive.by_name(name) {
        Ok(file) => file,
        Err(zip::result::ZipError::FileNotFound) => {
            bail!(
                "the ZIP archive has no `{name}`; it has: {}",
                names.join(", ")
            )
        }
        Err(error) => return Err(error).with_context(|| format!("cannot unpack `{name}`")),
    };
    let mut content = Vec::new();
    file.read_to_end(&mut content)
        .with_context(|| format!("cannot unpack `{name}`"))?;
    Ok(content)
}

fn text(bytes: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
            + 1;
        anyhow::anyhow!("line {line}: not UTF-8 text")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Cells between blanks; double quotes keep blanks together.
fn whitespace(text: &str) -> Vec<Row> {
    let split = |line: &str| {
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                c if c.is_whitespace() && !quoted => {
                    cells.extend(Some(std::mem::take(&mut cell)).filter(|c| !c.is_empty()))
                }
                c => cell.push(c),
            }
        }
        cells.extend(Some(cell).filter(|c| !c.is_empty()));
        cells
    };
    text.lines()
        .enumerate()
        .map(|(i, line)| Row {
            number: i + 1,
            cells: split(line),
        })
        .collect()
}

fn delimited(text: &str, delimiter: char) -> Result<Vec<Row>> {
    let delimiter = u8::try_from(delimiter).context("the delimiter is not ASCII")?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let number = record
            .position()
            .map_or(0, |position| position.line() as usize);
        rows.push(Row {
            number,
            cells: record.iter().map(str::to_string).collect(),
        });
    }
    Ok(rows)
}

/// The rows after `@data`; `%` starts a comment.
fn arff(text: &str) -> Result<Vec<Row>> {
    let mut lines = text.lines().enumerate();
    if !lines.any(|(_, line)| line.trim().eq_ignore_ascii_case("@data")) {
        bail!("no @data line: not an ARFF file");
    }
    let mut rows = Vec::new();
    for (i, line) in
        lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('%'))
    {
        if line.trim_start().starts_with('{') {
            bail!("line {}: sparse ARFF rows are not supported", i + 1);
        }
        let cells = line
            .split(',')
            .map(|cell| cell.trim().trim_matches(['\'', '"']).to_string())
            .collect();
        rows.push(Row {
            number: i + 1,
            cells,
        });
    }
    Ok(rows)
}

/// XLS, XLSX or ODS, told apart by content.
fn workbook(bytes: &[u8], sheet: Option<&str>) -> Result<Vec<Row>> {
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
