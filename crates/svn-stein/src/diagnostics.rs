//! How well a set of particles represents a target or a sample.
//!
//! ```text
//! KSD²  = (1/N²) Σ_pq [ s_p·s_q k + s_p·∇_y k + s_q·∇_x k + tr ∇_x ∇_yᵀ k ](x_p, x_q),   k = (c² + ‖x−y‖²)^(−1/2)
//! effective dimension = (tr C)² / tr C²,   C the covariance of the particles
//! ```
//!
//! The KSD needs no sample of the target; with the IMQ kernel it is zero only at the target and detects escaping mass.
//! Reference: Gorham & Mackey (2017), arXiv 1703.01717.

use ndarray::{Array2, ArrayView2, Axis};

use crate::error::SteinError;
use crate::passes::Pairs;

/// Kernel Stein discrepancy of particles with these scores; `c² = scale`, for instance the dimension.
///
/// # Shapes
/// `particles`, `score`: `N × d`.
///
/// # Errors
/// [`SteinError::Shape`], [`SteinError::Empty`], or [`SteinError::Setting`] for a scale that is not positive.
pub fn kernel_stein_discrepancy(
    particles: ArrayView2<'_, f64>,
    score: ArrayView2<'_, f64>,
    scale: f64,
) -> Result<f64, SteinError> {
    check_pair(particles, score)?;
    positive("ksd.scale", scale)?;
    let mut pairs = Pairs::new(particles.nrows());
    pairs.update(particles, score);
    Ok(Summary::new(&pairs, particles.ncols(), scale).kernel_stein_discrepancy)
}

/// What a step reports of its particles, from three `N × N` tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    /// Root mean squared distance from the mean, per coordinate.
    pub spread: f64,
    pub effective_dimension: f64,
    pub kernel_stein_discrepancy: f64,
}

impl Summary {
    /// From inner products of particles of `d` coordinates and scores; `scale` is `c²` of the KSD.
    pub(crate) fn new(pairs: &Pairs, d: usize, scale: f64) -> Self {
        let n = pairs.squares.nrows();
        // Inner products of centred particles, from distances: −½ J D J with J = I − 1 1ᵀ/N.
        let means = pairs.squares.sum_axis(Axis(1)) / n as f64;
        let mean = means.sum() / n as f64;
        let trace = 0.5 * n as f64 * mean;
        let squares: f64 = pairs
            .squares
            .indexed_iter()
            .map(|((p, q), square)| (0.5 * (means[p] + means[q] - square - mean)).powi(2))
            .sum();
        let mut sum = 0.0;
        for p in 0..n {
            for q in 0..=p {
                let square = pairs.squares[(p, q)];
                let drift = pairs.drifts[(p, q)];
                let base = scale + square;
                let k = base.sqrt().recip();
                let cube = k / base;
                // ∇_x k = −δ cube, ∇_y k = δ cube, tr ∇_x ∇_yᵀ k = d cube − 3 ‖δ‖² cube / base.
                let term = pairs.scores[(p, q)] * k
                    + drift * cube
                    + cube * (d as f64 - 3.0 * square / base);
                sum += if p == q { term } else { 2.0 * term };
            }
        }
        Self {
            spread: (trace / (n * d).max(1) as f64).max(0.0).sqrt(),
            effective_dimension: if squares > 0.0 {
                trace * trace / squares
            } else {
                0.0
            },
            kernel_stein_discrepancy: sum.max(0.0).sqrt() / n as f64,
        }
    }
}

/// Number of directions the particles spread over, between 0 (all identical) and `min(N − 1, d)`.
pub fn effective_dimension(particles: ArrayView2<'_, f64>) -> f64 {
    if particles.is_empty() {
        return 0.0;
    }
    let mut pairs = Pairs::new(particles.nrows());
    pairs.update(particles, Array2::zeros(particles.dim()).view());
    Summary::new(&pairs, particles.ncols(), 1.0).effective_dimension
}

fn check_pair(
    particles: ArrayView2<'_, f64>,
    score: ArrayView2<'_, f64>,
) -> Result<(), SteinError> {
    let (n, d) = particles.dim();
    if n == 0 || d == 0 {
        return Err(SteinError::Empty {
            particles: n,
            dim: d,
        });
    }
    if score.dim() != (n, d) {
        return Err(SteinError::Shape {
            what: "score",
            found: score.shape().to_vec(),
            expected: vec![n, d],
        });
    }
    Ok(())
}

fn positive(name: &'static str, value: f64) -> Result<(), SteinError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(SteinError::Setting {
        name,
        value: value.to_string(),
        expected: "a positive number",
    })
}
