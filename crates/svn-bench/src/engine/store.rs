//! The file behind records and trials: one process at a time, append with fsync, repair, rewrite in canonical order.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svn_models::recipe::{Method, Recipe};

use super::{Configuration, Design, RunId, SCHEMA, StoreError};
use crate::files;

/// A line of a [`Store`]: what came of one run of one configuration.
pub trait Entry: Serialize + DeserializeOwned {
    /// Name of the file.
    const FILE: &'static str;
    /// Data and splits.
    type Design: Design;

    /// What it is a line of.
    fn of(&self) -> Identity<'_, Self::Design>;

    /// Take a hash that was computed anew, after an upgrade.
    fn set_config(&mut self, config: String);
}

/// What a line is of.
#[derive(Debug)]
pub struct Identity<'a, D> {
    /// Version of the format.
    pub schema: u32,
    /// Name of the study.
    pub study: &'a str,
    /// Hash of the configuration.
    pub config: &'a str,
    /// Data and splits.
    pub design: &'a D,
    /// How the particles move.
    pub method: Method,
    /// Resolved settings.
    pub settings: &'a Recipe,
    /// Which run.
    pub run: RunId,
}

impl<D: Design> Identity<'_, D> {
    /// Everything but the run.
    pub fn configuration(&self) -> Configuration<D> {
        Configuration {
            study: self.study.to_owned(),
            design: self.design.clone(),
            method: self.method,
            settings: self.settings.clone(),
        }
    }
}

/// Lines of a file, in memory and on disk. While it is open no other process can open the folder.
#[derive(Debug)]
pub struct Store<E> {
    path: PathBuf,
    file: File,
    length: u64,
    entries: Vec<E>,
    /// Lines that count for nothing, kept as they are.
    aside: Vec<E>,
    done: BTreeSet<(String, RunId)>,
    warnings: Vec<String>,
    /// Released by the system when the process ends, however it does.
    _lock: File,
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema: u64,
}

/// Name of the file that is locked.
const LOCK: &str = ".lock";

impl<E: Entry> Store<E> {
    /// Open or create the file of a study in a folder, which is created too. A last line that was cut off by a crash is
    /// removed from the file: its run is done again.
    ///
    /// # Errors
    /// [`StoreError`]: another process works in the folder, a line inside the file is no record of the study, a newer
    /// schema, what the operating system says.
    pub fn open(folder: &Path, study: &str) -> Result<Self, StoreError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Io { path, source }
        };
        if folder.exists() && !folder.is_dir() {
            let folder = folder.to_owned();
            return Err(StoreError::NoFolder { path: folder });
        }
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let mut warnings = Vec::new();
        let lock = lock(folder, &mut warnings)?;
        let path = folder.join(E::FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(io(&path)(error)),
        };
        let (lines, good) = parse::<E>(&path, study, &bytes)?;
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&path);
        let mut store = Self {
            file: file.map_err(io(&path))?,
            path,
            length: good as u64,
            entries: Vec::new(),
            aside: Vec::new(),
            done: BTreeSet::new(),
            warnings,
            _lock: lock,
        };
        store.sort_out(lines);
        if good < bytes.len() {
            let what = "the last line was cut off by a crash; its run is done again";
            store.warnings.push(format!("{}: {what}", E::FILE));
            store.file.set_len(store.length).map_err(io(&store.path))?;
        } else if bytes.last().is_some_and(|&last| last != b'\n') {
            store.write(b"\n")?;
        }
        Ok(store)
    }

    /// Each run once, and only folds that there are.
    fn sort_out(&mut self, lines: Vec<E>) {
        let sorted = Sorted::new(lines);
        self.done = sorted.entries.iter().map(key).collect();
        self.warnings.extend(sorted.warnings);
        (self.entries, self.aside) = (sorted.entries, sorted.aside);
    }

    /// What was odd about the file, in sentences.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether a run of a configuration is done.
    pub fn contains(&self, config: &str, run: RunId) -> bool {
        self.done.contains(&(config.to_owned(), run))
    }

    /// All entries, in the order they were read and appended.
    pub fn entries(&self) -> &[E] {
        &self.entries
    }

    /// Append one line and wait until it is on disk. A run that is there already is not written again. What could be
    /// written in part only is cut off again, so that the file stays whole.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn append(&mut self, entry: E) -> Result<(), StoreError> {
        if self.done.contains(&key(&entry)) {
            return Ok(());
        }
        let line = line(&self.path, &entry)?;
        self.write(line.as_bytes())?;
        self.done.insert(key(&entry));
        self.entries.push(entry);
        Ok(())
    }

    /// Rewrite the file in canonical order (data set, method, configuration, run), so that its bytes do not depend on
    /// the order in which runs finished. Atomic: a crash leaves the old file.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn finish(&mut self) -> Result<(), StoreError> {
        let order = |a: &E, b: &E| {
            let (a, b) = (a.of(), b.of());
            let names = (a.design.dataset(), a.method, a.config, a.run);
            names.cmp(&(b.design.dataset(), b.method, b.config, b.run))
        };
        self.entries.sort_by(order);
        let lines = self.entries.iter().chain(&self.aside);
        let text = lines
            .map(|entry| line(&self.path, entry))
            .collect::<Result<String, _>>()?;
        write_atomically(&self.path, text.as_bytes())?;
        let file = OpenOptions::new().append(true).open(&self.path);
        self.file = file.map_err(|source| self.io(source))?;
        self.length = text.len() as u64;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let written = self.file.write_all(bytes);
        match written.and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(source) => {
                // A line in pieces would spoil the file for the next call.
                let _ = self.file.set_len(self.length);
                Err(self.io(source))
            }
        }
    }

    fn io(&self, source: std::io::Error) -> StoreError {
        StoreError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

/// Lines sorted out: each run once, and only folds that there are.
struct Sorted<E> {
    entries: Vec<E>,
    aside: Vec<E>,
    warnings: Vec<String>,
}

impl<E: Entry> Sorted<E> {
    fn new(lines: Vec<E>) -> Self {
        let (mut entries, mut aside, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        let mut done = BTreeSet::new();
        let (mut twice, mut impossible) = (0, 0);
        for entry in lines {
            if entry.of().run.fold >= entry.of().design.folds() {
                impossible += 1;
                aside.push(entry);
            } else if done.insert(key(&entry)) {
                entries.push(entry);
            } else {
                twice += 1;
            }
        }
        let file = E::FILE;
        if twice > 0 {
            let text =
                format!("{file}: {twice} runs are in it more than once; the first of each counts");
            warnings.push(text);
        }
        if impossible > 0 {
            let text = format!(
                "{file}: {impossible} lines are of folds that their splits do not have; they count for nothing"
            );
            warnings.push(text);
        }
        Self {
            entries,
            aside,
            warnings,
        }
    }
}

/// The lines of a finished file, plain or gzip, and what is odd about it. Nothing is written or locked.
///
/// # Errors
/// As for [`Store::open`].
pub fn read_entries<E: Entry>(
    path: &Path,
    study: &str,
) -> Result<(Vec<E>, Vec<String>), StoreError> {
    let bytes = crate::data::read(path)?;
    let (lines, _) = parse::<E>(path, study, &bytes)?;
    let sorted = Sorted::new(lines);
    Ok((sorted.entries, sorted.warnings))
}

/// The lock of a folder. Where the file system has none, that is told.
pub(crate) fn lock(folder: &Path, warnings: &mut Vec<String>) -> Result<File, StoreError> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|source| StoreError::Io {
            path: path.clone(),
            source,
        })?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StoreError::InUse {
                path: folder.to_owned(),
            });
        }
        Err(TryLockError::Error(error)) => warnings.push(format!(
            "{}: cannot be locked ({error}); let one process at a time work there",
            folder.display()
        )),
    }
    Ok(file)
}

