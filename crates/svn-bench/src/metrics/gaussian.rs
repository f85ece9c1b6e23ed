//! Scores of a Gaussian predictive `N(μ, v)`.

use std::f64::consts::PI;

/// `½ ln 2πv + (y−μ)²/2v`, nats.
pub fn gaussian_nll(y: f64, mean: f64, variance: f64) -> f64 {
    0.5 * (2.0 * PI).ln() + half_nll(y, mean, variance)
}

/// `½ (ln v + (y−μ)²/v)`: [`gaussian_nll`] without its constant.
pub(super) fn half_nll(y: f64, mean: f64, variance: f64) -> f64 {
    0.5 * (variance.ln() + (y - mean).powi(2) / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nll_integrates_to_one() {
        let h = 1e-3;
        let mass: f64 = (-20_000..20_000)
            .map(|i| (-gaussian_nll(f64::from(i) * h, 0.7, 2.5)).exp() * h)
            .sum();
        // The rectangle rule converges faster than any power of h for a Gaussian.
        assert!((mass - 1.0).abs() < 1e-12);
    }
}
