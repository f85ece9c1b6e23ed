//! A folder of converted files, plain or gzip, used instead of the network.

use super::manifest::Dataset;
use crate::failure::bad_input;
use anyhow::{Context, Result};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// `NAME.csv`, else `NAME.csv.gz`.
pub(super) fn find(folder: &Path, set: &Dataset) -> Option<PathBuf> {
    let plain = folder.join(set.file_name());
    let packed = folder.join(format!("{}.gz", set.file_name()));
    [plain, packed].into_iter().find(|file| file.is_file())
}

/// The file and its uncompressed content, not yet verified. Gzip is told by content, not by name.
pub(super) fn read(folder: &Path, set: &Dataset) -> Result<(PathBuf, Vec<u8>)> {
    let file = find(folder, set).ok_or_else(|| {
        bad_input(format!(
            "the mirror {} has neither {1} nor {1}.gz",
            folder.display(),
            set.file_name()
        ))
    })?;
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok((file, bytes));
    }
    let mut text = Vec::new();
    let unpacked = flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text);
    unpacked
        .map_err(|error| bad_input(format!("{}: damaged gzip file: {error}", file.display())))?;
    Ok((file, text))
}
