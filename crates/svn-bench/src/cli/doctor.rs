//! `svn doctor`: the routines and libraries this binary runs on, how fast they are, and whether they compute right.

use crate::doctor::self_check;
use crate::libraries;

use super::{DONE, FAILED, print};

/// Print what is in use and the residuals of both libraries.
pub(super) fn run() -> u8 {
    print::out(format_args!("openblas   {}", libraries::blas()));
    print::out(format_args!("libtorch   {}", libraries::torch()));
    let checks = match self_check() {
        Ok(checks) => checks,
        Err(error) => {
            print::error(format_args!(
                "error: the numeric self-check could not run: {error}"
            ));
            return FAILED;
        }
    };
    for check in &checks {
        let verdict = if check.passed() { "ok" } else { "WRONG" };
        print::out(format_args!(
            "{:<16} relative residual {:.1e}  {verdict}",
            check.name, check.residual
        ));
    }
    let wrong: Vec<&str> = checks
        .iter()
        .filter(|check| !check.passed())
        .map(|check| check.name)
        .collect();
    if wrong.is_empty() {
        return DONE;
    }
    print::error(format_args!(
        "error: {} is wrong on this processor; for OpenBLAS set OPENBLAS_CORETYPE=Haswell or install a newer one",
        wrong.join(" and ")
    ));
    FAILED
}
