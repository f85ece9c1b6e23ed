//! `test`: the tests of the workspace, in the build that needs no set-up or in that with native libraries.

use crate::build::Build;
use crate::paths::Place;
use crate::process;
use anyhow::Result;
use std::process::{Command, ExitCode};

/// `cargo xtask test [-- ARGS]`: the crates in the build that needs no set-up.
pub(crate) fn run(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    let mut cargo = cargo(place, &Build::Plain, offline);
    cargo.args(["--exclude", "xtask"]).args(args);
    Ok(process::pass_on(process::status(&mut cargo)?))
}

/// `cargo xtask test --native [-- ARGS]`: everything, after the set-up that it needs.
pub(crate) fn run_native(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    let mut cargo = cargo(place, &Build::native(place, offline)?, offline);
    Ok(process::pass_on(process::status(cargo.args(args))?))
}

/// `cargo test` with the selection that decides what is built.
pub(crate) fn cargo(place: &Place, build: &Build, offline: bool) -> Command {
    let mut cargo = process::cargo(&place.root, offline);
    cargo.arg("test");
    build.apply_to_workspace(&mut cargo);
    cargo
}
