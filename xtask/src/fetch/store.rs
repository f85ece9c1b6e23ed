//! Files in the data folder: verified, written whole or not at all.

use crate::checksum;
use crate::paths::{unwritable, with_suffix};
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
        // A file where a folder should be is in the way of writing, and said then.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Cached::Missing)
        }
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
    let written = partial(path).and_then(|mut file| {
        file.write_all(bytes)?;
        readable_by_all(&file.persist(path)?)
    });
    written.map_err(|fault| unwritable(path, &fault))
}

/// An error where [`write()`] would fail: to be asked before a download, not after it.
pub(super) fn prepare(path: &Path) -> Result<()> {
    let made = partial(path).map(drop);
    made.map_err(|fault| unwritable(path, &fault))
}

/// An empty file beside the target, whose folder is made; removed when dropped.
fn partial(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    tempfile::Builder::new()
        .suffix(".partial")
        .tempfile_in(folder)
}

/// Temporary files are private; what they become need not be.
#[cfg(unix)]
fn readable_by_all(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &fs::File) -> io::Result<()> {
    Ok(())
}

/// Keeps bytes that were refused as `NAME.rejected`, for a look at them.
pub(super) fn reject(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let kept = with_suffix(path, ".rejected");
    write(&kept, bytes)?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_whole_and_looking_first_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/a.csv");
        prepare(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 0);
        write(&path, b"x,y\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x,y\n");
        let sum = checksum::of_bytes(b"x,y\n");
        assert_eq!(look(&path, &sum).unwrap(), Cached::Good);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_told_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cache"), "a file").unwrap();
        let path = folder.path().join("cache/data/a.csv");
        assert_eq!(look(&path, "").unwrap(), Cached::Missing);
        for fault in [prepare(&path), write(&path, b"x")] {
            let fault = fault.unwrap_err().to_string();
            let start = format!("cannot write {}: ", path.display());
            assert!(fault.starts_with(&start), "{fault}");
            assert!(fault.contains("; set SVN_CACHE_DIR to "), "{fault}");
        }
    }
}
