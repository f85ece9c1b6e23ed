//! Writes `summary.json`, `report.md` and the figures of a folder.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ReportError, Summary, markdown, summarise};
use crate::plot;
use crate::record::{Record, write_atomically};

/// Write the report on records into a folder and give the summary back.
///
/// # Errors
/// [`ReportError`].
pub fn write(
    folder: &Path,
    records: &[Record],
    env: BTreeMap<String, String>,
) -> Result<Summary, ReportError> {
    let summary = summarise(records, env)?;
    let figures = plot::figures(folder, &summary, records)?;
    let json = serde_json::to_string_pretty(&summary)? + "\n";
    write_atomically(&folder.join("summary.json"), json.as_bytes())?;
    write_atomically(
        &folder.join("report.md"),
        markdown(&summary, &figures).as_bytes(),
    )?;
    Ok(summary)
}
