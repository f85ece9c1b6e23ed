//! The complete build of this program, that with the feature `fetch`: downloads, ZIP archives, workbooks.
//!
//! `cargo xtask` builds without, so that the first command starts sooner. One that finds that it needs the rest fails
//! with [`Needed`] before it has done anything, and is run again in the complete build.

use crate::paths::Place;
use crate::{process, say};
use anyhow::{Context, Result};
use std::process::ExitCode;

/// The command needs the complete build, and this is not it.
#[derive(Debug)]
pub(crate) struct Needed;

impl std::fmt::Display for Needed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("xtask was built without its feature `fetch`")
    }
}

impl std::error::Error for Needed {}

/// [`Needed`], unless this is the complete build: that never runs itself again.
pub(crate) fn require() -> Result<()> {
    match cfg!(feature = "fetch") {
        true => Ok(()),
        false => Err(Needed.into()),
    }
}

/// This command line once more, in the complete build; its exit code.
pub(crate) fn run_again(place: &Place) -> Result<ExitCode> {
    say::error("building what downloads and unpacks: the first time takes a minute");
    let mut cargo = process::cargo(&place.root, false);
    // Paths among the arguments are relative to where the user stands.
    cargo.current_dir(std::env::current_dir().context("the current folder is gone")?);
    cargo
        .args(["run", "--quiet", "--manifest-path"])
        .arg(place.root.join("Cargo.toml"))
        .args(["--package", "xtask", "--features", "fetch", "--"])
        .args(std::env::args_os().skip(1));
    Ok(process::pass_on(process::status(&mut cargo)?))
}
