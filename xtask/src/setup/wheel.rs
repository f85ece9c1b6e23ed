//! Downloading wheels through pip, and taking files out of them.

use super::recipe::{Recipe, Wheel};
use super::{LIBTORCH_VERSION, source};
use crate::{archive, checksum, process, say};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// Lets pip download every wheel of the recipe into a folder, from wherever pip is set up to look.
pub(super) fn download(recipe: &Recipe, folder: &Path) -> Result<()> {
    say::error(format_args!(
        "downloading libtorch {LIBTORCH_VERSION} through pip (about 550 MB on Linux, 80 MB on macOS)"
    ));
    let mut pip = Command::new(source::python());
    pip.args([
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version",
        "3.11",
    ]);
    pip.args(["--no-cache-dir", "--disable-pip-version-check", "--dest"])
        .arg(folder);
    for tag in recipe.tags {
        pip.args(["--platform", tag]);
    }
    pip.args(recipe.wheels.iter().map(|wheel| &wheel.requirement));
    // pip's own lines belong to the progress, not to this program's output.
    pip.stdout(Stdio::from(io::stderr()));
    process::check(&mut pip).context(
        "pip could not download libtorch: check the network and pip's settings, \
         or set LIBTORCH to a libtorch of your own",
    )
}

/// The downloaded file of a wheel, its checksum verified.
pub(super) fn verified(wheel: &Wheel, folder: &Path) -> Result<PathBuf> {
    let (name, version) = wheel
        .requirement
        .split_once("==")
        .context("a requirement is name==version")?;
    let start = format!("{}-{version}-", name.replace('-', "_"));
    let mut found = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(&start))
        {
            found = Some(path);
        }
    }
    let path =
        found.with_context(|| format!("pip downloaded no file for {}", wheel.requirement))?;
    let sum =
        checksum::of_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
    if sum != wheel.sha256 {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        bail!(
            "{name}: checksum differs\n  expected sha-256 {}\n  received sha-256 {sum}",
            wheel.sha256
        );
    }
    Ok(path)
}

/// Extracts what the wheel's rules name into `target`; every rule must match.
pub(super) fn unpack(wheel: &Wheel, file: &Path, target: &Path) -> Result<()> {
    let reading = || format!("cannot read {}", file.display());
    let mut used = vec![false; wheel.take.len()];
    let extract = |name: &str, content: &mut dyn io::Read| {
        let Some((rule, to)) = destination(wheel, name) else {
            return Ok(());
        };
        let to = target.join(to);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut out =
            File::create(&to).with_context(|| format!("cannot write {}", to.display()))?;
        io::copy(content, &mut out).with_context(|| format!("cannot extract {}", to.display()))?;
        used[rule] = true;
        Ok(())
    };
    archive::for_each_file(File::open(file).with_context(reading)?, extract)
        .with_context(reading)?;
    match wheel.take.iter().zip(&used).find(|(_, used)| !**used) {
        Some(((from, _), _)) => bail!("{} has no {from}", wheel.requirement),
        None => Ok(()),
    }
}

/// Which rule matches an entry, and where it goes below the target; never outside of it.
fn destination(wheel: &Wheel, name: &str) -> Option<(usize, PathBuf)> {
    wheel
        .take
        .iter()
        .enumerate()
        .find_map(|(rule, (from, to))| {
            let rest = name.strip_prefix(from.as_str())?;
            let whole = if from.ends_with('/') {
                format!("{to}{rest}")
            } else {
                to.clone()
            };
            let matches = from.ends_with('/') || rest.is_empty();
            let inside = Path::new(&whole)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            (matches && inside).then(|| (rule, PathBuf::from(whole)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel() -> Wheel {
        Wheel {
            requirement: "torch==1.0".into(),
            sha256: String::new(),
            take: vec![
                ("torch/include/".into(), "include/".into()),
                ("torch/lib/a.so".into(), "lib/a.so".into()),
            ],
        }
    }

    #[test]
    fn rules_name_folders_and_single_files() {
        let to = |name| destination(&wheel(), name).map(|(_, path)| path);
        assert_eq!(to("torch/include/a/b.h"), Some("include/a/b.h".into()));
        assert_eq!(to("torch/lib/a.so"), Some("lib/a.so".into()));
        assert_eq!(to("torch/lib/a.so.1"), None);
        assert_eq!(to("torch/lib/b.so"), None);
    }

    #[test]
    fn nothing_leaves_the_target() {
        assert_eq!(
            destination(&wheel(), "torch/include/../../../etc/passwd"),
            None
        );
    }
}
