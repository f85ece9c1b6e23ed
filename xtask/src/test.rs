//! `test`: every test of the workspace, after the set-up that they need.

use crate::paths::Place;
use crate::{process, setup};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// `cargo xtask test [-- ARGS]`.
pub(crate) fn run(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    let native = setup::ensure(place, offline)?;
    let mut cargo = cargo(place, offline);
    cargo.args(args);
    native.apply(&mut cargo);
    Ok(process::pass_on(process::status(&mut cargo)?))
}

/// `cargo test` with the selection that decides what is built.
pub(crate) fn cargo(place: &Place, offline: bool) -> Command {
    let mut cargo = process::cargo(&place.root, offline);
    cargo.args(["test", "--workspace"]);
    cargo
}
