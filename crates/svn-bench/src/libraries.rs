//! The native libraries that are built in.

use std::collections::BTreeMap;

/// What a record says of the libraries in use.
pub(crate) fn environment() -> BTreeMap<String, String> {
    BTreeMap::from([("blas".to_owned(), blas())])
}

/// Version and kernels of OpenBLAS, or that there is none.
pub(crate) fn blas() -> String {
    svn_linalg::threads::blas_config().unwrap_or_else(|| "not built in".to_owned())
}

/// Threads and CUDA devices of libtorch, or that there is none.
pub(crate) fn torch() -> String {
    #[cfg(feature = "torch")]
    return {
        let cuda = match tch::Cuda::is_available() {
            true => format!("{} CUDA device(s)", tch::Cuda::device_count()),
            false => "no CUDA (built without, or no device)".to_owned(),
        };
        format!("{} threads, {cuda}", tch::get_num_threads())
    };
    #[cfg(not(feature = "torch"))]
    return "not built in".to_owned();
}
