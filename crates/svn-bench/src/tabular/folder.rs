//! The folder of a model: who may write into it, and how a fit ends there whole.
//!
//! ```text
//! begin:   .fit/ { .lock, request.json }
//! while:   .fit/tried.json, after each setting that is tried; .fit/checkpoint, at least each second
//! finish:  .fit/model/ whole → files moved up, table.json last → .fit/ removed, request.json first
//! ```
//!
//! A process that is killed at any moment leaves a fit that can be gone on with, or a model that is done.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use svn_models::{Ensemble, Tried};

use super::TabularError;
use super::kept::{Kept, VERSION};
use crate::engine::{lock, write_atomically};

const WORK: &str = ".fit";
const REQUEST: &str = "request.json";
const TABLE: &str = "table.json";
const COST: &str = "cost.json";
const MODEL: [&str; 2] = ["model.safetensors", "model.json"];

/// What is in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing, or it is not there.
    Empty,
    /// A fit that is not done.
    Begun,
    /// A model.
    Done,
    /// Something else.
    Foreign,
}

/// What a fit took; no other file of the folder depends on the time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Seconds of all epochs.
    pub training_s: f64,
    /// Seconds from the start of the process that ended it.
    pub whole_s: f64,
}

/// A folder that is fitted into. No other process can.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// What is there.
    pub fn state(path: &Path) -> State {
        if path.join(WORK).join(REQUEST).is_file() {
            return State::Begun;
        }
        if path.join(TABLE).is_file() && path.join(MODEL[1]).is_file() {
            return State::Done;
        }
        // What a fit that was killed at its first moment leaves.
        let ours = |name: &std::ffi::OsStr| name == WORK;
        match fs::read_dir(path) {
            Ok(entries) => match entries.flatten().all(|entry| ours(&entry.file_name())) {
                true => State::Empty,
                false => State::Foreign,
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::Empty,
            Err(_) => State::Foreign,
        }
    }

    /// Take a folder for a fit.
    ///
    /// # Errors
    /// [`TabularError::Folder`] for one that holds a model or a fit, unless it is to be written over, or something else;
    /// [`TabularError::Store`] where another process works in it.
    pub(super) fn begin(
        path: &Path,
        overwrite: bool,
        request: &impl Serialize,
    ) -> Result<Self, TabularError> {
        Self::check(path, overwrite)?;
        let folder = Self::open(path)?;
        // Not what another process has begun meanwhile.
        Self::check(path, overwrite)?;
        remove(&folder.checkpoint())?;
        remove(&folder.tried_file())?;
        folder.write(&folder.work().join(REQUEST), request)?;
        Ok(folder)
    }

    /// Whether a fit may begin in a folder.
    ///
    /// # Errors
    /// [`TabularError::Folder`] says why not.
    pub fn check(path: &Path, overwrite: bool) -> Result<(), TabularError> {
        let refused = |what: &str| {
            Err(TabularError::Folder {
                path: path.to_owned(),
                what: what.to_owned(),
            })
        };
        match Self::state(path) {
            State::Foreign => refused("holds something else; choose another --out"),
            State::Done if !overwrite => refused("holds a model; --overwrite replaces it"),
            State::Begun if !overwrite => refused(
                "holds a fit that is not done; --resume goes on with it, --overwrite begins anew",
            ),
            _ => Ok(()),
        }
    }

    /// Take a folder whose fit is gone on with, and what was asked for.
    ///
    /// # Errors
    /// [`TabularError::Folder`] where there is none.
    pub(super) fn resume<R: DeserializeOwned>(path: &Path) -> Result<(Self, R), TabularError> {
        if Self::state(path) != State::Begun {
            return Err(TabularError::Folder {
                path: path.to_owned(),
                what: "holds no fit to go on with".to_owned(),
            });
        }
        let folder = Self::open(path)?;
        let request = read(&folder.work().join(REQUEST))?;
        Ok((folder, request))
    }

    fn open(path: &Path) -> Result<Self, TabularError> {
        let work = path.join(WORK);
        fs::create_dir_all(&work).map_err(TabularError::io(&work))?;
        // Where the file system has no locks there is none.
        let lock = lock(&work, &mut Vec::new())?;
        let path = path.to_owned();
        Ok(Self { path, _lock: lock })
    }

    fn work(&self) -> PathBuf {
        self.path.join(WORK)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// File of the checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.work().join("checkpoint")
    }

    fn tried_file(&self) -> PathBuf {
        self.work().join("tried.json")
    }

    /// What was tried before the fit was interrupted.
    pub(super) fn tried(&self) -> Vec<Tried> {
        read(&self.tried_file()).unwrap_or_default()
    }

    /// Keep what was tried.
    ///
    /// # Errors
    /// [`TabularError::Store`].
    pub(super) fn keep_tried(&self, tried: &[Tried]) -> Result<(), TabularError> {
        self.write(&self.tried_file(), &tried)
    }

    fn write(&self, path: &Path, value: &impl Serialize) -> Result<(), TabularError> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| TabularError::io(path)(error.into()))?;
        Ok(write_atomically(path, format!("{text}\n").as_bytes())?)
    }

    /// Put the model in its place; the fit is done.
    ///
    /// # Errors
    /// [`TabularError::Model`], [`TabularError::Io`], [`TabularError::Store`]; the fit can be gone on with then.
    pub(super) fn finish(
        &self,
        ensemble: &Ensemble,
        mut kept: Kept,
        cost: Cost,
    ) -> Result<Kept, TabularError> {
        let made = self.work().join("model");
        // Of a fit that was killed while its files were moved.
        gone(&made, fs::remove_dir_all(&made))?;
        ensemble.save(&made)?;
        kept.model_sha256 = sha256(&made.join(MODEL[1]))?;
        self.write(&made.join(COST), &cost)?;
        self.write(&made.join(TABLE), &kept)?;
        for name in MODEL.into_iter().chain([COST, TABLE]) {
            let to = self.path.join(name);
            fs::rename(made.join(name), &to).map_err(TabularError::io(&to))?;
        }
        self.clear()?;
        Ok(kept)
    }

    /// Remove what the fit needed, the request first: without one there is nothing to go on with.
    fn clear(&self) -> Result<(), TabularError> {
        remove(&self.work().join(REQUEST))?;
        let work = self.work();
        gone(&work, fs::remove_dir_all(&work))
    }

    /// Whether a fit is done; what one that was killed at its last moment left is removed.
    ///
    /// # Errors
    /// [`TabularError::Io`], [`TabularError::Store`].
    pub(super) fn is_done(path: &Path) -> Result<bool, TabularError> {
        if Self::state(path) != State::Done {
            return Ok(false);
        }
        if path.join(WORK).is_dir() {
            let folder = Self::open(path)?;
            // Not what another process has begun meanwhile.
            if Self::state(path) != State::Done {
                return Ok(false);
            }
            folder.clear()?;
        }
        Ok(true)
    }
}

