//! A run between two epochs, in memory and as a file.
//!
//! ```text
//! file = "SVNCKPT\n" | format u32 | length u64 | CRC-32 u32 | CBOR of that length        numbers little-endian
//! ```
//!
//! It holds the particles and the memory of the sampler, the noise and the accumulated curvature of the posterior, the best
//! weights and the history. The order of the rows follows from the seed and the number of batches drawn.

use super::fingerprint::Fingerprint;
use super::folds::SavedFolds;
use super::training::Progress;
use super::{CheckpointError, EpochReport, FitSettings};
use crate::Rows;
use crate::posterior::SavedPosterior;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use svn_stein::State;

const MAGIC: &[u8; 8] = b"SVNCKPT\n";

/// Version of the format.
const FORMAT: u32 = 5;

/// Bytes before the content.
const HEADER: usize = 8 + 4 + 8 + 4;

/// Everything that [`fit`](super::fit()) needs to go on after an epoch, made by
/// [`Epoch::checkpoint`](super::Epoch::checkpoint).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub(super) settings: FitSettings,
    /// Of training and validation rows.
    pub(super) fingerprints: [Fingerprint; 2],
    pub(super) state: State,
    pub(super) posterior: SavedPosterior,
    pub(super) progress: Progress,
    /// Of a run in folds: this is the first of them, and here is the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folds: Option<Box<SavedFolds>>,
    /// Where it was read from.
    #[serde(skip)]
    pub(super) file: Option<PathBuf>,
}

impl Checkpoint {
    /// Epochs done.
    pub fn epoch(&self) -> usize {
        self.progress.history.len()
    }

    /// Settings of the run.
    pub fn settings(&self) -> &FitSettings {
        &self.settings
    }

    /// Reports of the epochs done.
    pub fn history(&self) -> &[EpochReport] {
        &self.progress.history
    }

    /// Write to `path`: first to a temporary file in the same folder, which then takes the place of an older checkpoint, so
    /// that one of the two is whole whatever happens.
    ///
    /// # Errors
    /// [`CheckpointError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let failed = |source| CheckpointError::Io {
            file: path.to_owned(),
            source,
        };
        let mut bytes = cbor4ii::serde::to_vec(vec![0; HEADER], self)
            .map_err(|error| failed(std::io::Error::other(error)))?;
        let (header, content) = bytes.split_at_mut(HEADER);
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        header[12..20].copy_from_slice(&(content.len() as u64).to_le_bytes());
        header[20..].copy_from_slice(&crc32fast::hash(content).to_le_bytes());
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(&bytes).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Read what [`Self::write`] wrote.
    ///
    /// # Errors
    /// [`CheckpointError`] with the file and what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let file = || path.to_owned();
        let bytes = fs::read(path).map_err(|source| CheckpointError::Io {
            file: file(),
            source,
        })?;
        if !bytes.starts_with(MAGIC) {
            return Err(CheckpointError::Foreign { file: file() });
        }
        let cut = |expected| CheckpointError::Length {
            file: file(),
            found: bytes.len() as u64,
            expected,
        };
        let rest = &bytes[MAGIC.len()..];
        let Some((&format, rest)) = rest.split_first_chunk::<4>() else {
            return Err(cut(HEADER as u64));
        };
        let found = u32::from_le_bytes(format);
        if found != FORMAT {
            return Err(CheckpointError::Version {
                file: file(),
                found,
                expected: FORMAT,
            });
        }
        let Some((&length, rest)) = rest.split_first_chunk::<8>() else {
            return Err(cut(HEADER as u64));
        };
        let Some((&crc, content)) = rest.split_first_chunk::<4>() else {
            return Err(cut(HEADER as u64));
        };
        let length = u64::from_le_bytes(length);
        if content.len() as u64 != length {
            return Err(cut(length.saturating_add(HEADER as u64)));
        }
        let damaged = |reason: String| CheckpointError::Damaged {
            file: file(),
            reason,
        };
        if crc32fast::hash(content) != u32::from_le_bytes(crc) {
            return Err(damaged("its checksum is another".into()));
        }
        let checkpoint: Self =
            cbor4ii::serde::from_slice(content).map_err(|error| damaged(error.to_string()))?;
        Ok(Self {
            file: Some(file()),
            ..checkpoint
        })
    }

    /// Whether a run of these settings and rows can go on from here.
    pub(super) fn check(
        &self,
        settings: &FitSettings,
        train: &Rows,
        validation: &Rows,
    ) -> Result<(), CheckpointError> {
        if let Some((setting, found, expected)) = self.difference(settings) {
            return Err(CheckpointError::OtherSettings {
                checkpoint: self.name(),
                setting,
                found,
                expected,
            });
        }
        let rows = [("training", train), ("validation", validation)];
        for ((name, rows), found) in rows.into_iter().zip(self.fingerprints) {
            let expected = Fingerprint::new(rows);
            if found != expected {
                return Err(CheckpointError::OtherRows {
                    checkpoint: self.name(),
                    rows: name,
                    found: found.to_string(),
                    expected: expected.to_string(),
                });
            }
        }
        Ok(())
    }

    /// The first setting that differs, with its values here and there.
    fn difference(&self, settings: &FitSettings) -> Option<(&'static str, String, String)> {
        let FitSettings {
            method,
            network,
            likelihood,
            prior_precision,
            layer_precisions,
            particles,
            epochs,
            patience: _,
            time_limit: _,
            batch_size,
            curvature,
            context,
            precision,
            noise_floor,
            minibatch_noise,
            averaging,
            last_epoch,
            backend,
            device,
            seed,
        } = settings;
        let own = &self.settings;
        macro_rules! differ {
            ($($name:literal $field:ident),*) => {
                [$(($name, format!("{:?}", own.$field), format!("{:?}", $field))),*]
            };
        }
        let pairs = differ!(
            "method" method, "network" network, "likelihood" likelihood, "prior precision" prior_precision,
            "layer precisions" layer_precisions,
            "particles" particles, "batch size" batch_size, "curvature" curvature, "context" context,
            "precision" precision, "noise floor" noise_floor, "minibatch noise" minibatch_noise, "averaging" averaging,
            "last epoch" last_epoch, "backend" backend, "device" device, "seed" seed
        );
        // Step sizes that decay over the run are those of its length.
        let decays = minibatch_noise.is_some() && method.newton_rate().is_some();
        let other_length = (decays && *epochs != own.epochs)
            .then(|| ("epochs", own.epochs.to_string(), epochs.to_string()));
        let too_few = (*epochs < self.epoch()).then(|| {
            let done = format!("of which {} are done", self.epoch());
            (
                "epochs",
                format!("{}, {done}", own.epochs),
                epochs.to_string(),
            )
        });
        pairs
            .into_iter()
            .find(|(_, found, expected)| found != expected)
            .or(too_few)
            .or(other_length)
    }

    fn name(&self) -> String {
        match &self.file {
            Some(file) => format!("checkpoint {}", file.display()),
            None => "the checkpoint".into(),
        }
    }
}
