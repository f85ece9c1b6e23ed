//! ZIP archives.

use anyhow::Result;
use std::io::{Read, Seek};

/// Calls `visit` with the name of each file and what reads it.
#[cfg(feature = "fetch")]
pub(crate) fn for_each_file(
    archive: impl Read + Seek,
    mut visit: impl FnMut(&str, &mut dyn Read) -> Result<()>,
) -> Result<()> {
    use anyhow::Context;

    let mut archive = zip::ZipArchive::new(archive).context("not a ZIP archive")?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        if entry.is_file() {
            let name = entry.name()?.into_owned();
            visit(&name, &mut entry)?;
        }
    }
    Ok(())
}

/// Only in the complete build.
#[cfg(not(feature = "fetch"))]
pub(crate) fn for_each_file(
    _: impl Read + Seek,
    _: impl FnMut(&str, &mut dyn Read) -> Result<()>,
) -> Result<()> {
    Err(crate::complete::Needed.into())
}
