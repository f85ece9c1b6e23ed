//! The files of a folder of MIMIC-IV, official layout or open demo.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::super::{DataError, near};
use super::MimicError;

/// Which tables a folder has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// The credentialed database.
    Full,
    /// The open demo of 100 patients.
    Demo,
    /// The open demo with numeric extracts in `derived/` in place of `chartevents` and `labevents`: rows without stay, without
    /// the time a result was stored and without text.
    DerivedDemo,
    /// Made-up patients.
    Synthetic,
}

/// A file as it was when features were taken from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceStamp {
    /// Folder and name of the table.
    pub table: String,
    /// Size, bytes.
    pub bytes: u64,
    /// When it was last written, seconds since 1970; 0 where the system does not tell.
    pub modified: u64,
}

/// The tables that are read.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The folder.
    pub folder: PathBuf,
    /// What kind of folder it is.
    pub release: Release,
    /// `hosp/patients`.
    pub patients: PathBuf,
    /// `hosp/admissions`.
    pub admissions: PathBuf,
    /// `icu/icustays`.
    pub icustays: PathBuf,
    /// `icu/chartevents`, or the extract.
    pub chartevents: PathBuf,
    /// `hosp/labevents`, or the extract.
    pub labevents: PathBuf,
    /// `icu/outputevents`.
    pub outputevents: PathBuf,
}

impl Tables {
    /// Find the tables, plain or gzip.
    ///
    /// # Errors
    /// [`MimicError::NoTable`], with the nearest name that is there.
    pub fn find(folder: &Path) -> Result<Self, DataError> {
        let derived = ["derived/chartevents_numeric", "derived/labevents_numeric"];
        let [chart, lab] = derived.map(|table| find(folder, table));
        let official = ["icu/chartevents", "hosp/labevents"].map(|table| find(folder, table));
        let derived = official.iter().all(Result::is_err) && chart.is_ok();
        let [chartevents, labevents] = match derived {
            true => [chart, lab],
            false => official,
        };
        let release = match () {
            () if derived => Release::DerivedDemo,
            () if folder.join("demo_subject_id.csv").exists() => Release::Demo,
            () if folder.join(super::synthetic::MARK).exists() => Release::Synthetic,
            () => Release::Full,
        };
        Ok(Self {
            folder: folder.to_owned(),
            release,
            patients: find(folder, "hosp/patients")?,
            admissions: find(folder, "hosp/admissions")?,
            icustays: find(folder, "icu/icustays")?,
            chartevents: chartevents?,
            labevents: labevents?,
            outputevents: find(folder, "icu/outputevents")?,
        })
    }

    /// All files, as they are now.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn stamps(&self) -> Result<Vec<SourceStamp>, DataError> {
        let files = [
            &self.patients,
            &self.admissions,
            &self.icustays,
            &self.chartevents,
            &self.labevents,
            &self.outputevents,
        ];
        files.into_iter().map(|file| self.stamp(file)).collect()
    }

    fn stamp(&self, file: &Path) -> Result<SourceStamp, DataError> {
        let io = |source| DataError::Io {
            path: file.to_owned(),
            source,
        };
        let data = file.metadata().map_err(io)?;
        let modified = data.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let table = file.strip_prefix(&self.folder).unwrap_or(file);
        Ok(SourceStamp {
            table: table.to_string_lossy().into_owned(),
            bytes: data.len(),
            modified: modified.map_or(0, |time| time.as_secs()),
        })
    }
}

fn find(folder: &Path, table: &'static str) -> Result<PathBuf, DataError> {
    let names = ["csv", "csv.gz"].map(|end| folder.join(format!("{table}.{end}")));
    let found = names.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| {
        let error = MimicError::NoTable {
            folder: folder.to_owned(),
            table,
            near: near(table, &there(folder, table)),
        };
        error.into()
    })
}

/// Names of tables beside the one that is missing, comma separated.
fn there(folder: &Path, table: &str) -> String {
    let (part, _) = table.split_once('/').unwrap_or(("", table));
    let entries = std::fs::read_dir(folder.join(part))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        Some(format!("{part}/{}", name.strip_suffix(".csv")?))
    });
    let mut names: Vec<String> = names.filter(|name| name != table).collect();
    names.sort();
    names.join(", ")
}
