//! `ci`: everything that a change must pass.

use crate::paths::Place;
use crate::{graph, kernels, lint, perf, test};
use anyhow::Result;
use std::process::ExitCode;

/// `cargo xtask ci`: lint, graph, perf --quick, test, test --native, test --kernels Prescott; stops at the first that fails.
pub(crate) fn run(place: &Place, offline: bool) -> Result<ExitCode> {
    lint::run(place, offline)?;
    graph::run(place)?;
    let counted = perf::run(place, &["--quick".to_string()], offline)?;
    if counted != ExitCode::SUCCESS {
        return Ok(counted);
    }
    for test in [test::run, test::run_native] {
        let tested = test(place, &[], offline)?;
        if tested != ExitCode::SUCCESS {
            return Ok(tested);
        }
    }
    kernels::run(place, kernels::CHECKED, &[], offline)
}
