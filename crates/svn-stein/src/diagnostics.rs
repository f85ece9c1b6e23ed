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
use svn_linalg::dense;

use crate::error::SteinError;

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
    let mut centred = Array2::zeros(particles.dim());
    centre_into(particles, &mut centred);
    Ok(Summary::new(&centred, score, scale).kernel_stein_discrepancy)
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
    /// From centred particles and scores, `N × d`; `scale` is `c²` of the KSD.
    pub(crate) fn new(centred: &Array2<f64>, score: ArrayView2<'_, f64>, scale: f64) -> Self {
        let (n, d) = centred.dim();
        let gram = dense::product(centred.view(), centred.t());
        let cross = dense::product(score, centred.t());
        let scores = dense::product(score, score.t());
        let trace = gram.diag().sum();
        let squares: f64 = gram.iter().map(|g| g * g).sum();
        let mut sum = 0.0;
        for p in 0..n {
            for q in 0..=p {
                let square = (gram[(p, p)] + gram[(q, q)] - 2.0 * gram[(p, q)]).max(0.0);
                let drift = cross[(p, p)] - cross[(p, q)] - cross[(q, p)] + cross[(q, q)];
                let base = scale + square;
                let k = base.sqrt().recip();
                let cube = k / base;
                // ∇_x k = −δ cube, ∇_y k = δ cube, tr ∇_x ∇_yᵀ k = d cube − 3 ‖δ‖² cube / base.
                let term =
                    scores[(p, q)] * k + drift * cube + cube * (d as f64 - 3.0 * square / base);
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

/// Subtract the first particle and then the mean: identical particles end up at exactly zero.
pub(crate) fn centre_into(particles: ArrayView2<'_, f64>, centred: &mut Array2<f64>) {
    centred.assign(&particles);
    *centred -= &particles.row(0);
    if let Some(mean) = centred.mean_axis(Axis(0)) {
        *centred -= &mean;
    }
}

/// Number of directions the particles spread over, between 0 (all identical) and `min(N − 1, d)`.
pub fn effective_dimension(particles: ArrayView2<'_, f64>) -> f64 {
    if particles.is_empty() {
        return 0.0;
    }
    let mut centred = Array2::zeros(particles.dim());
    centre_into(particles, &mut centred);
    Summary::new(&centred, Array2::zeros(particles.dim()).view(), 1.0).effective_dimension
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
