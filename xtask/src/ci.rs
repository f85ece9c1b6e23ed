//! `ci`: everything that a change must pass.

use crate::paths::Place;
use crate::{graph, lint, test};
use anyhow::Result;
use std::process::ExitCode;

/// `cargo xtask ci`: lint, graph, test; stops at the first that fails.
pub fn run(place: &Place, offline: bool) -> Result<ExitCode> {
    lint::run(place, offline)?;
    graph::run(place)?;
    test::run(place, &[], offline)
}
