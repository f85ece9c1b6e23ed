//! The common noise variance under which an ensemble predicts given rows best.
//!
//! ```text
//! σ²* = argmin_{σ²} Σ_i ½ [ (y_i − μ_i)²/(v_i + σ²) + ln(v_i + σ²) ]
//! ```
//!
//! with the spread `v_i` of the members held. It is found as a function of `ln σ²`.

use ndarray::ArrayView1;

use super::minimum::minimum;

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
    minimum(loss, low, high).exp()
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
