//! `lint`: formatting, clippy, documentation; a warning is an error.

use crate::paths::Place;
use crate::{process, setup};
use anyhow::Result;
use std::process::ExitCode;

/// `cargo xtask lint`.
pub(crate) fn run(place: &Place, offline: bool) -> Result<ExitCode> {
    process::check(process::cargo(&place.root, offline).args(["fmt", "--all", "--check"]))?;
    let native = setup::ensure(place, offline)?;
    // `-D warnings` after `--` reaches the workspace's crates only; RUSTFLAGS would rebuild everything.
    let mut clippy = process::cargo(&place.root, offline);
    clippy.args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    native.apply(&mut clippy);
    process::check(&mut clippy)?;
    let mut doc = process::cargo(&place.root, offline);
    doc.args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    native.apply(&mut doc);
    process::check(&mut doc)?;
    println!("lint: formatting, clippy and documentation are clean");
    Ok(ExitCode::SUCCESS)
}
