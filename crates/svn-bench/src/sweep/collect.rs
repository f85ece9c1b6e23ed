//! The files of single records merged into one, as often as one likes.
//!
//! What is there already stays, so that files of tasks may be removed once they are collected. Nothing is locked: the file is
//! written anew, in canonical order, and takes the place of the old one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use svn_models::recipe::Method;

use super::folder::{RECORD, make};
use super::{Folder, Job, SweepError};
use crate::engine::{Design, Entry, RunId, SCHEMA, Timing, parse_entry};
use crate::files::write_whole;

/// What came of collecting the records of a study.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// Records that there are now, of all plans.
    pub records: usize,
    /// Of these, how many there were not before.
    pub new: usize,
    /// Their names.
    pub keys: BTreeSet<String>,
    /// By configuration: how many, and how long they took together, s.
    pub seconds: BTreeMap<String, (usize, f64)>,
    /// Files whose record is there already and says otherwise (timings aside).
    pub double: Vec<PathBuf>,
    /// Files that end within their record.
    pub torn: Vec<PathBuf>,
    /// Files that hold something else than their name says, and what it is.
    pub foreign: Vec<(PathBuf, String)>,
}

/// The place of a record in the file: data set, method, configuration, run.
type Place = (String, Method, String, RunId);

/// A line and where it is.
struct Line {
    /// Hash of all but the timings.
    content: u64,
    /// Whole run, s.
    wall_s: f64,
    source: Source,
}

enum Source {
    File(PathBuf),
    /// Bytes of the file that was collected before.
    Before(std::ops::Range<usize>),
    /// A line of an older version, brought to this one.
    Text(String),
}

/// What a file of a task is.
enum Read<E> {
    Record((Place, Line), E),
    Torn(PathBuf),
    Foreign(PathBuf, String),
}

impl<E> Read<E> {
    fn without_entry(self) -> Read<()> {
        match self {
            Self::Record(line, _) => Read::Record(line, ()),
            Self::Torn(path) => Read::Torn(path),
            Self::Foreign(path, what) => Read::Foreign(path, what),
        }
    }
}

/// Merge the records of a study.
///
/// # Errors
/// [`SweepError`] if what was collected before is no file of records of the study, or a file cannot be read or written.
pub fn collect<E: Entry>(folder: &Folder, study: &str) -> Result<Collected, SweepError> {
    let path = folder.study(study).join(E::FILE);
    let before = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(SweepError::io(&path, source)),
    };
    let mut lines = BTreeMap::new();
    let mut collected = Collected::default();
    for (place, line) in earlier::<E>(&path, study, &before)? {
        lines.entry(place).or_insert(line);
    }
    let old = lines.len();
    let known: HashMap<String, &[u8]> = lines
        .iter()
        .filter_map(|((_, _, config, run), line)| match &line.source {
            Source::Before(range) => Some((super::job::key(config, *run), &before[range.clone()])),
            _ => None,
        })
        .collect();
    // The records themselves are not kept: many of them are more than memory holds.
    let judge = |path: PathBuf| {
        let bytes = bytes_of(&path)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        // What was collected as it is has been judged.
        match known.get(stem.as_ref()) == Some(&bytes.as_slice()) {
            true => Ok(None),
            false => Ok(Some(judged::<E>(path, &bytes, study).without_entry())),
        }
    };
    let files = files(&folder.tasks(study))?;
    let read: Vec<Option<Read<()>>> = files
        .into_par_iter()
        .map(judge)
        .collect::<Result<_, SweepError>>()?;
    for read in read.into_iter().flatten() {
        match read {
            Read::Torn(path) => collected.torn.push(path),
            Read::Foreign(path, what) => collected.foreign.push((path, what)),
            Read::Record((place, line), ()) => match lines.get(&place) {
                None => {
                    lines.insert(place, line);
                }
                Some(known) if known.content == line.content => {}
                Some(_) => {
                    if let Source::File(path) = line.source {
                        collected.double.push(path);
                    }
                }
            },
        }
    }
    for ((_, _, config, run), line) in &lines {
        collected.keys.insert(super::job::key(config, *run));
        let seconds = collected.seconds.entry(config.clone()).or_default();
        *seconds = (seconds.0 + 1, seconds.1 + line.wall_s);
    }
    (collected.records, collected.new) = (lines.len(), lines.len() - old);
    if collected.records > 0 {
        make(&folder.study(study))?;
        write(&path, &before, lines.into_values().map(|line| line.source))?;
    }
    Ok(collected)
}

/// The record of a job, if there is a whole one.
pub(super) fn finished<E: Entry>(folder: &Folder, job: &Job) -> Result<Option<E>, SweepError> {
    let path = folder.task(job);
    match path.exists() {
        false => Ok(None),
        true => {
            let bytes = bytes_of(&path)?;
            Ok(match judged(path, &bytes, &job.study) {
                Read::Record(_, entry) => Some(entry),
                Read::Torn(_) | Read::Foreign(..) => None,
            })
        }
    }
}

