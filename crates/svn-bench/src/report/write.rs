//! Writes `summary.json`, `report.md` and the figures of a folder.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Page, RecordOf, ReportError, Summary, figure, markdown, summarise};
use crate::engine::write_atomically;

/// Write the report on records into a folder and give the summary back.
///
/// # Errors
/// [`ReportError`].
pub fn write<P: Page>(
    folder: &Path,
    records: &[RecordOf<P>],
    env: BTreeMap<String, String>,
) -> Result<Summary<P>, ReportError> {
    let summary = summarise::<P>(records, env)?;
    let mut figures = figure::common::<P>(&summary.results, records)?;
    figures.extend(P::figures(&summary.results)?);
    for figure in &figures {
        write_atomically(&folder.join(&figure.name), figure.svg.as_bytes())?;
    }
    let json = serde_json::to_string_pretty(&summary)? + "\n";
    write_atomically(&folder.join("summary.json"), json.as_bytes())?;
    let report = markdown(&summary, &figures);
    write_atomically(&folder.join("report.md"), report.as_bytes())?;
    Ok(summary)
}

/// The machine, command and commit that the summary of a folder tells of; empty for none.
pub(crate) fn environment(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("summary.json")).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    serde_json::from_value(summary["env"].clone()).unwrap_or_default()
}
