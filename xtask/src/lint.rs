//! `lint`: formatting, clippy on both builds, documentation, packages of the crates; a warning is an error.

use crate::build::Build;
use crate::paths::Place;
use crate::{process, say};
use anyhow::Result;
use std::process::ExitCode;

/// `cargo xtask lint`.
pub(crate) fn run(place: &Place, offline: bool) -> Result<ExitCode> {
    process::check(process::cargo(&place.root, offline).args(["fmt", "--all", "--check"]))?;
    let native = Build::native(place, offline)?;
    for build in [&native, &Build::Plain] {
        let mut clippy = process::cargo(&place.root, offline);
        clippy.args(["clippy", "--all-targets"]);
        build.apply_to_workspace(&mut clippy);
        // `-D warnings` after `--` reaches the workspace's crates only; RUSTFLAGS would rebuild everything.
        process::check(clippy.args(["--", "-D", "warnings"]))?;
    }
    let mut doc = process::cargo(&place.root, offline);
    doc.args(["doc", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    native.apply_to_workspace(&mut doc);
    process::check(&mut doc)?;
    // That others can depend on the libraries and install the command. What they compile to is tested elsewhere; that no file
    // is missing, by `graph`.
    let mut package = process::cargo(&place.root, offline);
    package.args(["package", "--workspace", "--allow-dirty", "--no-verify"]);
    process::check(package.args(["--quiet", "--exclude", "xtask"]))?;
    say::out("lint: formatting, clippy, documentation and packages are clean");
    Ok(ExitCode::SUCCESS)
}
