//! `doctor`: what is here and whether it works, without changing anything.

use crate::cli::DoctorArgs;
use crate::fetch::{self, Manifest};
use crate::paths::Place;
use crate::process::{self, answer};
use crate::say;
use crate::setup::{self, Libtorch};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{ExitCode, Stdio};

/// What `--json` prints, and how far it is known.
#[derive(Serialize)]
struct Findings {
    /// Everything is there and computes right.
    ready: bool,
    /// What is here; `null` for a variable that is not set.
    found: BTreeMap<&'static str, Option<String>>,
    /// What is not, and why.
    missing: BTreeMap<&'static str, String>,
    /// `null` where libraries are missing.
    numeric_check: Option<NumericCheck>,
    /// Whether lines are printed as they come.
    #[serde(skip)]
    shown: bool,
}

#[derive(Serialize)]
struct NumericCheck {
    passed: bool,
    /// What `svn doctor` says.
    lines: Vec<String>,
}

/// `cargo xtask doctor`.
pub(crate) fn run(place: &Place, args: &DoctorArgs, offline: bool) -> Result<ExitCode> {
    let mut findings = Findings {
        ready: false,
        found: BTreeMap::new(),
        missing: BTreeMap::new(),
        numeric_check: None,
        shown: !args.json,
    };
    findings.look(place)?;
    if findings.missing.is_empty() {
        findings.check(place, offline)?;
    } else if findings.shown {
        say::out("numeric check  left out: libraries are missing");
    }
    if args.json {
        say::out(serde_json::to_string_pretty(&findings)?);
    }
    Ok(match findings.ready {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

impl Findings {
    fn line(&self, name: &str, value: &str) {
        if self.shown {
            say::out(format_args!("{name:<14} {value}"));
        }
    }

    fn found(&mut self, name: &'static str, value: impl Into<Option<String>>) {
        let value = value.into();
        self.line(name, value.as_deref().unwrap_or("not set"));
        self.found.insert(name, value);
    }

    /// Everything but whether it computes.
    fn look(&mut self, place: &Place) -> Result<()> {
        let rustc = answer("rustc", &["--version"]);
        self.found("rustc", rustc.unwrap_or_else(|| "not found".into()));
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        self.found("platform", format!("{os} {arch}, {} cores", cores()));
        match setup::compiler_version() {
            Some(version) => self.found("C++ compiler", version),
            None => self.missing("C++ compiler", "not found"),
        }
        match setup::probe_openblas(None) {
            Some(blas) => self.found("OpenBLAS", blas.to_string()),
            None => self.missing("OpenBLAS", "does not link"),
        }
        match setup::look(place) {
            Ok(folder) => {
                let libtorch = Libtorch::from_environment(place)?;
                self.found("libtorch", setup::describe(&libtorch, place));
                self.found("CUDA", cuda(&folder));
            }
            Err(error) => self.missing("libtorch", format!("{error:#}")),
        }
        for name in [
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "OPENBLAS_CORETYPE",
        ] {
            self.found(name, std::env::var(name).ok());
        }
        self.found("cache", place.cache.display().to_string());
        self.found("data", place.data.display().to_string());
        self.found("mirror", std::env::var("SVN_DATA_MIRROR").ok());
        let manifest = Manifest::read(&place.manifest())?;
        self.found("data sets", fetch::summary(&manifest, place));
        for (name, what) in &self.missing {
            self.line(name, &format!("{what}: run `cargo xtask setup`"));
        }
        Ok(())
    }

    fn missing(&mut self, name: &'static str, what: impl Into<String>) {
        self.missing.insert(name, what.into());
    }

    /// Matrix products and eigenvalues through both libraries: `svn doctor`, which links them.
    fn check(&mut self, place: &Place, offline: bool) -> Result<()> {
        let native = setup::prepared(place)?;
        let mut cargo = process::cargo(&place.root, offline);
        cargo.args(["run", "--quiet", "--package", "svn-bench", "--bin", "svn"]);
        cargo.args(["--", "doctor"]);
        native.apply(&mut cargo);
        let (status, lines) = match self.shown {
            true => (process::status(&mut cargo)?, Vec::new()),
            false => {
                let output = cargo.stderr(Stdio::inherit()).output();
                let output = output.context("cannot run cargo")?;
                let text = String::from_utf8_lossy(&output.stdout);
                (output.status, text.lines().map(str::to_string).collect())
            }
        };
        self.ready = status.success();
        if self.shown && !self.ready {
            let fault = format!("failed: `svn doctor` ended with {status}");
            self.line("numeric check", &fault);
        }
        self.numeric_check = Some(NumericCheck {
            passed: self.ready,
            lines,
        });
        Ok(())
    }
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
