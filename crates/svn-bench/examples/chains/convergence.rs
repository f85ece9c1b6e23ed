//! Whether chains agree, and how many independent draws they are worth.
//!
//! ```text
//! each chain cut in two, M halves of n draws;   W mean of their variances,  B/n variance of their means
//! V = (n−1)/n W + B/n,    R̂ = √(V / W)
//! ρ_t = 1 − (W − mean_m γ_t) / V,    ESS = M n / (1 + 2 Σ_t ρ_t)      Σ ends where a sum of two ρ is not positive, and these
//!                                                                  sums are kept from rising
//! ```
//!
//! Reference: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), arXiv 1903.08008, without the ranks.

use serde::Serialize;

use super::round;

/// `R̂` and the effective sample size of one quantity, a row of draws a chain.
pub(crate) fn split_r_hat_and_ess(chains: &[Vec<f64>]) -> (f64, f64) {
    let halves: Vec<&[f64]> = chains
        .iter()
        .flat_map(|chain| {
            let n = chain.len() / 2;
            [&chain[..n], &chain[n..2 * n]]
        })
        .collect();
    let n = halves[0].len() as f64;
    let count = halves.len() as f64;
    let means: Vec<f64> = halves.iter().map(|half| mean(half)).collect();
    let within: Vec<f64> = halves
        .iter()
        .zip(&means)
        .map(|(half, mean)| covariance(half, *mean, 0) * n / (n - 1.0))
        .collect();
    let (within, all) = (mean(&within), mean(&means));
    let between = means.iter().map(|m| (m - all).powi(2)).sum::<f64>() / (count - 1.0);
    let total = (n - 1.0) / n * within + between;
    let correlation = |lag: usize| {
        let shared = halves.iter().zip(&means);
        let shared = shared.map(|(half, mean)| covariance(half, *mean, lag));
        1.0 - (within - shared.sum::<f64>() / count) / total
    };
    let (mut sum, mut last) = (0.0, f64::INFINITY);
    for lag in (0..halves[0].len() - 1).step_by(2) {
        let pair = if lag == 0 { 1.0 } else { correlation(lag) } + correlation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        last = pair.min(last);
        sum += last;
    }
    // The sums begin with ρ₀ = 1.
    let ess = count * n / (2.0 * sum - 1.0);
    ((total / within).sqrt(), ess)
}

/// Over points of a function, of all quantities that are told of each.
#[derive(Debug, Serialize)]
pub(crate) struct Worst {
    pub points: usize,
    /// Points where no `R̂` is above 1.05.
    pub agreed: usize,
    pub largest_r_hat: f64,
    pub least_ess: f64,
}

impl Worst {
    /// From the `R̂` and the effective sample sizes of each point.
    pub(crate) fn of<const N: usize>(points: impl Iterator<Item = ([f64; N], [f64; N])>) -> Self {
        let mut worst = Self {
            points: 0,
            agreed: 0,
            largest_r_hat: 0.0,
            least_ess: f64::INFINITY,
        };
        for (r_hat, ess) in points {
            let largest = r_hat.into_iter().fold(0.0, f64::max);
            worst.points += 1;
            worst.agreed += usize::from(largest <= 1.05);
            worst.largest_r_hat = worst.largest_r_hat.max(largest);
            worst.least_ess = ess.into_iter().fold(worst.least_ess, f64::min);
        }
        worst.largest_r_hat = round(worst.largest_r_hat);
        worst.least_ess = round(worst.least_ess);
        worst
    }
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Autocovariance, over all `n`.
fn covariance(x: &[f64], mean: f64, lag: usize) -> f64 {
    let pairs = x.iter().zip(&x[lag..]);
    pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / x.len() as f64
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha20Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    /// Chains of `x_t = ρ x_{t−1} + √(1 − ρ²) z_t`.
    fn chains(rho: f64, shift: f64) -> Vec<Vec<f64>> {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut chain = |shift: f64| {
            let mut x: f64 = StandardNormal.sample(&mut rng);
            let mut next = || {
                let z: f64 = StandardNormal.sample(&mut rng);
                x = rho * x + (1.0 - rho * rho).sqrt() * z;
                x + shift
            };
            (0..4000).map(|_| next()).collect()
        };
        vec![chain(0.0), chain(shift), chain(0.0), chain(0.0)]
    }

    #[test]
    fn chains_of_one_density_agree_and_are_worth_what_theory_says() {
        for rho in [0.0, 0.5, 0.9, -0.3] {
            let (r_hat, ess) = split_r_hat_and_ess(&chains(rho, 0.0));
            assert!((r_hat - 1.0).abs() < 0.01, "{rho}: {r_hat}");
            let expected = 16_000.0 * (1.0 - rho) / (1.0 + rho);
            assert!(
                (ess / expected - 1.0).abs() < 0.15,
                "{rho}: {ess} {expected}"
            );
        }
    }

    /// One of four apart by a standard deviation: the variance of the means is 3/16 · 8/7, so `R̂² = 1 + 3/14`.
    #[test]
    fn a_chain_apart_is_seen() {
        let (r_hat, ess) = split_r_hat_and_ess(&chains(0.0, 1.0));
        assert!((r_hat - (17.0_f64 / 14.0).sqrt()).abs() < 0.02, "{r_hat}");
        assert!(ess < 100.0, "{ess}");
    }
}
