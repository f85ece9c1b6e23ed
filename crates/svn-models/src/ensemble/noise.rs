//! The common noise variance under which an ensemble predicts given rows best.
//!
//! ```text
//! σ²* = argmin_{σ²} Σ_i ½ [ (y_i − μ_i)²/(v_i + σ²) + ln(v_i + σ²) ]
//! ```
//!
//! with the spread `v_i` of the members held. In `ln σ²` the function has one minimum in all but odd cases; a coarse
//! scan finds its basin and golden-section search its bottom.

use ndarray::ArrayView1;

/// `σ²*` for squared errors `(y − μ)²` and spreads `v`, within `[floor, largest squared error]`.
pub fn best_noise_variance(
    squared_errors: ArrayView1<'_, f64>,
    spreads: ArrayView1<'_, f64>,
    floor: f64,
) -> f64 {
    let loss = |log_variance: f64| -> f64 {
        let variance = log_variance.exp();
        squared_errors
            .iter()
            .zip(spreads)
            .map(|(e, v)| e / (v + variance) + (v + variance).ln())
            .sum()
    };
    let low = floor.ln();
    let high = squared_errors
        .iter()
        .fold(floor, |a, b| a.max(*b))
        .ln()
        .max(low + 1e-9);
    const SCAN: usize = 64;
    let at = |k: usize| low + (high - low) * k as f64 / SCAN as f64;
    let best = (0..=SCAN)
        .min_by(|a, b| loss(at(*a)).total_cmp(&loss(at(*b))))
        .unwrap_or(SCAN);
    golden_section(loss, at(best.saturating_sub(1)), at((best + 1).min(SCAN))).exp()
}

/// Golden-section steps: each shrinks the bracket to 0.618 of its width, 30 of them to 5e-7.
const STEPS: usize = 30;

/// Minimiser of a function with one minimum in `[a, b]`, to 5e-7 of the bracket's width.
fn golden_section(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut c, mut d) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut f_c, mut f_d) = (f(c), f(d));
    for _ in 0..STEPS {
        if f_c < f_d {
            (b, d, f_d) = (d, c, f_c);
            c = b - ratio * (b - a);
            f_c = f(c);
        } else {
            (a, c, f_c) = (c, d, f_d);
            d = a + ratio * (b - a);
            f_d = f(d);
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Array1, array};

    #[test]
    fn without_spread_it_is_the_mean_squared_error() {
        let errors = array![0.1, 0.5, 0.9, 0.02];
        let found = best_noise_variance(errors.view(), Array1::zeros(4).view(), 1e-8);
        assert_relative_eq!(found, errors.mean().unwrap(), max_relative = 1e-5);
    }

    #[test]
    fn a_constant_spread_is_subtracted() {
        let errors = array![0.1, 0.5, 0.9, 0.02];
        let found = best_noise_variance(errors.view(), Array1::from_elem(4, 0.2).view(), 1e-8);
        assert_relative_eq!(found, errors.mean().unwrap() - 0.2, max_relative = 1e-5);
    }

    #[test]
    fn a_spread_that_explains_all_errors_leaves_the_floor() {
        let found = best_noise_variance(array![0.1, 0.2].view(), array![5.0, 5.0].view(), 1e-4);
        assert!(found < 1.3e-4, "{found}");
    }

    #[test]
    fn errors_of_zero_give_the_floor() {
        let found = best_noise_variance(array![0.0, 0.0].view(), array![0.0, 0.0].view(), 1e-8);
        assert_relative_eq!(found, 1e-8, max_relative = 1e-3);
    }
}
