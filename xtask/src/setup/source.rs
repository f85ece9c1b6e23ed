//! Which libtorch the user's environment asks for.

use super::LIBTORCH_VERSION;
use crate::failure::bad_input;
use crate::paths::Place;
use crate::process::answer;
use anyhow::Result;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where libtorch comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Libtorch {
    /// The folder in the user's own `LIBTORCH`.
    Own(PathBuf),
    /// The PyTorch of the user's Python.
    PyTorch,
    /// The cache of this project, filled on first use.
    Cached,
}

impl Libtorch {
    /// Reads `LIBTORCH` and `LIBTORCH_USE_PYTORCH`.
    pub(crate) fn from_environment(place: &Place) -> Result<Self> {
        let read = |name: &str| std::env::var_os(name);
        choose(
            read("LIBTORCH").as_deref(),
            read("LIBTORCH_USE_PYTORCH").as_deref(),
            &place.libtorch_link(),
        )
    }
}

/// cargo sets `LIBTORCH` to the project's own link when the user has not set it: that is not a choice.
fn choose(libtorch: Option<&OsStr>, use_pytorch: Option<&OsStr>, link: &Path) -> Result<Libtorch> {
    let own = libtorch
        .filter(|value| !value.is_empty())
        .map(Path::new)
        .filter(|path| !is_link(path, link));
    if let Some(folder) = own {
        if folder.is_relative() {
            return Err(bad_input(format!(
                "LIBTORCH={}: expected an absolute path",
                folder.display()
            )));
        }
        return Ok(Libtorch::Own(folder.to_path_buf()));
    }
    if use_pytorch.is_some_and(|value| !value.is_empty() && value != "0") {
        return Ok(Libtorch::PyTorch);
    }
    Ok(Libtorch::Cached)
}

/// The same place, however the way to the checkout is spelled.
fn is_link(path: &Path, link: &Path) -> bool {
    let place = |path: &Path| {
        let folder = std::fs::canonicalize(path.parent()?).ok()?;
        Some(folder.join(path.file_name()?))
    };
    path == link || place(path).is_some_and(|own| place(link) == Some(own))
}

/// An error unless the folder looks like a libtorch of the right version.
pub(super) fn check_own(folder: &Path) -> Result<()> {
    let overridden = std::env::var_os("LIBTORCH_LIB").is_some()
        || std::env::var_os("LIBTORCH_INCLUDE").is_some();
    let any_version = std::env::var_os("LIBTORCH_BYPASS_VERSION_CHECK").is_some();
    if overridden {
        Ok(())
    } else {
        check_folder(folder, any_version)
    }
}

fn check_folder(folder: &Path, any_version: bool) -> Result<()> {
    let shown = folder.display();
    let library = ["libtorch.so", "libtorch.dylib", "torch.lib"]
        .iter()
        .any(|name| folder.join("lib").join(name).exists());
    if !library || !folder.join("include").is_dir() {
        return Err(bad_input(format!(
            "LIBTORCH={shown}: expected a folder with lib/libtorch.so and include/; correct it, or unset it to use the cache"
        )));
    }
    let Ok(text) = std::fs::read_to_string(folder.join("build-version")) else {
        return Ok(());
    };
    let version = text.trim().split('+').next().unwrap_or_default();
    if version != LIBTORCH_VERSION && !any_version {
        return Err(bad_input(format!(
            "LIBTORCH={shown} is version {version}, expected {LIBTORCH_VERSION} \
             (LIBTORCH_BYPASS_VERSION_CHECK=1 accepts any)"
        )));
    }
    Ok(())
}

/// An error unless the user's Python has the right PyTorch.
pub(super) fn check_pytorch() -> Result<()> {
    let python = python();
    let found = answer(python, &["-c", "import torch; print(torch.__version__)"]);
    match found
        .as_deref()
        .map(|version| version.split('+').next().unwrap_or_default())
    {
        Some(version)
            if version == LIBTORCH_VERSION
                || std::env::var_os("LIBTORCH_BYPASS_VERSION_CHECK").is_some() =>
        {
            Ok(())
        }
        Some(version) => Err(bad_input(format!(
            "LIBTORCH_USE_PYTORCH: {python} has PyTorch {version}, expected {LIBTORCH_VERSION}"
        ))),
        None => Err(bad_input(format!(
            "LIBTORCH_USE_PYTORCH: `{python} -c 'import torch'` fails; \
             install PyTorch {LIBTORCH_VERSION} there, or unset the variable to use the cache"
        ))),
    }
}

/// The interpreter that torch-sys would ask.
pub(super) fn python() -> &'static str {
    match (cfg!(windows), std::env::var_os("VIRTUAL_ENV")) {
        (true, _) => "python.exe",
        (false, Some(_)) => "python",
        (false, None) => "python3",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn chosen(libtorch: Option<&str>, pytorch: Option<&str>) -> Libtorch {
        choose(
            libtorch.map(OsStr::new),
            pytorch.map(OsStr::new),
            Path::new("/ws/.native/libtorch"),
        )
        .unwrap()
    }

    #[test]
    fn own_folder_wins_then_pytorch_then_cache() {
        assert_eq!(
            chosen(Some("/opt/libtorch"), Some("1")),
            Libtorch::Own("/opt/libtorch".into())
        );
        assert_eq!(chosen(None, Some("1")), Libtorch::PyTorch);
        assert_eq!(chosen(None, None), Libtorch::Cached);
        assert_eq!(chosen(Some(""), Some("0")), Libtorch::Cached);
    }

    #[test]
    fn the_link_that_cargo_sets_is_not_the_users_choice() {
        assert_eq!(chosen(Some("/ws/.native/libtorch"), None), Libtorch::Cached);
        assert_eq!(
            chosen(Some("/ws/.native/libtorch"), Some("1")),
            Libtorch::PyTorch
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_link_is_known_through_another_spelling_of_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("real/.native")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("alias"))
            .unwrap();
        let link = folder.path().join("real/.native/libtorch");
        let value = folder.path().join("alias/.native/libtorch");
        assert_eq!(
            choose(Some(value.as_os_str()), None, &link).unwrap(),
            Libtorch::Cached
        );
    }

    #[test]
    fn relative_path_is_refused() {
        let error = choose(Some(OsStr::new("libtorch")), None, Path::new("/ws/l")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "LIBTORCH=libtorch: expected an absolute path"
        );
    }

    #[test]
    fn own_folder_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let text = check_folder(folder.path(), false).unwrap_err().to_string();
        assert!(
            text.contains("expected a folder with lib/libtorch.so and include/"),
            "{text}"
        );

        fs::create_dir_all(folder.path().join("lib")).unwrap();
        fs::create_dir_all(folder.path().join("include")).unwrap();
        fs::write(folder.path().join("lib/libtorch.so"), "").unwrap();
        check_folder(folder.path(), false).unwrap();

        fs::write(folder.path().join("build-version"), "2.10.0+cpu\n").unwrap();
        let text = check_folder(folder.path(), false).unwrap_err().to_string();
        assert!(
            text.contains("is version 2.10.0, expected 2.11.0"),
            "{text}"
        );
        check_folder(folder.path(), true).unwrap();

        fs::write(folder.path().join("build-version"), "2.11.0+cu130\n").unwrap();
        check_folder(folder.path(), false).unwrap();
    }
}
