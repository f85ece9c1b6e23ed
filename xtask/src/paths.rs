//! Where things are: the checkout, the cache shared by checkouts, the data folder.

use crate::failure::bad_input;
use anyhow::{Context, Result, anyhow};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folders that every command works in.
pub(crate) struct Place {
    /// Root of the checkout.
    pub root: PathBuf,
    /// Native libraries and data, outside the checkout.
    pub cache: PathBuf,
    /// Converted data sets.
    pub data: PathBuf,
}

impl Place {
    /// Reads `SVN_CACHE_DIR`, `XDG_CACHE_HOME`, `HOME` and `SVN_DATA_DIR`.
    pub(crate) fn from_environment() -> Result<Self> {
        // cargo sets it when it runs this program; the value at build time serves a direct call.
        let own = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let own = own
            .filter(|folder| folder.ends_with("xtask"))
            .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        let root = own
            .parent()
            .context("xtask has no parent folder")?
            .to_path_buf();
        let here = std::env::current_dir().context("the current folder is gone")?;
        let cache = here.join(cache_folder(|name| std::env::var_os(name))?);
        let data = match std::env::var_os("SVN_DATA_DIR").filter(|value| !value.is_empty()) {
            Some(folder) => here.join(folder),
            None => cache.join("data"),
        };
        Ok(Self { root, cache, data })
    }

    /// The link that `.cargo/config.toml` names as `LIBTORCH`.
    pub(crate) fn libtorch_link(&self) -> PathBuf {
        self.root.join(".native").join("libtorch")
    }

    /// A program of the workspace as the dev profile builds it; not there before the first build.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.root.join("target"), Into::into);
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        target.join("debug").join(name)
    }

    /// The manifest of the data sets.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.root.join("datasets").join("manifest.toml")
    }

    /// Data sets that are part of the checkout.
    pub(crate) fn bundled(&self) -> PathBuf {
        self.root.join("datasets")
    }
}

fn cache_folder(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = set("SVN_CACHE_DIR") {
        return Ok(folder);
    }
    // The XDG specification says to ignore a relative path.
    if let Some(folder) = set("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()) {
        return Ok(folder.join("svn-ensembles"));
    }
    let home = set("HOME").or_else(|| set("USERPROFILE"));
    let home = home.ok_or_else(|| {
        bad_input("no home folder: set SVN_CACHE_DIR to a folder for libraries and data")
    })?;
    Ok(home.join(".cache").join("svn-ensembles"))
}

/// The error where something in the cache or the data folder cannot be written, with the way out.
pub(crate) fn unwritable(path: &Path, fault: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "cannot write {}: {fault}; set SVN_CACHE_DIR to a folder that takes libraries and data, or SVN_DATA_DIR for data alone",
        path.display()
    )
}

/// `path` beside itself with a suffix added to the whole file name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(variables: &[(&str, &str)]) -> Result<PathBuf> {
        cache_folder(|name| {
            variables
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| OsString::from(v))
        })
    }

    #[test]
    fn own_folder_then_xdg_then_home() {
        let all = [
            ("SVN_CACHE_DIR", "/a"),
            ("XDG_CACHE_HOME", "/b"),
            ("HOME", "/c"),
        ];
        assert_eq!(folder(&all).unwrap(), PathBuf::from("/a"));
        assert_eq!(
            folder(&all[1..]).unwrap(),
            PathBuf::from("/b/svn-ensembles")
        );
        assert_eq!(
            folder(&all[2..]).unwrap(),
            PathBuf::from("/c/.cache/svn-ensembles")
        );
        assert_eq!(
            folder(&[("XDG_CACHE_HOME", "b"), ("HOME", "/c")]).unwrap(),
            PathBuf::from("/c/.cache/svn-ensembles")
        );
        assert_eq!(
            folder(&[("SVN_CACHE_DIR", ""), ("HOME", "/c")]).unwrap(),
            PathBuf::from("/c/.cache/svn-ensembles")
        );
        assert!(
            folder(&[])
                .unwrap_err()
                .to_string()
                .contains("SVN_CACHE_DIR")
        );
    }

    #[test]
    fn suffix_goes_after_the_whole_name() {
        assert_eq!(
            with_suffix(Path::new("a/b.csv"), ".rejected"),
            PathBuf::from("a/b.csv.rejected")
        );
    }
}
