//! `svn doctor`: the routines and libraries this binary runs on, how fast they are, and whether they compute right.

use crate::doctor::{self_check, speeds};
use crate::libraries;
use crate::terminal::{DONE, FAILED, print};

use super::Outcome;

/// Print what is in use, its residuals, and its speed.
pub(super) fn run() -> Outcome {
    print::out(format_args!("openblas   {}", libraries::blas()))?;
    print::out(format_args!("libtorch   {}", libraries::torch()))?;
    let checks = match self_check() {
        Ok(checks) => checks,
        Err(error) => {
            print::error(format_args!(
                "error: the numeric self-check could not run: {error}"
            ));
            return Ok(FAILED);
        }
    };
    for check in &checks {
        let verdict = if check.passed() { "ok" } else { "WRONG" };
        print::out(format_args!(
            "{:<16} relative residual {:.1e}  {verdict}",
            check.name, check.residual
        ))?;
    }
    print::out("speed, one thread, beside what the registers of this processor allow:")?;
    let speeds = speeds();
    for speed in &speeds {
        print::out(format_args!(
            "{:<28} {:>6.1} of {:>6.1} Gflop/s",
            speed.name, speed.found, speed.bound
        ))?;
    }
    for speed in speeds.iter().filter(|speed| speed.is_low()) {
        print::error(format_args!(
            "warning: {} has {:.0} % of it; stop other programs, or build with optimisation: cargo build --release",
            speed.name,
            100.0 * speed.found / speed.bound
        ));
    }
    let wrong: Vec<&str> = checks
        .iter()
        .filter(|check| !check.passed())
        .map(|check| check.name)
        .collect();
    if wrong.is_empty() {
        return Ok(DONE);
    }
    print::error(format_args!(
        "error: {} is wrong on this processor; for OpenBLAS set OPENBLAS_CORETYPE=Haswell or install a newer one",
        wrong.join(" and ")
    ));
    Ok(FAILED)
}
