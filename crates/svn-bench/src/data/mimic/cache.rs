//! Features kept beside the output: `features.csv` and `features.json`, which says what they were made from.
//!
//! The table holds numbers alone: no text, no identifiers, no times. It is used again as long as version, options and every
//! source file, by size and time, are what they were.

use std::path::Path;

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::{DataError, bytes};
use super::{
    Counts, ExtractOptions, Extraction, FeatureTable, Flow, MimicError, Progress, Release,
    SourceStamp, Tables, extract,
};
use crate::files::write_atomically;

/// Version of features and files: another one is another table.
const VERSION: u32 = 1;
/// The last column.
const HOURS: &str = "hours_in_unit";

/// What a table of features was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of features and files.
    pub version: u32,
    /// Which tables.
    pub release: Release,
    /// Whether patients were left out who died in hospital.
    pub without_deaths: bool,
    /// The files.
    pub sources: Vec<SourceStamp>,
    /// SHA-256 of the table of features.
    pub sha256: String,
    /// Which stays were left out.
    pub flow: Flow,
    /// What became of the rows of `chartevents`, `labevents` and `outputevents`.
    pub counts: [Counts; 3],
}

/// Features of a folder, from the cache if it is of the same files. Files of the cache are written whole or not at all.
///
/// # Errors
/// As for [`extract`]; [`DataError::Io`] where the cache cannot be written.
pub fn cached(
    tables: &Tables,
    cache: &Path,
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<(FeatureTable, Manifest), DataError> {
    let sources = tables.stamps()?;
    if let Some((table, manifest)) = kept(cache) {
        let same = manifest.version == VERSION
            && manifest.release == tables.release
            && manifest.without_deaths == options.without_deaths
            && manifest.sources == sources;
        if same {
            return Ok((table, manifest));
        }
    }
    let Extraction {
        table,
        flow,
        counts,
    } = extract(tables, options, progress)?;
    let text = text(&table);
    let manifest = Manifest {
        version: VERSION,
        release: tables.release,
        without_deaths: options.without_deaths,
        sources,
        sha256: hash(&text),
        flow,
        counts,
    };
    std::fs::create_dir_all(cache).map_err(io(cache))?;
    let features = cache.join("features.csv");
    write_atomically(&features, text.as_bytes()).map_err(io(&features))?;
    let path = cache.join("features.json");
    let described = serde_json::to_string_pretty(&manifest);
    let described = described.map_err(|error| MimicError::Cache {
        path: path.clone(),
        message: error.to_string(),
    })?;
    write_atomically(&path, described.as_bytes()).map_err(io(&path))?;
    Ok((table, manifest))
}

/// What is there and whole.
fn kept(cache: &Path) -> Option<(FeatureTable, Manifest)> {
    let described = std::fs::read(cache.join("features.json")).ok()?;
    let manifest: Manifest = serde_json::from_slice(&described).ok()?;
    let text = String::from_utf8(bytes::read(&cache.join("features.csv")).ok()?).ok()?;
    (hash(&text) == manifest.sha256).then_some(())?;
    Some((table(&text)?, manifest))
}

fn hash(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}

/// Numbers in the shortest form that is read as the same bits; nothing for a missing one.
fn text(table: &FeatureTable) -> String {
    let mut text = format!("{},{HOURS}\n", table.names.join(","));
    for (row, hours) in table.x.rows().into_iter().zip(&table.hours) {
        for value in row {
            if !value.is_nan() {
                text.push_str(&value.to_string());
            }
            text.push(',');
        }
        text.push_str(&hours.to_string());
        text.push('\n');
    }
    text
}

fn table(text: &str) -> Option<FeatureTable> {
    let (header, rows) = text.split_once('\n')?;
    let names = header.strip_suffix(HOURS)?.strip_suffix(',')?;
    let names: Vec<String> = names.split(',').map(str::to_owned).collect();
    let (mut x, mut hours) = (Vec::new(), Vec::new());
    for row in rows.lines() {
        let (features, last) = row.rsplit_once(',')?;
        for cell in features.split(',') {
            x.push(if cell.is_empty() {
                f64::NAN
            } else {
                cell.parse().ok()?
            });
        }
        hours.push(last.parse().ok()?);
    }
    Some(FeatureTable {
        x: Array2::from_shape_vec((hours.len(), names.len()), x).ok()?,
        names,
        hours: Array1::from_vec(hours),
    })
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> DataError {
    let path = path.to_owned();
    move |source| DataError::Io { path, source }
}
