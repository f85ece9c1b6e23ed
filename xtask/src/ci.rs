//! `ci`: everything that a change must pass.

use crate::paths::Place;
use crate::{graph, lint, perf, test};
use anyhow::Result;
use std::process::ExitCode;

/// `cargo xtask ci`: lint, graph, test, perf --quick; stops at the first that fails.
pub fn run(place: &Place, offline: bool) -> Result<ExitCode> {
    lint::run(place, offline)?;
    graph::run(place)?;
    let tested = test::run(place, &[], offline)?;
    if tested != ExitCode::SUCCESS {
        return Ok(tested);
    }
    perf::run(place, &["--quick".to_string()], offline)
}
