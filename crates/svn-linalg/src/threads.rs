//! How many threads OpenBLAS may use, and which OpenBLAS it is.
//!
//! The number is one of the process, not of the calling thread. Set it once at the start: `cores / jobs` when several
//! runs share the machine, 1 when results must not depend on how a product is split.

use crate::blas;

/// Let OpenBLAS use `n` threads (at least 1; more than it was built for is clamped).
///
/// # Examples
/// ```
/// svn_linalg::threads::set_blas_threads(1);
/// assert_eq!(svn_linalg::threads::blas_threads(), 1);
/// ```
pub fn set_blas_threads(n: usize) {
    blas::set_threads(n);
}

/// The number of threads OpenBLAS uses now.
pub fn blas_threads() -> usize {
    blas::threads()
}

/// Version, build options and detected core of the OpenBLAS in this process, such as
/// `OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64`.
pub fn blas_config() -> String {
    blas::config()
}
