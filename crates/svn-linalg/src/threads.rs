//! How many threads OpenBLAS may use, and which OpenBLAS it is. With the feature `lapack` OpenBLAS multiplies for `ndarray`
//! (`a.dot(&b)`) and for `ndarray-linalg`; nothing in this crate does.
//!
//! The number is one of the process, not of the calling thread. Set it once at the start: `cores / jobs` when several
//! runs share the machine, 1 when results must not depend on how a product is split.
#![allow(
    unsafe_code,
    reason = "three functions of OpenBLAS that no crate declares"
)]

use std::ffi::{CStr, c_char, c_int};

// Links OpenBLAS, and makes ndarray's own products use it.
use ndarray_linalg as _;

unsafe extern "C" {
    fn openblas_set_num_threads(n: c_int);
    fn openblas_get_num_threads() -> c_int;
    fn openblas_get_config() -> *mut c_char;
}

/// Let OpenBLAS use `n` threads (at least 1; more than it was built for is clamped).
///
/// # Examples
/// ```
/// svn_linalg::threads::set_blas_threads(1);
/// assert_eq!(svn_linalg::threads::blas_threads(), 1);
/// ```
pub fn set_blas_threads(n: usize) {
    let n = c_int::try_from(n).unwrap_or(c_int::MAX).max(1);
    // SAFETY: takes any positive integer and clamps it to what OpenBLAS was built for.
    unsafe { openblas_set_num_threads(n) }
}

/// The number of threads OpenBLAS uses now.
pub fn blas_threads() -> usize {
    // SAFETY: reads one integer.
    usize::try_from(unsafe { openblas_get_num_threads() }).unwrap_or(1)
}

/// Version, build options and detected core of the OpenBLAS in this process, such as
/// `OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64`.
pub fn blas_config() -> String {
    // SAFETY: OpenBLAS returns a pointer to a static, NUL-terminated string.
    unsafe {
        let text = openblas_get_config();
        if text.is_null() {
            String::new()
        } else {
            CStr::from_ptr(text).to_string_lossy().trim().to_owned()
        }
    }
}