fn key(entry: &impl Entry) -> (String, RunId) {
    (entry.of().config.to_owned(), entry.of().run)
}

fn line(path: &Path, entry: &impl Entry) -> Result<String, StoreError> {
    let text = serde_json::to_string(entry).map_err(|error| StoreError::Io {
        path: path.to_owned(),
        source: error.into(),
    })?;
    Ok(text + "\n")
}

/// Entries and the number of bytes that hold them; a last line without its end may be torn.
fn parse<E: Entry>(path: &Path, study: &str, bytes: &[u8]) -> Result<(Vec<E>, usize), StoreError> {
    let mut entries = Vec::new();
    let mut good = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        if !line.trim_ascii().is_empty() {
            match parse_entry::<E>(line) {
                Ok(entry) if entry.of().study != study => {
                    return Err(StoreError::OtherStudy {
                        path: path.to_owned(),
                        line: index + 1,
                        found: entry.of().study.to_owned(),
                        expected: study.to_owned(),
                    });
                }
                Ok(entry) if entry.of().schema != SCHEMA => {
                    return Err(StoreError::Schema {
                        path: path.to_owned(),
                        line: index + 1,
                        found: entry.of().schema.into(),
                        expected: SCHEMA,
                    });
                }
                Ok(entry) => entries.push(entry),
                Err(_) if !line.ends_with(b"\n") => break,
                Err(error) => return Err(bad_line(path, study, index + 1, line, &error)),
            }
        }
        good += line.len();
    }
    Ok((entries, good))
}

/// An entry from its line, of older schemas as well.
pub(crate) fn parse_entry<E: Entry>(line: &[u8]) -> Result<E, serde_json::Error> {
    match serde_json::from_slice::<SchemaOnly>(line) {
        Ok(found) if found.schema < u64::from(SCHEMA) => {
            let mut value = serde_json::from_slice(line)?;
            E::Design::upgrade(&mut value);
            value["schema"] = SCHEMA.into();
            let mut entry: E = serde_json::from_value(value)?;
            let config = entry.of().configuration().hash();
            entry.set_config(config);
            Ok(entry)
        }
        _ => serde_json::from_slice(line),
    }
}

fn bad_line(
    path: &Path,
    study: &str,
    number: usize,
    line: &[u8],
    error: &serde_json::Error,
) -> StoreError {
    let path = path.to_owned();
    let only = |name: &str| -> Option<Value> {
        let value: Value = serde_json::from_slice(line).ok()?;
        value.get(name).cloned()
    };
    match (only("schema"), only("study")) {
        (Some(found), _)
            if found
                .as_u64()
                .is_some_and(|found| found > u64::from(SCHEMA)) =>
        {
            StoreError::Schema {
                path,
                line: number,
                found: found.as_u64().unwrap_or_default(),
                expected: SCHEMA,
            }
        }
        (_, Some(Value::String(found))) if found != study => StoreError::OtherStudy {
            path,
            line: number,
            found,
            expected: study.to_owned(),
        },
        _ => StoreError::Line {
            path,
            line: number,
            study: study.to_owned(),
            message: error.to_string(),
        },
    }
}

/// Write a file so that a crash leaves either the old one or the new one, and others never see half of it.
///
/// # Errors
/// [`StoreError::Io`].
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    files::write_atomically(path, bytes).map_err(|source| StoreError::Io {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
