//! `svn doctor`: the native libraries this binary runs on, and whether they compute right.

use crate::doctor::self_check;

use super::{DONE, FAILED, print};

/// Print what is in use and the residuals of both libraries.
pub(super) fn run() -> u8 {
    print::out(format_args!(
        "openblas   {}",
        svn_linalg::threads::blas_config()
    ));
    print::out(format_args!(
        "threads    OpenBLAS {}, libtorch {}",
        svn_linalg::threads::blas_threads(),
        tch::get_num_threads()
    ));
    print::out(format_args!("cuda       {}", cuda()));
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

fn cuda() -> String {
    if tch::Cuda::is_available() {
        format!("yes, {} device(s)", tch::Cuda::device_count())
    } else {
        "no (libtorch without CUDA, or no device)".to_owned()
    }
}
