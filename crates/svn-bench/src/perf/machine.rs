//! The machine and the libraries of a run.

use crate::libraries;
use serde::Serialize;

/// What a reader must know to compare figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Machine {
    /// Version of this workspace.
    svn: &'static str,
    os: &'static str,
    arch: &'static str,
    /// Processor, where the system tells.
    cpu: Option<String>,
    /// Logical cores.
    pub cores: usize,
    /// `release`, or `debug` for the dev profile.
    profile: &'static str,
    blas: String,
    /// Load average of the minute before, where the system tells: a busy machine shows.
    load: Option<f64>,
}

impl Machine {
    /// This one, now.
    pub(super) fn here() -> Self {
        Self {
            svn: env!("CARGO_PKG_VERSION"),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            cpu: read("/proc/cpuinfo").and_then(|text| {
                let line = text.lines().find(|line| line.starts_with("model name"))?;
                Some(line.split_once(':')?.1.trim().to_owned())
            }),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            profile: env!("SVN_PROFILE"),
            blas: libraries::blas(),
            load: read("/proc/loadavg")
                .and_then(|text| text.split_whitespace().next()?.parse().ok()),
        }
    }
}

/// This machine on a line: processor, cores and profile.
pub fn machine() -> String {
    let here = Machine::here();
    let cpu = here.cpu.as_deref().unwrap_or(here.arch);
    let Machine { cores, profile, .. } = here;
    format!("{cpu}, {cores} logical core(s), {profile} build")
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}
