//! Products with a Kronecker product that is never formed: the vec trick.
//!
//! ```text
//! (A ⊗ B) vec(X) = vec(A X Bᵀ)         rows of X one after the other
//! ```
//!
//! ```text
//! cargo run --example kronecker
//! ```

use std::error::Error;
use std::time::Instant;

use ndarray::{Array1, Array2};
use svn_linalg::{Kronecker, LinearOperator};

fn main() -> Result<(), Box<dyn Error>> {
    let (m, n) = (40, 50);
    let a = Array2::from_shape_fn((m, m), |(i, j)| ((i * m + j) as f64).sin());
    let b = Array2::from_shape_fn((n, n), |(i, j)| ((i * n + j) as f64).cos());
    let x = Array1::from_shape_fn(m * n, |i| (i as f64 * 0.7).sin());

    let operator = Kronecker::new(a.view(), b.view())?;
    let clock = Instant::now();
    let y = operator.apply_vec(x.view())?;
    let fast = clock.elapsed();

    // The slow way, with all (mn)² entries.
    let clock = Instant::now();
    let written = Array2::from_shape_fn((m * n, m * n), |(row, column)| {
        a[[row / n, column / n]] * b[[row % n, column % n]]
    });
    let expected = written.dot(&x);
    let slow = clock.elapsed();

    let gap = y
        .iter()
        .zip(&expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    println!(
        "{} unknowns: {fast:?} by the vec trick, {slow:?} written out, largest difference {gap:.1e}",
        m * n
    );
    assert!(gap < 1e-9);
    Ok(())
}
