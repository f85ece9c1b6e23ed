//! How many threads OpenBLAS may use, and which OpenBLAS it is. With the feature `lapack` OpenBLAS multiplies for `ndarray`
//! (`a.dot(&b)`) and for `ndarray-linalg`; nothing in this crate does. Without the feature there is none to set or ask.
//!
//! The number is one of the process, not of the calling thread. Set it once at the start: `cores / jobs` when several
//! runs share the machine, 1 when results must not depend on how a product is split.

#[cfg(feature = "lapack")]
mod openblas;

/// Let OpenBLAS use `n` threads (at least 1; more than it was built for is clamped).
///
/// # Examples
/// ```
/// svn_linalg::threads::set_blas_threads(1);
/// assert!(matches!(svn_linalg::threads::blas_threads(), Some(1) | None));
/// ```
pub fn set_blas_threads(n: usize) {
    #[cfg(feature = "lapack")]
    openblas::set_threads(n);
    #[cfg(not(feature = "lapack"))]
    let _ = n;
}

/// The number of threads OpenBLAS uses now.
pub fn blas_threads() -> Option<usize> {
    #[cfg(feature = "lapack")]
    return Some(openblas::threads());
    #[cfg(not(feature = "lapack"))]
    return None;
}

/// Version, build options and detected core of the OpenBLAS in this process, such as
/// `OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64`.
pub fn blas_config() -> Option<String> {
    #[cfg(feature = "lapack")]
    return Some(openblas::config());
    #[cfg(not(feature = "lapack"))]
    return None;
}
