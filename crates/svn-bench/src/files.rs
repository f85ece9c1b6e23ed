//! Files that are whole or not there.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Write a file so that a crash leaves either the old one or the new one, and others never see half of it.
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
    let partial = beside(path).map_err(&io)?;
    let mut file = BufWriter::new(partial);
    let value = write(&mut file)?;
    let file = file.into_inner().map_err(|error| io(error.into_error()))?;
    file.as_file().sync_all().map_err(&io)?;
    file.persist(path).map_err(|error| io(error.error))?;
    Ok(value)
}

/// A new file beside one that it is to replace, under a name of its own, so that several processes may do so at once; removed
/// unless it is renamed.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tmp").suffix(".partial");
    // As any other new file: others may read it if the user's mask lets them.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use std::fs;

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
