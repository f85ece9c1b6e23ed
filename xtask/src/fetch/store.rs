//! Files in the data folder: verified, written whole or not at all.

use crate::checksum;
use crate::paths::with_suffix;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What is at a place in the cache.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cached {
    Good,
    Missing,
    /// With the checksum found.
    Damaged(String),
}

/// Compares a cached file with the checksum it should have.
pub(super) fn look(path: &Path, sha256: &str) -> Result<Cached> {
    match checksum::of_file(path) {
        Ok(sum) if sum == sha256 => Ok(Cached::Good),
        Ok(sum) => Ok(Cached::Damaged(sum)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Cached::Missing),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// An error with both sums where they differ.
pub(super) fn verify(bytes: &[u8], sha256: &str, what: &Path) -> Result<()> {
    let sum = checksum::of_bytes(bytes);
    if sum != sha256 {
        super::raw::refuse_web_page(bytes).with_context(|| what.display().to_string())?;
        bail!(
            "{}: checksum differs\n  expected sha-256 {sha256}\n  received sha-256 {sum}",
            what.display()
        );
    }
    Ok(())
}

/// Writes beside the target and renames.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let context = || format!("cannot write {}", path.display());
    let folder = path.parent().with_context(context)?;
    fs::create_dir_all(folder).with_context(context)?;
    let mut file = tempfile::Builder::new()
        .suffix(".partial")
        .tempfile_in(folder)
        .with_context(context)?;
    file.write_all(bytes).with_context(context)?;
    let file = file.persist(path).with_context(context)?;
    readable_by_all(&file).with_context(context)
}

/// Temporary files are private; what they become need not be.
#[cfg(unix)]
fn readable_by_all(file: &fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &fs::File) -> std::io::Result<()> {
    Ok(())
}

/// Keeps bytes that were refused as `NAME.rejected`, for a look at them.
pub(super) fn reject(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let kept = with_suffix(path, ".rejected");
    write(&kept, bytes)?;
    Ok(kept)
}
