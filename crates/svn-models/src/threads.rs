//! How many threads a process works with.

use crate::ModelError;

/// Let everything here use `n` threads: rayon, over which particles are spread, and inside an operation OpenBLAS and
/// libtorch, where they are built in. Without it each takes as many as there are cores. To be called once, at the start.
///
/// # Errors
/// [`ModelError::Setting`] for none, or if rayon has started with another number already; the libraries have `n` then.
///
/// # Examples
/// ```
/// svn_models::set_threads(2)?;
/// assert!(svn_models::set_threads(3).is_err());
/// # Ok::<(), svn_models::ModelError>(())
/// ```
pub fn set_threads(n: usize) -> Result<(), ModelError> {
    if n == 0 {
        return Err(ModelError::setting("threads", n, "at least 1"));
    }
    set_library_threads(n);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n);
    let started = pool.build_global().is_err();
    match rayon::current_num_threads() {
        running if started && running != n => Err(ModelError::setting(
            "threads",
            n,
            &format!("the {running} that run already, or to be set before anything else"),
        )),
        _ => Ok(()),
    }
}

/// Let OpenBLAS and libtorch use `n` threads inside an operation, where they are built in: 1 where several fits run beside
/// each other, so that no result depends on how a product is split.
pub fn set_library_threads(n: usize) {
    svn_curvature::set_torch_threads(n);
    svn_linalg::threads::set_blas_threads(n);
}
