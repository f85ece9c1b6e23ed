//! Threads of the libraries behind the backends.

/// Lets libtorch use `n` threads, where it is built in. Parallelism is over particles and runs: threads inside an operation
/// would only compete with these.
///
/// The number is one of the process. Without it libtorch takes as many threads as there are cores.
pub fn set_torch_threads(n: usize) {
    #[cfg(feature = "torch")]
    tch::set_num_threads(i32::try_from(n).unwrap_or(i32::MAX).max(1));
    #[cfg(not(feature = "torch"))]
    let _ = n;
}