/// The model of a folder and what is kept beside it.
///
/// # Errors
/// [`TabularError::Folder`] where there is none, [`TabularError::Damaged`], [`TabularError::Model`].
pub fn load(path: &Path) -> Result<(Ensemble, Kept), TabularError> {
    match Folder::state(path) {
        State::Done => {}
        // The one before, while a new one is made.
        State::Begun if path.join(TABLE).is_file() => {}
        state => {
            let what = match state {
                State::Begun => "holds a fit that is not done; go on with `svn fit --resume`",
                _ => "holds no model of `svn fit`",
            };
            return Err(TabularError::Folder {
                path: path.to_owned(),
                what: what.to_owned(),
            });
        }
    }
    let file = path.join(TABLE);
    let kept: Kept = read(&file)?;
    let damaged = |what: &str| TabularError::Damaged {
        path: file.clone(),
        what: what.to_owned(),
    };
    if kept.version != VERSION {
        let what = format!("version {}, this program reads {VERSION}", kept.version);
        return Err(damaged(&what));
    }
    if sha256(&path.join(MODEL[1]))? != kept.model_sha256 {
        return Err(damaged("it is not of the model.json beside it"));
    }
    let ensemble = Ensemble::load(path)?;
    if ensemble.task() != kept.schema.task() {
        return Err(damaged("another task than the model's"));
    }
    Ok((ensemble, kept))
}

/// What the fit took, where it is known.
pub fn cost(path: &Path) -> Option<Cost> {
    read(&path.join(COST)).ok()
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, TabularError> {
    let text = fs::read_to_string(path).map_err(TabularError::io(path))?;
    serde_json::from_str(&text).map_err(|error| TabularError::Damaged {
        path: path.to_owned(),
        what: error.to_string().replace('\n', "; "),
    })
}

fn remove(path: &Path) -> Result<(), TabularError> {
    gone(path, fs::remove_file(path))
}

/// What was not there is gone as well.
fn gone(path: &Path, removed: std::io::Result<()>) -> Result<(), TabularError> {
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(TabularError::io(path)(error))
        }
        _ => Ok(()),
    }
}

/// Of a file as it is.
///
/// # Errors
/// [`TabularError::Io`].
pub(super) fn sha256(path: &Path) -> Result<String, TabularError> {
    let mut file = File::open(path).map_err(TabularError::io(path))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(TabularError::io(path))? {
            0 => return Ok(format!("{:x}", hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}
