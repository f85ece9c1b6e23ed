//! Writes `summary.json`, `report.md` and the figures of a folder.

use std::collections::BTreeMap;
use std::path::Path;

use super::{VisionSummary, markdown, summarise};
use crate::experiment::vision::VisionRecord;
use crate::plot;
use crate::record::write_atomically;
use crate::report::ReportError;

/// Write the report on records into a folder and give the summary back.
///
/// # Errors
/// [`ReportError`].
pub fn write(
    folder: &Path,
    records: &[VisionRecord],
    env: BTreeMap<String, String>,
) -> Result<VisionSummary, ReportError> {
    let summary = summarise(records, env)?;
    let figures = plot::vision::figures(folder, &summary)?;
    let json = serde_json::to_string_pretty(&summary)? + "\n";
    write_atomically(&folder.join("summary.json"), json.as_bytes())?;
    let report = markdown(&summary, &figures);
    write_atomically(&folder.join("report.md"), report.as_bytes())?;
    Ok(summary)
}
