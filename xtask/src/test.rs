//! `test`: every test of the workspace, after the set-up that they need.

use crate::build::Build;
use crate::paths::Place;
use crate::process;
use anyhow::Result;
use std::process::{Command, ExitCode};

/// `cargo xtask test [-- ARGS]`.
pub(crate) fn run(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    let mut cargo = cargo(place, &Build::native(place, offline)?, offline);
    Ok(process::pass_on(process::status(cargo.args(args))?))
}

/// `cargo xtask test --plain [-- ARGS]`: the crates in the build that needs no set-up.
pub(crate) fn run_plain(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    let mut cargo = cargo(place, &Build::Plain, offline);
    cargo.args(["--exclude", "xtask"]).args(args);
    Ok(process::pass_on(process::status(&mut cargo)?))
}

/// `cargo test` with the selection that decides what is built.
pub(crate) fn cargo(place: &Place, build: &Build, offline: bool) -> Command {
    let mut cargo = process::cargo(&place.root, offline);
    cargo.arg("test");
    build.apply_to_workspace(&mut cargo);
    cargo
}
