//! The file behind the records: append with fsync, repair a torn last line, rewrite in canonical order.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Record, RecordError, SCHEMA};
use crate::experiment::Method;

/// A line of a [`Store`]: what came of one configuration on one fold.
pub trait Entry: Serialize + DeserializeOwned {
    /// Name of the file.
    const FILE: &'static str;

    /// Version of the format.
    fn schema(&self) -> u32;

    /// Name of the data set.
    fn dataset(&self) -> &str;

    /// How the particles move.
    fn method(&self) -> Method;

    /// Hash of the configuration.
    fn config(&self) -> &str;

    /// Index of the fold.
    fn fold(&self) -> usize;

    /// Bring the object of a line of the schema before this one to what it would be now, settings apart.
    fn upgrade(_line: &mut Value) {}

    /// Compute the hash anew, after an upgrade.
    fn rehash(&mut self);
}

impl Entry for Record {
    const FILE: &'static str = "records.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }

    fn dataset(&self) -> &str {
        &self.dataset
    }

    fn method(&self) -> Method {
        self.method
    }

    fn config(&self) -> &str {
        &self.config
    }

    fn fold(&self) -> usize {
        self.fold
    }

    fn rehash(&mut self) {
        self.config = self.configuration().hash();
    }
}

/// Records of an `--out` folder.
pub type RecordStore = Store<Record>;

/// Lines of a file, in memory and on disk.
#[derive(Debug)]
pub struct Store<E> {
    path: PathBuf,
    file: File,
    entries: Vec<E>,
    done: BTreeSet<(String, usize)>,
    torn: bool,
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema: u64,
}

impl<E: Entry> Store<E> {
    /// Open or create the file in a folder, which is created too. A last line that was cut off by a crash is
    /// removed from the file: its run is done again.
    ///
    /// # Errors
    /// [`RecordError::Line`] for a line inside the file that is no record; [`RecordError::Schema`]; [`RecordError::Io`].
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| RecordError::Io { path, source }
        };
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let path = folder.join(E::FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(io(&path)(error)),
        };
        let (entries, good) = parse::<E>(&path, &bytes)?;
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(io(&path))?;
        let mut store = Self {
            done: entries.iter().map(key).collect(),
            torn: good < bytes.len(),
            path,
            file,
            entries,
        };
        if store.torn {
            store.file.set_len(good as u64).map_err(io(&store.path))?;
        } else if bytes.last().is_some_and(|&last| last != b'\n') {
            store.write(b"\n")?;
        }
        Ok(store)
    }

    /// Whether a torn last line was removed.
    pub fn was_torn(&self) -> bool {
        self.torn
    }

    /// Whether the run of this configuration and fold is done.
    pub fn contains(&self, config: &str, fold: usize) -> bool {
        self.done.contains(&(config.to_owned(), fold))
    }

    /// All entries, in the order they were read and appended.
    pub fn entries(&self) -> &[E] {
        &self.entries
    }

    /// Append one line and wait until it is on disk. A run that is there already is not written again.
    ///
    /// # Errors
    /// [`RecordError::Io`].
    pub fn append(&mut self, entry: E) -> Result<(), RecordError> {
        if !self.done.insert(key(&entry)) {
            return Ok(());
        }
        let line = line(&self.path, &entry)?;
        self.write(line.as_bytes())?;
        self.entries.push(entry);
        Ok(())
    }

    /// Rewrite the file in canonical order (data set, method, configuration, fold), so that its bytes do not depend
    /// on the order in which runs finished. Atomic: a crash leaves the old file.
    ///
    /// # Errors
    /// [`RecordError::Io`].
    pub fn finish(&mut self) -> Result<(), RecordError> {
        self.entries.sort_by(|a, b| order(a).cmp(&order(b)));
        let text = self
            .entries
            .iter()
            .map(|entry| line(&self.path, entry))
            .collect::<Result<String, _>>()?;
        write_atomically(&self.path, text.as_bytes())?;
        self.file = OpenOptions::new()
            .append(true)
            .open(&self.path)
            .map_err(|source| self.io(source))?;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data());
        written.map_err(|source| self.io(source))
    }

    fn io(&self, source: std::io::Error) -> RecordError {
        RecordError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

fn key(entry: &impl Entry) -> (String, usize) {
    (entry.config().to_owned(), entry.fold())
}

fn order(entry: &impl Entry) -> (&str, Method, &str, usize) {
    (
        entry.dataset(),
        entry.method(),
        entry.config(),
        entry.fold(),
    )
}

fn line(path: &Path, entry: &impl Entry) -> Result<String, RecordError> {
    let text = serde_json::to_string(entry).map_err(|error| RecordError::Io {
        path: path.to_owned(),
        source: error.into(),
    })?;
    Ok(text + "\n")
}

/// Entries and the number of bytes that hold them; a last line without its end may be torn.
fn parse<E: Entry>(path: &Path, bytes: &[u8]) -> Result<(Vec<E>, usize), RecordError> {
    let mut entries = Vec::new();
    let mut good = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        if !line.trim_ascii().is_empty() {
            match read::<E>(line) {
                Ok(entry) if entry.schema() == SCHEMA => entries.push(entry),
                Ok(entry) => return Err(schema(path, index + 1, u64::from(entry.schema()))),
                Err(_) if !line.ends_with(b"\n") => break,
                Err(error) => return Err(bad_line(path, index + 1, line, &error)),
            }
        }
        good += line.len();
    }
    Ok((entries, good))
}

