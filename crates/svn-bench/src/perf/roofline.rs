//! What this machine can do: the rate of matrix products and the memory bandwidth, one thread.
//!
//! ```text
//! C = A B, f64, n × n      2 n³ flops
//! y ← y + a x, 2^23 f64    24 bytes an entry
//! ```

use std::hint::black_box;
use std::time::Instant;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

/// Best rates of a few repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// Side of the matrices and Gflop/s of their product.
    pub gemm_gflops: Vec<(usize, f64)>,
    /// GB/s of a long `axpy`.
    pub bandwidth_gb: f64,
}

impl Roofline {
    pub(super) fn best_gflops(&self) -> f64 {
        self.gemm_gflops
            .iter()
            .map(|(_, rate)| *rate)
            .fold(0.0, f64::max)
    }
}

/// Measure with the threads that are set; `entries` of the long vectors (2^23 for a vector beyond every cache).
pub(super) fn measure(entries: usize) -> Roofline {
    let gemm_gflops = [128, 256, 512]
        .into_iter()
        .map(|side| (side, gemm(side)))
        .collect();
    Roofline {
        gemm_gflops,
        bandwidth_gb: axpy(entries),
    }
}

fn gemm(side: usize) -> f64 {
    let a = Array2::from_shape_fn((side, side), |(i, j)| ((i * 7 + j) % 11) as f64 - 5.0);
    let b = a.t().to_owned();
    let mut c = Array2::zeros((side, side));
    let flops = 2.0 * (side as f64).powi(3);
    let seconds = best(|| general_mat_mul(1.0, &a, &b, 0.0, black_box(&mut c)));
    flops / seconds * 1e-9
}

fn axpy(entries: usize) -> f64 {
    let x = Array1::from_elem(entries, 1e-3);
    let mut y = Array1::<f64>::zeros(entries);
    let seconds = best(|| black_box(&mut y).scaled_add(0.5, &x));
    24.0 * entries as f64 / seconds * 1e-9
}

/// Least time of several calls, in seconds; the first is not counted.
fn best(mut work: impl FnMut()) -> f64 {
    work();
    (0..6)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
        .max(1e-9)
}
