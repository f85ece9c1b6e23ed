//! The effective number of parameters: directions that the data say more of than prior and damping.
//!
//! ```text
//! γ = (1/N) Σ_p tr C_p (C_p + (δ + λ) I)⁻¹ = d − ((δ + λ)/N) Σ_p tr (H_p + λ I)⁻¹        H_p = C_p + δ I
//! ```
//!
//! Where a family knows its eigenvalues `h`, it is `Σ (h − δ)/(h + λ)`. For others the trace is Hutchinson's: `tr A ≈ (1/k) Σ_j z_jᵀ A z_j` with random
//! signs `z_j`, whose variance is at most `2 γ/(k N)`, and solves with the factor of a step are all it takes.
//!
//! A Newton step of size `ε` from a batch of `b` of `n` rows keeps the weights in motion around a maximum. On a quadratic whose scores vary from
//! row to row as its curvature says, with eigenvalues `c` and shares `ρ = c/(c + δ + λ)`, the data's part lies above its minimum by
//!
//! ```text
//! (1/2b) Σ ερ/(2 − ερ)  ≤  ε/(2 − ε) · γ/(2b)        nats a row, γ = Σ ρ; equal where all ρ are 0 or 1
//! ```
//!
//! # References
//! MacKay, *Bayesian interpolation*, Neural Computation 1992; Hutchinson, *A stochastic estimator of the trace of the influence
//! matrix*, 1989; Mandt, Hoffman and Blei, *Stochastic gradient descent as approximate Bayesian inference*, JMLR 2017.

use ndarray::Array2;
use rand::rngs::ChaCha12Rng;
use rand::{Rng, SeedableRng};
use svn_linalg::{FactorError, ParticleOperators};

/// Random vectors a particle.
const PROBES: usize = 2;

/// `γ`, mean over particles, of `H_p = C_p + shift · I`.
///
/// # Errors
/// [`FactorError`] where `H_p + damping · I` has no factor.
pub(super) fn parameters(
    curvature: &dyn ParticleOperators,
    shift: f64,
    damping: f64,
    seed: u64,
) -> Result<f64, FactorError> {
    let particles = curvature.particles();
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut sum = 0.0;
    for p in 0..particles {
        sum += match curvature.eigenvalues(p) {
            Some(values) => values.iter().map(|h| (h - shift) / (h + damping)).sum(),
            None => estimate(curvature, p, shift, damping, &mut rng)?,
        };
    }
    Ok((sum / particles.max(1) as f64).max(0.0))
}

/// Of one particle, by random vectors.
fn estimate(
    curvature: &dyn ParticleOperators,
    particle: usize,
    shift: f64,
    damping: f64,
    rng: &mut ChaCha12Rng,
) -> Result<f64, FactorError> {
    let dim = curvature.dim();
    let signs = Array2::from_shape_simple_fn((dim, PROBES), || {
        if rng.next_u32() & 1 == 0 { 1.0 } else { -1.0 }
    });
    let mut solved = Array2::zeros((dim, PROBES));
    let factor = curvature.factor(particle, damping)?;
    factor.solve_into(signs.view(), solved.view_mut());
    let inner: f64 = signs.iter().zip(&solved).map(|(z, x)| z * x).sum();
    Ok(dim as f64 - (shift + damping) * inner / PROBES as f64)
}

/// Nats a row that Newton steps of size `rate` from batches of `batch` rows hold a quadratic above its minimum, at most:
/// `ε/(2 − ε) · γ/(2b)`. Steps of `ε ≥ 2` never settle.
pub(crate) fn stationary_noise(rate: f64, parameters: f64, batch: usize) -> f64 {
    let moving = match rate < 2.0 {
        true => rate / (2.0 - rate),
        false => f64::INFINITY,
    };
    moving * parameters / (2 * batch.max(1)) as f64
}

#[cfg(test)]
mod tests {
    use ndarray::{Array3, Axis, arr2};
    use rand_distr::{Distribution, StandardNormal};
    use svn_linalg::{DiagonalMatrices, LowRank};

    use super::*;

    /// Against steps on a quadratic with drawn scores: 40 000 of them in each of ten directions, a few steps apart to forget, so that the mean
    /// is good to 2 %.
    #[test]
    fn steps_on_a_quadratic_hold_it_above_its_minimum_by_as_much() {
        let (rows, batch, shift) = (1000.0_f64, 20, 50.0);
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for rate in [0.3, 1.0] {
            let (mut measured, mut exact, mut parameters) = (0.0, 0.0, 0.0);
            for i in 0..10 {
                // Rows' scores vary by c/n, a batch's by n c/b when scaled to all rows.
                let curvature = 4f64.powi(i - 2);
                let share = curvature / (curvature + shift);
                let spread = (rows * curvature / batch as f64).sqrt();
                let (mut x, mut square, steps) = (0.0_f64, 0.0, 40_000);
                // The prior's pull is left out, as it moves the minimum and not the noise: the step is (c + δ + λ)⁻¹ s.
                for _ in 0..steps {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    x += rate / (curvature + shift) * (spread * noise - curvature * x);
                    square += x * x / f64::from(steps);
                }
                measured += 0.5 * curvature * square / rows;
                exact += rate * share / (2.0 - rate * share) / (2 * batch) as f64;
                parameters += share;
            }
            assert!((measured / exact - 1.0).abs() < 0.05, "{measured} {exact}");
            assert!(exact <= stationary_noise(rate, parameters, batch));
        }
        assert_eq!(stationary_noise(1.0, 40.0, 10), 2.0);
        assert_eq!(stationary_noise(2.0, 40.0, 10), f64::INFINITY);
    }

    /// Against eigenvalues that are known: orthogonal rows of squared length `2^i`. Of `N k` probes the estimate varies by `2γ/(N k)` at
    /// most; four standard errors are let pass.
    #[test]
    fn it_is_the_trace_over_known_eigenvalues() {
        let (particles, rows, dim) = (300, 6, 20);
        let mut written = Array3::zeros((particles, rows, dim));
        for mut one in written.axis_iter_mut(Axis(0)) {
            for i in 0..rows {
                // Not along an axis, whose trace any signs give exactly.
                let side = (0.5 * 2f64.powi(i as i32)).sqrt();
                one[(i, 2 * i)] = side;
                one[(i, 2 * i + 1)] = -side;
            }
        }
        let (weight, shift, damping) = (3.0, 0.5, 4.0);
        let curvature = LowRank {
            rows: written,
            weight,
            shift,
        };
        let expected: f64 = (0..rows)
            .map(|i| weight * 2f64.powi(i as i32))
            .map(|value| value / (value + shift + damping))
            .sum();
        let found = parameters(&curvature, shift, damping, 3).unwrap();
        let error = (2.0 * expected / (particles * PROBES) as f64).sqrt();
        assert!((found - expected).abs() < 4.0 * error, "{found} {expected}");
    }

    #[test]
    fn where_eigenvalues_are_known_it_is_exact() {
        // Data say 3 and 0 of one particle, 1 and 7 of the other.
        let curvature = DiagonalMatrices::new(arr2(&[[3.5, 0.5], [1.5, 7.5]]));
        let expected = 0.5 * (3.0 / 7.5 + 1.0 / 5.5 + 7.0 / 11.5);
        let found = parameters(&curvature, 0.5, 4.0, 3).unwrap();
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
}