/// Files of records in a folder, by name; none if there is no folder.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, SweepError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(SweepError::io(folder, source)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|source| SweepError::io(folder, source))?
            .path();
        // What a process that was killed while it wrote has left has another ending.
        if path.extension().is_some_and(|end| end == RECORD) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The lines of what was collected before.
fn earlier<E: Entry>(
    path: &Path,
    study: &str,
    bytes: &[u8],
) -> Result<Vec<(Place, Line)>, SweepError> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let range = start..start + line.len();
        start = range.end;
        lines.push((index, range));
    }
    // How a line of this version begins.
    let current = format!("{{\"schema\":{SCHEMA},");
    let parse = |(index, range): (usize, std::ops::Range<usize>)| {
        let line = &bytes[range.clone()];
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let entry: E = match of_study(line, study) {
            Ok(entry) => entry,
            Err(message) => {
                let (path, number) = (path.display(), index + 1);
                let message = format!(
                    "{path}, line {number}: {message}; mend the line, or choose another --out"
                );
                return Err(SweepError::Arguments(message));
            }
        };
        let source = match line.starts_with(current.as_bytes()) && line.ends_with(b"\n") {
            true => Source::Before(range),
            false => Source::Text(serde_json::to_string(&entry).unwrap_or_default() + "\n"),
        };
        Ok(Some(Line::new(&entry, line, source)))
    };
    let parsed: Result<Vec<_>, _> = lines.into_par_iter().map(parse).collect();
    Ok(parsed?.into_iter().flatten().collect())
}

/// A record of this study, or what it is instead.
fn of_study<E: Entry>(line: &[u8], study: &str) -> Result<E, String> {
    let entry: E =
        parse_entry(line).map_err(|error| format!("no record of bench-{study} ({error})"))?;
    let of = entry.of();
    match (of.study == study, of.schema == SCHEMA) {
        (true, true) => Ok(entry),
        (false, _) => Err(format!("a record of bench-{}", of.study)),
        (_, false) => Err(format!(
            "schema {}, this program reads up to {SCHEMA}",
            of.schema
        )),
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, SweepError> {
    std::fs::read(path).map_err(|source| SweepError::io(path, source))
}

/// What the file of a task is.
fn judged<E: Entry>(path: PathBuf, bytes: &[u8], study: &str) -> Read<E> {
    if !bytes.ends_with(b"\n") {
        return Read::Torn(path);
    }
    if memchr::memchr(b'\n', bytes) != Some(bytes.len() - 1) {
        return Read::Foreign(path, "more than a record".to_owned());
    }
    let entry: E = match of_study(bytes, study) {
        Ok(entry) => entry,
        Err(message) => return Read::Foreign(path, message),
    };
    // The name says what the record must be of; the hash, that nothing it depends on was changed.
    let (config, of) = (entry.of().configuration().hash(), entry.of());
    let key = super::job::key(&config, of.run);
    let named = path.file_stem().is_some_and(|stem| stem == key.as_str());
    if !named || config != of.config {
        return Read::Foreign(path, format!("the record {key}"));
    }
    let line = Line::new(&entry, bytes, Source::File(path));
    Read::Record(line, entry)
}

impl Line {
    fn new<E: Entry>(entry: &E, bytes: &[u8], source: Source) -> (Place, Self) {
        let of = entry.of();
        let dataset = of.design.dataset().to_owned();
        // Timings are the last field of a line.
        let timing = memchr::memmem::rfind(bytes, TIMING).unwrap_or(bytes.len());
        let line = Self {
            content: hash(&bytes[..timing]),
            wall_s: wall_s(&bytes[timing..]).unwrap_or_default(),
            source,
        };
        ((dataset, of.method, of.config.to_owned(), of.run), line)
    }
}

const TIMING: &[u8] = b",\"timing\":";

fn wall_s(bytes: &[u8]) -> Option<f64> {
    let timing = bytes
        .strip_prefix(TIMING)?
        .trim_ascii()
        .strip_suffix(b"}")?;
    let timing: Timing = serde_json::from_slice(timing).ok()?;
    Some(timing.wall_s)
}

fn hash(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Copy the lines, never all of them in memory.
fn write(
    path: &Path,
    before: &[u8],
    sources: impl Iterator<Item = Source>,
) -> Result<(), SweepError> {
    let io = |source| SweepError::io(path, source);
    let copy = |out: &mut dyn Write| {
        for source in sources {
            match source {
                Source::Before(range) => out.write_all(&before[range]).map_err(io)?,
                Source::Text(text) => out.write_all(text.as_bytes()).map_err(io)?,
                Source::File(task) => out.write_all(&bytes_of(&task)?).map_err(io)?,
            }
        }
        Ok(())
    };
    write_whole(path, copy, io)
}
