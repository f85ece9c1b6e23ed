//! Reading the layouts of the official files into rows of text cells.

use super::manifest::{Format, Raw};
#[cfg(feature = "fetch")]
use super::workbook::rows as workbook;
use crate::archive;
use anyhow::{Context, Result, bail};
use std::io::Cursor;

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

fn member(bytes: &[u8], wanted: &str) -> Result<Vec<u8>> {
    let (mut names, mut content) = (Vec::new(), None);
    archive::for_each_file(Cursor::new(bytes), |name, file| {
        names.push(name.to_string());
        if name == wanted {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)
                .with_context(|| format!("cannot unpack `{name}`"))?;
            content = Some(bytes);
        }
        Ok(())
    })?;
    names.sort();
    content.with_context(|| {
        let names = names.join(", ");
        format!("the ZIP archive has no `{wanted}`; it has: {names}")
    })
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

/// Only in the complete build.
#[cfg(not(feature = "fetch"))]
fn workbook(_: &[u8], _: Option<&str>) -> Result<Vec<Row>> {
    Err(crate::complete::Needed.into())
}
