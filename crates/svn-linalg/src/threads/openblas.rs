//! Three functions of OpenBLAS.
#![allow(unsafe_code, reason = "no crate declares them")]

use std::ffi::{CStr, c_char, c_int};

// Links OpenBLAS, and makes ndarray's own products use it.
use ndarray_linalg as _;

unsafe extern "C" {
    fn openblas_set_num_threads(n: c_int);
    fn openblas_get_num_threads() -> c_int;
    fn openblas_get_config() -> *mut c_char;
}

pub(super) fn set_threads(n: usize) {
    let n = c_int::try_from(n).unwrap_or(c_int::MAX).max(1);
    // SAFETY: takes any positive integer and clamps it to what OpenBLAS was built for.
    unsafe { openblas_set_num_threads(n) }
}

pub(super) fn threads() -> usize {
    // SAFETY: reads one integer.
    usize::try_from(unsafe { openblas_get_num_threads() }).unwrap_or(1)
}

pub(super) fn config() -> String {
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
