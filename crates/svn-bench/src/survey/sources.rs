//! Where records are: in the folder of the page, else among the results that came with the project.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Source, SurveyError};
use crate::data;
use crate::engine::{read_entries, write_atomically};
use crate::report::{Page, RecordOf, Summary, environment, summarise};

/// File of a measurement, in a folder of its name; shipped ones may be gzip files of that name and `.gz`.
const KEPT: &str = "data.json";

/// What a survey is made from.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Folder of the page, and in it of each study that is run for it.
    pub out: PathBuf,
    /// Folder of results that came with the project.
    pub results: Option<PathBuf>,
    /// Whether measurements are short.
    pub quick: bool,
    /// The commit of the program, where it is known.
    pub commit: Option<String>,
}

/// A study and the commands that make its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Name of the folder of its records.
    pub folder: &'static str,
    /// The whole of it.
    pub whole: &'static str,
    /// What of it takes a minute or two, command by command; none where there is nothing of the kind.
    pub quick: &'static [&'static str],
}

/// The records of a study.
#[derive(Debug)]
pub(super) struct Found<P: Page> {
    /// As they were written.
    pub records: Vec<RecordOf<P>>,
    /// Their means.
    pub summary: Summary<P>,
    /// Where they are from.
    pub source: Source,
}

/// A measurement in its file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept<T> {
    /// Of the program that made it.
    pub commit: Option<String>,
    /// Whether it was made short.
    pub quick: bool,
    /// What was measured.
    pub data: T,
}

impl Sources {
    /// The command of the page.
    pub fn command(&self) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        format!("cargo xtask report{quick} --out {}", self.out.display())
    }

    /// Folders that may hold `name`, the first that has a file of one of these names, and that file.
    fn find(&self, name: &str, files: &[&str]) -> Option<PathBuf> {
        let folders = [Some(&self.out), self.results.as_ref()];
        let folders = folders
            .into_iter()
            .flatten()
            .map(|folder| folder.join(name));
        let mut paths = folders.flat_map(|folder| files.iter().map(move |file| folder.join(file)));
        paths.find(|path| path.is_file())
    }

    /// The records of a study, if there are any.
    pub(super) fn records<P: Page>(&self, run: &Run) -> Result<Option<Found<P>>, SurveyError> {
        let files = ["records.jsonl", "records.jsonl.gz"];
        let Some(path) = self.find(run.folder, &files) else {
            return Ok(None);
        };
        let (records, _) = read_entries::<RecordOf<P>>(&path, P::STUDY)?;
        if records.is_empty() {
            return Ok(None);
        }
        let env = environment(path.parent().unwrap_or(Path::new(".")));
        let command = env.get("command").cloned();
        let summary = summarise::<P>(&records, env)?;
        let mut seeds: Vec<u64> = records.iter().map(|record| record.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let source = Source {
            command: command.unwrap_or_else(|| format!("cargo xtask {}", run.whole)),
            seeds,
            commit: summary.env.get("commit").cloned(),
            file: Some(path.display().to_string()),
        };
        Ok(Some(Found {
            records,
            summary,
            source,
        }))
    }

    /// A measurement that was kept and its file.
    pub(super) fn kept<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<(Kept<T>, PathBuf)>, SurveyError> {
        let Some(path) = self.find(name, &[KEPT, "data.json.gz"]) else {
            return Ok(None);
        };
        let bytes = data::read(&path)?;
        match serde_json::from_slice::<Kept<T>>(&bytes) {
            // A short one is no answer to who asks for the whole.
            Ok(kept) if kept.quick && !self.quick => Ok(None),
            Ok(kept) => Ok(Some((kept, path))),
            Err(source) => Err(SurveyError::Kept { path, source }),
        }
    }

    /// Keep a measurement and say where.
    pub(super) fn keep<T: Serialize>(&self, name: &str, data: &T) -> Result<PathBuf, SurveyError> {
        let folder = self.out.join(name);
        std::fs::create_dir_all(&folder).map_err(|source| SurveyError::Io {
            path: folder.clone(),
            source,
        })?;
        let path = folder.join(KEPT);
        let kept = Kept {
            commit: self.commit.clone(),
            quick: self.quick,
            data,
        };
        write_atomically(&path, (serde_json::to_string(&kept)? + "\n").as_bytes())?;
        Ok(path)
    }
}
