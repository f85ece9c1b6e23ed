//! `doctor`: what is here and whether it works, without changing anything.

use crate::fetch::{self, Manifest};
use crate::paths::Place;
use crate::process::{self, answer};
use crate::say;
use crate::setup::{self, Libtorch};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

/// `cargo xtask doctor`.
pub(crate) fn run(place: &Place, offline: bool) -> Result<ExitCode> {
    let mut missing = Vec::new();
    let line = |name: &str, value: &str| say::out(format_args!("{name:<14} {value}"));
    line(
        "rustc",
        &answer("rustc", &["--version"]).unwrap_or_else(|| "not found".into()),
    );
    line(
        "platform",
        &format!(
            "{} {}, {} cores",
            std::env::consts::OS,
            std::env::consts::ARCH,
            cores()
        ),
    );
    match setup::compiler_version() {
        Some(version) => line("C++ compiler", &version),
        None => missing.push(("C++ compiler", "not found".to_string())),
    }
    match setup::probe_openblas(None) {
        Some(blas) => line("OpenBLAS", &blas.to_string()),
        None => missing.push(("OpenBLAS", "does not link".to_string())),
    }
    match setup::look(place) {
        Ok(folder) => {
            line(
                "libtorch",
                &setup::describe(&Libtorch::from_environment(place)?, place),
            );
            line("CUDA", &cuda(&folder));
        }
        Err(error) => missing.push(("libtorch", format!("{error:#}"))),
    }
    for name in [
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_CORETYPE",
    ] {
        line(
            name,
            &std::env::var(name).unwrap_or_else(|_| "not set".into()),
        );
    }
    line("cache", &place.cache.display().to_string());
    line("data", &place.data.display().to_string());
    line(
        "mirror",
        &std::env::var("SVN_DATA_MIRROR").unwrap_or_else(|_| "not set".into()),
    );
    line(
        "data sets",
        &fetch::summary(&Manifest::read(&place.manifest())?, place),
    );
    for (name, what) in &missing {
        line(name, &format!("{what}: run `cargo xtask setup`"));
    }
    if !missing.is_empty() {
        say::out("numeric check  left out: libraries are missing");
        return Ok(ExitCode::FAILURE);
    }
    numeric_check(place, offline)
}

/// Matrix products and eigenvalues through both libraries: `svn doctor`, which links them.
fn numeric_check(place: &Place, offline: bool) -> Result<ExitCode> {
    let native = setup::prepared(place)?;
    let mut cargo = process::cargo(&place.root, offline);
    cargo.args([
        "run",
        "--quiet",
        "--package",
        "svn-bench",
        "--bin",
        "svn",
        "--",
        "doctor",
    ]);
    native.apply(&mut cargo);
    let status = process::status(&mut cargo)?;
    if !status.success() {
        say::out(format_args!(
            "numeric check  failed: `svn doctor` ended with {status}"
        ));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn cuda(libtorch: &Path) -> String {
    let library = ["libtorch_cuda.so", "torch_cuda.dll"]
        .iter()
        .any(|name| libtorch.join("lib").join(name).exists());
    let device = answer("nvidia-smi", &["--query-gpu=name", "--format=csv,noheader"]);
    match (library, device) {
        (true, Some(name)) => format!("yes: {}", name.lines().collect::<Vec<_>>().join(", ")),
        (true, None) => "libtorch has it, but no device answers".into(),
        (false, Some(name)) => format!(
            "no: {} is here, but this libtorch is for the CPU",
            name.lines().next().unwrap_or_default()
        ),
        (false, None) => "no".into(),
    }
}
