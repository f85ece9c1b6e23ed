//! The common noise variance under which the mixture of an ensemble's members predicts given rows best.
//!
//! ```text
//! σ²* = argmin_{σ²} − Σ_i ln (1/N) Σ_p N(y_i | μ_pi, v_pi + σ²)
//! ```
//!
//! with the variances `v_pi` of the members' means held, zero without Laplace approximations. It is found as a function of
//! `ln σ²`. The variance that suits the *moments* of the mixture is no substitute: where the spread of the members alone
//! explains the errors it is next to nothing, and the density of each member a needle.

use ndarray::ArrayView1;

use super::Prediction;
use super::classes::log_sum_exp;
use super::minimum::minimum;

impl Prediction {
    /// `σ²*` for one target a row, within `[floor, largest squared error of a member]`.
    pub(crate) fn best_common_noise(&self, targets: ArrayView1<'_, f64>, floor: f64) -> f64 {
        let squared = (&self.means - &targets).mapv_into(|error| error * error);
        // Rows by rows: that is how they are summed.
        let squared = squared.reversed_axes();
        let laplace = self.laplace.as_ref().map(|variances| variances.t());
        let loss = |log_variance: f64| -> f64 {
            let variance = log_variance.exp();
            let rows = squared.rows().into_iter().enumerate();
            rows.map(|(i, errors)| {
                let terms = errors.iter().enumerate().map(|(p, error)| {
                    let v = variance + laplace.map_or(0.0, |variances| variances[[i, p]]);
                    -0.5 * (error / v + v.ln())
                });
                -log_sum_exp(terms)
            })
            .sum()
        };
        let low = floor.ln();
        let largest = squared.iter().fold(floor, |a, b| a.max(*b));
        minimum(loss, low, largest.ln().max(low + 1e-9)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Array2, array};

    fn members(means: Array2<f64>) -> Prediction {
        let noise = Array2::ones(means.dim());
        Prediction::new(means, noise).unwrap()
    }

    #[test]
    fn of_one_member_it_is_the_mean_squared_error() {
        let errors = [0.1, -0.5, 0.9, 0.02];
        let one = members(Array2::from_shape_fn((1, 4), |(_, i)| 7.0 + errors[i]));
        let found = one.best_common_noise(array![7.0, 7.0, 7.0, 7.0].view(), 1e-8);
        let mean = errors.iter().map(|error| error * error).sum::<f64>() / 4.0;
        assert_relative_eq!(found, mean, max_relative = 1e-5);
        // Members that agree are one.
        let same = one.means.broadcast((3, 1, 4)).unwrap().to_owned();
        let same = members(same.into_shape_with_order((3, 4)).unwrap());
        let again = same.best_common_noise(array![7.0, 7.0, 7.0, 7.0].view(), 1e-8);
        assert_relative_eq!(again, mean, max_relative = 1e-5);
    }

    #[test]
    fn a_constant_laplace_variance_is_subtracted() {
        let one = members(array![[0.3, -0.7, 0.9, 0.1]]);
        let one = one.with_laplace(Array2::from_elem((1, 4), 0.2)).unwrap();
        let found = one.best_common_noise(array![0.0, 0.0, 0.0, 0.0].view(), 1e-8);
        assert_relative_eq!(found, 1.4 / 4.0 - 0.2, max_relative = 1e-5);
    }

    /// By the definition: no other variance of a fine grid gives the rows a larger density.
    #[test]
    fn no_other_variance_is_better() {
        let y = array![0.1, 1.2, -0.4, 2.0, 0.0];
        let three = members(Array2::from_shape_fn((3, 5), |(p, i)| {
            y[i] + ((3 * i + p) as f64 * 1.7).sin() * (0.2 + 0.3 * p as f64)
        }));
        let at = |variance: f64| {
            let prediction = three.clone().with_common_noise(variance);
            prediction.negative_log_density(y.view()).unwrap()
        };
        let found = three.best_common_noise(y.view(), 1e-8);
        let grid = (0..4000).map(|k| at(10f64.powf(-4.0 + k as f64 / 800.0)));
        assert!(at(found) <= grid.fold(f64::INFINITY, f64::min) + 1e-9);
    }

    /// Two members on either side of every target: their moments explain the errors without any noise, their densities do not.
    #[test]
    fn a_spread_as_large_as_the_errors_does_not_take_the_place_of_noise() {
        let y = array![1.0, -2.0, 0.5];
        let astride = members(Array2::from_shape_fn((2, 3), |(p, i)| {
            y[i] + if p == 0 { 0.3 } else { -0.3 }
        }));
        let found = astride.best_common_noise(y.view(), 1e-8);
        assert_relative_eq!(found, 0.09, max_relative = 1e-5);
    }

    #[test]
    fn errors_of_zero_give_the_floor() {
        let found = members(array![[0.0, 0.0]]).best_common_noise(array![0.0, 0.0].view(), 1e-8);
        assert_relative_eq!(found, 1e-8, max_relative = 1e-3);
    }
}