/// An entry, of the schema before this one as well.
fn read<E: Entry>(line: &[u8]) -> Result<E, serde_json::Error> {
    match serde_json::from_slice::<SchemaOnly>(line) {
        Ok(found) if found.schema == 1 => {
            let mut value = serde_json::from_slice(line)?;
            E::upgrade(&mut value);
            upgrade_settings(&mut value);
            let mut entry: E = serde_json::from_value(value)?;
            entry.rehash();
            Ok(entry)
        }
        _ => serde_json::from_slice(line),
    }
}

/// Schema 1 had settings that were not used as null, and one step size for all steps of a perceptron, whose activation and
/// root it did not name.
fn upgrade_settings(line: &mut Value) {
    line["schema"] = SCHEMA.into();
    let nested = line.get("configuration").is_some();
    let parts = if nested {
        &mut line["configuration"]
    } else {
        line
    };
    let method: Option<Method> = serde_json::from_value(parts["method"].clone()).ok();
    let Some(settings) = parts["settings"].as_object_mut() else {
        return;
    };
    settings.retain(|_, value| !value.is_null());
    if nested {
        return;
    }
    settings.insert("activation".to_owned(), "relu".into());
    if settings.contains_key("hessian") {
        settings.insert("root".to_owned(), "exact".into());
    }
    if method.is_some_and(Method::is_newton)
        && let Some(lr) = settings.remove("lr")
    {
        settings.insert("newton_lr".to_owned(), lr);
    }
    if method == Some(Method::LlSvn) {
        settings.insert("lr".to_owned(), 0.03.into());
        settings.insert("ll_mode".to_owned(), "joint".into());
    }
}

fn bad_line(path: &Path, number: usize, line: &[u8], error: &serde_json::Error) -> RecordError {
    match serde_json::from_slice::<SchemaOnly>(line) {
        Ok(found) if found.schema != u64::from(SCHEMA) => schema(path, number, found.schema),
        _ => RecordError::Line {
            path: path.to_owned(),
            line: number,
            message: error.to_string(),
        },
    }
}

fn schema(path: &Path, line: usize, found: u64) -> RecordError {
    RecordError::Schema {
        path: path.to_owned(),
        line,
        found,
        expected: SCHEMA,
    }
}

/// Write beside the file, fsync, rename over it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let io = |source| RecordError::Io {
        path: path.to_owned(),
        source,
    };
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let mut file = File::create(&partial).map_err(io)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(io)?;
    std::fs::rename(&partial, path).map_err(io)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
