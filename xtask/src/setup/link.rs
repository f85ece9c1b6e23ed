//! The link `.native/libtorch` → the folder in the cache: at every moment either old or new.

use crate::paths::with_suffix;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Makes `link` point to `folder`; does nothing where it already does.
pub(super) fn point(link: &Path, folder: &Path) -> Result<()> {
    if fs::read_link(link).is_ok_and(|target| target == folder) {
        return Ok(());
    }
    let context = || format!("cannot link {} to {}", link.display(), folder.display());
    if let Some(parent) = link.parent() {
        fs::create_dir_all(parent).with_context(context)?;
    }
    let fresh = with_suffix(link, &format!(".{}.partial", std::process::id()));
    let _ = fs::remove_file(&fresh);
    symlink(folder, &fresh).with_context(context)?;
    fs::rename(&fresh, link).with_context(context)
}

#[cfg(unix)]
fn symlink(folder: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(folder, link)
}

#[cfg(windows)]
fn symlink(folder: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(folder, link)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn made_kept_and_replaced() {
        let base = tempfile::tempdir().unwrap();
        let link = base.path().join(".native/libtorch");
        for target in ["a", "a", "b"] {
            let folder = base.path().join(target);
            point(&link, &folder).unwrap();
            assert_eq!(fs::read_link(&link).unwrap(), folder);
        }
        assert_eq!(
            fs::read_dir(base.path().join(".native")).unwrap().count(),
            1
        );
    }

    #[test]
    fn a_real_folder_in_the_way_is_not_removed() {
        let base = tempfile::tempdir().unwrap();
        let link = base.path().join("libtorch");
        fs::create_dir(&link).unwrap();
        assert!(point(&link, &base.path().join("a")).is_err());
        assert!(link.is_dir());
    }
}
