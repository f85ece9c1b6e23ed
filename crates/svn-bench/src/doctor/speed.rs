//! How fast the matrix routines in use are, beside what the vector registers of this processor allow.
//!
//! ```text
//! Gflop/s = flops / seconds: 2 m n k of a product, n³/3 of a Cholesky factor, 4n³/3 of eigenvectors
//! bound     the same of multiply-adds that never leave the registers
//! ```
//!
//! The bound is measured in the same turn, so that neither a list of processors nor their clock is needed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ndarray::Array2;
use svn_linalg::dense::{self, Real};
use svn_linalg::{Cholesky, SymmetricEigen, gram};

/// Time for one routine: several tries, of which the best counts.
const BUDGET: Duration = Duration::from_millis(40);

/// Part of the bound below which something is wrong with the machine or the build.
const LOW: f64 = 0.25;

/// A routine on one shape, one thread.
#[derive(Debug, Clone)]
pub struct Speed {
    /// Precision, operation and shape.
    pub name: &'static str,
    /// Gflop/s found.
    pub found: f64,
    /// Gflop/s of registers alone.
    pub bound: f64,
    /// Whether a part of the bound is to be expected: large products come near it, small ones and decompositions do not.
    large: bool,
}

impl Speed {
    /// Whether the speed is so low that something can be done about it.
    pub fn is_low(&self) -> bool {
        self.large && self.found < LOW * self.bound
    }
}

/// The routines on shapes of small networks, and large ones.
pub fn speeds() -> Vec<Speed> {
    let (double, single) = (bound::<f64>(), bound::<f32>());
    let speed = |name, found, bound, large| Speed {
        name,
        found,
        bound,
        large,
    };
    let (cholesky, eigen) = (factored(400), decomposed(128));
    vec![
        speed(
            "f64 product 50 × 50 × 16",
            product::<f64>(50, 50, 16),
            double,
            false,
        ),
        speed(
            "f64 product 400 × 400 × 400",
            product::<f64>(400, 400, 400),
            double,
            true,
        ),
        speed(
            "f32 product 400 × 400 × 400",
            product::<f32>(400, 400, 400),
            single,
            true,
        ),
        speed("f64 Cholesky 400", cholesky, double, false),
        speed("f64 eigenvectors 128", eigen, double, false),
    ]
}

fn bound<T: Real>() -> f64 {
    let rounds = 20_000;
    best(
        dense::register_operations::<T>(1) as f64 * rounds as f64,
        || {
            black_box(dense::register_operations::<T>(rounds));
        },
    )
}

fn product<T: Real>(m: usize, n: usize, k: usize) -> f64 {
    let (a, b) = (Array2::<T>::ones((m, k)), Array2::<T>::ones((k, n)));
    let mut c = Array2::<T>::zeros((m, n));
    best(2.0 * (m * n * k) as f64, || {
        dense::multiply(T::one(), a.view(), b.view(), T::zero(), c.view_mut());
        black_box(&c);
    })
}

/// Positive definite, without structure.
fn matrix(n: usize) -> Array2<f64> {
    let rows = Array2::from_shape_fn((n, n), |(i, j)| ((7 * i * j + 3 * j) % 17) as f64 / 17.0);
    gram(1.0, rows.view()) + Array2::<f64>::eye(n)
}

fn factored(n: usize) -> f64 {
    let a = matrix(n);
    best((n as f64).powi(3) / 3.0, || {
        black_box(Cholesky::factorize_owned(a.clone())).ok();
    })
}

fn decomposed(n: usize) -> f64 {
    let a = matrix(n);
    best(4.0 / 3.0 * (n as f64).powi(3), || {
        black_box(SymmetricEigen::factorize(a.view())).ok();
    })
}

/// Gflop/s of the fastest of the calls that fit the budget.
fn best(flops: f64, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut least = f64::INFINITY;
    while least.is_infinite() || start.elapsed() < BUDGET {
        let begin = Instant::now();
        call();
        least = least.min(begin.elapsed().as_secs_f64());
    }
    flops / least.max(1e-9) * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_routine_is_faster_than_registers() {
        for speed in speeds() {
            // Another program may have had the processor while the bound was measured: twice that, then.
            assert!(
                speed.found > 0.0 && speed.found < 2.0 * speed.bound,
                "{speed:?}"
            );
        }
    }

    #[test]
    fn only_large_products_are_judged() {
        let speed = |found, large| Speed {
            name: "",
            found,
            bound: 100.0,
            large,
        };
        assert!(speed(24.0, true).is_low());
        assert!(!speed(26.0, true).is_low() && !speed(1.0, false).is_low());
    }
}
