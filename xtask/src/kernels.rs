//! `test --kernels`: the tests of the numeric crates on a set of OpenBLAS kernels other than the processor's own.
//!
//! Sets differ in the order of their sums, so a tolerance that holds by luck fails on one of them.

use crate::build::Build;
use crate::failure::bad_input;
use crate::paths::Place;
use crate::setup::{self, OpenBlas};
use crate::{process, say, test};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::process::ExitCode;

/// The set that the checks of a change run on: no fused multiply-add and two numbers a register, unlike all current
/// processors, and in every OpenBLAS for x86-64 that has sets to choose from.
pub(crate) const CHECKED: &str = "Prescott";

/// Crates whose results depend on the kernels.
const NUMERIC: [&str; 4] = ["svn-linalg", "svn-curvature", "svn-stein", "svn-models"];

/// `cargo xtask test --kernels NAME [-- ARGS]`.
pub(crate) fn run(
    place: &Place,
    kernels: &str,
    args: &[String],
    offline: bool,
) -> Result<ExitCode> {
    let build = Build::native(place, offline)?;
    let blas = setup::probe_openblas(Some(kernels)).context("OpenBLAS does not link")?;
    if let Some(reason) = reason_to_leave_out(kernels, std::env::consts::ARCH, &blas)? {
        say::out(format_args!(
            "tests on {kernels} kernels are left out: {reason}"
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let mut cargo = test::cargo(place, &build, offline);
    // Targets of the workspace by name: `--package` would resolve features anew and build everything a second time.
    // The unit tests of svn-bench come along.
    cargo.args(["--no-fail-fast", "--lib"]);
    for name in integration_tests(place)? {
        cargo.args(["--test", &name]);
    }
    cargo.args(args).env("OPENBLAS_CORETYPE", kernels);
    Ok(process::pass_on(process::status(&mut cargo)?))
}

/// Why there is no choice of kernels here.
///
/// # Errors
/// There is a choice, but OpenBLAS took others than `kernels`: a name it does not know, or the processor cannot run.
fn reason_to_leave_out(kernels: &str, arch: &str, blas: &OpenBlas) -> Result<Option<String>> {
    if arch != "x86_64" {
        return Ok(Some(format!("the processor is {arch}, not x86_64")));
    }
    if !blas.config.contains("DYNAMIC_ARCH") {
        return Ok(Some(format!(
            "this OpenBLAS has one set, {} (no DYNAMIC_ARCH)",
            blas.core
        )));
    }
    if !blas.core.eq_ignore_ascii_case(kernels) {
        return Err(bad_input(format!(
            "OpenBLAS has no kernels {kernels} for this processor and took {}; known are Prescott, Nehalem, Sandybridge, \
             Haswell, Zen, SkylakeX and more",
            blas.core
        )));
    }
    Ok(None)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Names of the integration tests of the numeric crates.
fn integration_tests(place: &Place) -> Result<Vec<String>> {
    let metadata = process::cargo_metadata(&place.root, &["--no-deps"])?;
    Ok(tests_of(&metadata))
}

fn tests_of(metadata: &Metadata) -> Vec<String> {
    metadata
        .packages
        .iter()
        .filter(|package| NUMERIC.contains(&package.name.as_str()))
        .flat_map(|package| &package.targets)
        .filter(|target| target.kind.iter().any(|kind| kind == "test"))
        .map(|target| target.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::exit_code;

    fn blas(config: &str, core: &str) -> OpenBlas {
        OpenBlas {
            config: config.to_string(),
            core: core.to_string(),
            threads: "1".to_string(),
        }
    }

    #[test]
    fn tests_run_only_where_kernels_can_be_chosen() {
        let dynamic = |core| blas("OpenBLAS 0.3.21 DYNAMIC_ARCH MAX_THREADS=64", core);
        let left_out = |arch, blas: &OpenBlas| reason_to_leave_out("Prescott", arch, blas);
        assert_eq!(left_out("x86_64", &dynamic("Prescott")).unwrap(), None);
        let reason = left_out("aarch64", &dynamic("armv8")).unwrap().unwrap();
        assert!(reason.contains("aarch64"), "{reason}");
        let fixed = blas("OpenBLAS 0.3.21 MAX_THREADS=64", "Haswell");
        let reason = left_out("x86_64", &fixed).unwrap().unwrap();
        assert!(reason.contains("one set, Haswell"), "{reason}");
    }

    #[test]
    fn a_set_that_was_not_taken_is_the_user_s_mistake() {
        let blas = blas("OpenBLAS 0.3.21 DYNAMIC_ARCH", "Cooperlake");
        let error = reason_to_leave_out("Presskopf", "x86_64", &blas).unwrap_err();
        assert!(error.to_string().contains("Presskopf"), "{error}");
        assert!(error.to_string().contains("Cooperlake"), "{error}");
        assert_eq!(exit_code(&error), ExitCode::from(2));
    }

    #[test]
    fn the_tests_are_those_of_the_numeric_crates() {
        let text = r#"{"packages": [
            {"name": "svn-stein", "targets": [{"name": "svn_stein", "kind": ["lib"]}, {"name": "steps", "kind": ["test"]},
                                              {"name": "banana", "kind": ["example"]}]},
            {"name": "svn-bench", "targets": [{"name": "run", "kind": ["test"]}]}]}"#;
        assert_eq!(tests_of(&serde_json::from_str(text).unwrap()), ["steps"]);
    }
}
