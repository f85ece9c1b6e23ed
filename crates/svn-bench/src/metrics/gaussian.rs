//! Scores of a Gaussian predictive `N(μ, v)`.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// `½ ln 2πv + (y−μ)²/2v`, nats.
pub fn gaussian_nll(y: f64, mean: f64, variance: f64) -> f64 {
    0.5 * (2.0 * PI).ln() + half_nll(y, mean, variance)
}

/// `½ (ln v + (y−μ)²/v)`: [`gaussian_nll`] without its constant.
pub(super) fn half_nll(y: f64, mean: f64, variance: f64) -> f64 {
    0.5 * (variance.ln() + (y - mean).powi(2) / variance)
}

/// Continuous ranked probability score `∫ (F(t) − 1[t ≥ y])² dt = σ [z (2Φ(z) − 1) + 2φ(z) − 1/√π]`,
/// `z = (y−μ)/σ`; in the units of `y`.
///
/// # References
/// Gneiting and Raftery, *Strictly proper scoring rules, prediction, and estimation*, JASA 2007, eq. 21.
pub fn gaussian_crps(y: f64, mean: f64, variance: f64) -> f64 {
    let sigma = variance.sqrt();
    let z = (y - mean) / sigma;
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    // 2Φ(z) − 1 = erf(z/√2) loses no digits near 0.
    sigma * (z * libm::erf(z * FRAC_1_SQRT_2) + 2.0 * density - 1.0 / PI.sqrt())
}

/// `Φ⁻¹(0.95)`: a Gaussian has 90 % of its mass within so many standard deviations.
pub(super) const Z90: f64 = 1.644_853_626_951_472_7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crps_is_its_defining_integral() {
        for (y, mean, variance) in [
            (0.0_f64, 0.0, 1.0_f64),
            (1.3, -0.2, 0.25),
            (-4.0, 1.0, 2.0),
            (30.0, 0.0, 1.0),
        ] {
            let sigma = variance.sqrt();
            // Trapezoids on [low, y] and [y, high], where both integrands are smooth.
            let cdf = |t: f64| 0.5 * libm::erfc(-(t - mean) / sigma * FRAC_1_SQRT_2);
            let integrate = |from: f64, to: f64, f: &dyn Fn(f64) -> f64| {
                let steps = 200_000;
                let h = (to - from) / f64::from(steps);
                (0..=steps)
                    .map(|i| {
                        f(from + h * f64::from(i)) * if i == 0 || i == steps { 0.5 } else { 1.0 }
                    })
                    .sum::<f64>()
                    * h
            };
            let (low, high) = (y.min(mean) - 10.0 * sigma, y.max(mean) + 10.0 * sigma);
            let integral = integrate(low, y, &|t| cdf(t).powi(2))
                + integrate(y, high, &|t| (1.0 - cdf(t)).powi(2));
            // Trapezoids: error about h²/12 · |jump of the slope| < 1e-8.
            assert!(
                (gaussian_crps(y, mean, variance) - integral).abs() < 1e-7,
                "{y} {mean} {variance}"
            );
        }
    }

    #[test]
    fn z90_is_the_quantile() {
        assert!((libm::erf(Z90 * FRAC_1_SQRT_2) - 0.9).abs() < 1e-15);
    }

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
