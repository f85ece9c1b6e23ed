//! The machine and the libraries of a run.

use serde::{Deserialize, Serialize};

use super::roofline::Roofline;

/// What a reader must know to compare figures. No time of day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this workspace.
    pub svn: String,
    /// Operating system.
    pub os: String,
    /// Processor architecture.
    pub arch: String,
    /// Processor, where the system tells.
    pub cpu: Option<String>,
    /// Logical cores.
    pub cores: usize,
    /// `release`, or `dev` with `debug_assertions`.
    pub profile: String,
    /// Description of OpenBLAS.
    pub blas: String,
    /// Load average of the last minute before and after, where the system tells: a busy machine shows.
    pub load: Option<(f64, f64)>,
    /// Peak resident memory of a process that only loads the libraries, in MB.
    pub empty_process_mb: Option<f64>,
    /// Milliseconds from the start of a process to the end of the first SVN step on the first shape.
    pub first_step_ms: Option<f64>,
    /// Rates of the machine, one thread.
    pub roofline: Roofline,
}

impl Environment {
    pub(super) fn new(roofline: Roofline) -> Self {
        Self {
            svn: env!("CARGO_PKG_VERSION").to_owned(),
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cpu: cpu(),
            cores: cores(),
            profile: if cfg!(debug_assertions) {
                "dev"
            } else {
                "release"
            }
            .to_owned(),
            blas: svn_linalg::threads::blas_config(),
            load: None,
            empty_process_mb: None,
            first_step_ms: None,
            roofline,
        }
    }
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Load average of the last minute.
pub(super) fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Peak resident memory of this process in MB (10⁶ bytes), where the system tells.
pub(super) fn peak_mb() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    peak_in(&text)
}

/// `VmHWM` of a status file; the unit there is KiB.
fn peak_in(status: &str) -> Option<f64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_is_read_in_its_unit() {
        let status = "Name:\tx\nVmPeak:\t  9000 kB\nVmHWM:\t  1000 kB\n";
        assert_eq!(peak_in(status), Some(1.024));
        assert_eq!(peak_in("Name:\tx\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn peak_memory_grows_with_what_is_touched() {
        let before = peak_mb().unwrap();
        let block = vec![1u8; 300_000_000];
        assert!(std::hint::black_box(&block).contains(&1));
        // Half of it, in case other threads of the tests freed much at the peak.
        assert!(peak_mb().unwrap() > before.max(150.0), "{before}");
    }
}
