//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Write a file so that a crash leaves either the old one or the new one.
///
/// # Errors
/// What the operating system said.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, |file| file.write_all(bytes), |error| error)
}

/// The same of a file that is written piece by piece; where that fails, nothing has changed.
///
/// # Errors
/// Those of `write`, and what the operating system said by way of `io`.
pub(crate) fn write_whole<T, E>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
    io: impl Fn(io::Error) -> E,
) -> Result<T, E> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = || {
        let mut file = BufWriter::new(File::create(&partial).map_err(&io)?);
        let value = write(&mut file)?;
        let file = file.into_inner().map_err(|error| io(error.into_error()))?;
        file.sync_all().map_err(&io)?;
        fs::rename(&partial, path).map_err(&io)?;
        Ok(value)
    };
    let written = written();
    if written.is_err() {
        // What went wrong is said already.
        let _ = fs::remove_file(&partial);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_on_the_way_leaves_the_old_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, b"old").unwrap();
        let broken = write_whole(
            &path,
            |file| {
                file.write_all(b"new")?;
                Err::<(), _>(io::Error::other("full"))
            },
            |error| error,
        );
        assert_eq!(broken.unwrap_err().to_string(), "full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("a.txt");
        let error = write_atomically(&path, b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
