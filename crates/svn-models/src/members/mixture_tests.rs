//! Density, distribution, quantiles and draws of mixtures of Gaussians.

use super::*;
use approx::assert_relative_eq;
use ndarray::{Axis, array};
use proptest::prelude::*;
use std::f64::consts::PI;

/// Two humps at the first row, one at the second.
fn prediction() -> Prediction {
    let (means, noise) = (
        array![[-3.0, 1.0], [3.0, 1.0]],
        array![[0.5, 4.0], [1.5, 4.0]],
    );
    let prediction = Prediction::new(means, noise).unwrap();
    prediction
        .with_laplace(array![[0.5, 0.0], [0.5, 0.0]])
        .unwrap()
}

#[test]
fn the_density_is_the_sum_of_the_members_and_integrates_to_one() {
    let prediction = prediction();
    let normal =
        |y: f64, m: f64, v: f64| (-(y - m).powi(2) / (2.0 * v)).exp() / (2.0 * PI * v).sqrt();
    let expected = 0.5 * (normal(0.7, -3.0, 1.0) + normal(0.7, 3.0, 2.0));
    let found = prediction.density(array![0.7, 0.0].view()).unwrap();
    assert_relative_eq!(found[0], expected, max_relative = 1e-14);
    let (low, step) = (-20.0, 1e-3);
    let (mut mass, mut cumulative) = (0.0, 0.0);
    for i in 0..40_000 {
        let y = low + step * f64::from(i);
        let density = prediction.density(array![y, y].view()).unwrap()[0];
        mass += step * density;
        if i == 21_000 {
            cumulative = mass - 0.5 * step * density;
        }
    }
    assert_relative_eq!(mass, 1.0, max_relative = 1e-9);
    let at_one = prediction.cumulative(array![1.0, 1.0].view()).unwrap();
    assert_relative_eq!(at_one[0], cumulative, max_relative = 1e-6);
    assert_relative_eq!(at_one[1], 0.5, max_relative = 1e-14);
    // 1e4 standard deviations away the logarithm is there still.
    let far = prediction.log_density(array![1e4, 1e4].view()).unwrap();
    assert!(far.iter().all(|value| value.is_finite() && *value < -1e6));
}

#[test]
fn draws_have_the_moments_and_the_quantiles() {
    let prediction = prediction();
    let draws = prediction.sample(40_000, 7);
    assert_eq!(draws, prediction.sample(40_000, 7));
    // Five standard errors.
    for row in 0..2 {
        let column = draws.index_axis(Axis(1), row);
        let (mean, sd) = (column.mean().unwrap(), column.std(0.0));
        let error = prediction.sd()[row] / 200.0;
        assert!(
            (mean - prediction.mean()[row]).abs() < 5.0 * error,
            "{mean}"
        );
        assert!((sd - prediction.sd()[row]).abs() < 5.0 * error, "{sd}");
        let (low, high) = prediction.interval(0.8).unwrap();
        let inside = column.iter().filter(|y| **y > low[row] && **y < high[row]);
        let share = inside.count() as f64 / 40_000.0;
        assert!((share - 0.8).abs() < 5.0 * 0.002, "{share}");
    }
}

#[test]
fn levels_and_lengths_are_checked() {
    let message = |level| prediction().quantile(level).unwrap_err().to_string();
    for level in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(message(level).starts_with("quantile is "), "{level}");
    }
    assert!(prediction().interval(1.0).is_err());
    assert!(prediction().log_density(array![1.0].view()).is_err());
}

proptest! {
    #[test]
    fn quantiles_invert_the_distribution(
        means in proptest::collection::vec(-1e3..1e3_f64, 1..6), level in 0.001..0.999_f64, scale in -3..3_i32
    ) {
        let n = means.len();
        let means = Array2::from_shape_vec((n, 1), means).unwrap();
        let noise = Array2::from_shape_fn((n, 1), |(p, _)| 10f64.powi(scale) * (1.0 + p as f64));
        let prediction = Prediction::new(means, noise).unwrap();
        let y = prediction.quantile(level).unwrap();
        let back = prediction.cumulative(y.view()).unwrap()[0];
        // A last place of y moves F by at most its density times 1e3 · eps.
        prop_assert!((back - level).abs() < 1e-10, "{back} {level}");
        // The slow way: halve the line until nothing lies between neighbours.
        let (mut low, mut high) = (-1e6, 1e6);
        loop {
            let middle = low + 0.5 * (high - low);
            if !(middle > low && middle < high) {
                break;
            }
            match prediction.cumulative_at(0, middle) < level {
                true => low = middle,
                false => high = middle,
            }
        }
        let density = prediction.density(y.view()).unwrap()[0];
        // Where the density is small, rounding of F is many places of y.
        let close = 1e-12 * 1e3 + 1e-15 / density.max(1e-300);
        prop_assert!((y[0] - low).abs() <= close, "{} {low} {close}", y[0]);
    }
}

/// Student t members, and members that are mixtures: two rows each.
fn other_families() -> [Prediction; 2] {
    let means = array![[-3.0, 1.0], [3.0, 1.0]];
    let scales = array![[0.5, 4.0], [1.5, 4.0]];
    let heavy = Prediction::student_t(means, scales, 4.0).unwrap();
    let members = Prediction::mixture(
        array![[[0.0, 1.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, -30.0]]],
        array![[[-3.0, 1.0], [0.0, 5.0]], [[2.0, 2.5], [1.0, 90.0]]],
        array![[[0.5, 1.0], [1.0, 0.2]], [[3.0, 0.1], [1.0, 1.0]]],
    );
    [heavy, members.unwrap()]
}

#[test]
fn density_distribution_and_moments_of_other_families_agree() {
    for prediction in other_families() {
        let (step, mut y) = (2e-3, -400.0);
        let (mut mass, mut mean, mut second) = (0.0, 0.0, 0.0);
        let mut checked = 0;
        while y < 400.0 {
            let density = prediction.density(array![y, y].view()).unwrap()[0];
            mass += step * density;
            mean += step * density * y;
            second += step * density * y * y;
            if (y - f64::from(checked)).abs() < 0.5 * step && checked < 4 {
                let cumulative = prediction.cumulative(array![y, y].view()).unwrap()[0];
                assert_relative_eq!(cumulative, mass - 0.5 * step * density, max_relative = 1e-5);
                checked += 1;
            }
            y += step;
        }
        assert_eq!(checked, 4);
        // Of a t with ν = 4 the fourth power of 400 is left out, its square in the variance.
        assert_relative_eq!(mass, 1.0, max_relative = 1e-8);
        assert_relative_eq!(mean, prediction.mean()[0], epsilon = 1e-6);
        let variance = second - mean * mean;
        assert_relative_eq!(variance, prediction.variance()[0], max_relative = 1e-4);
    }
}

#[test]
fn quantiles_of_other_families_invert_the_distribution() {
    for prediction in other_families() {
        for level in [1e-6, 0.05, 0.3, 0.5, 0.9, 0.999] {
            let y = prediction.quantile(level).unwrap();
            let back = prediction.cumulative(y.view()).unwrap();
            for back in back {
                assert!((back - level).abs() < 1e-12, "{back} {level}");
            }
        }
    }
}

#[test]
fn draws_of_other_families_have_the_quantiles() {
    for prediction in other_families() {
        let draws = prediction.sample(40_000, 7);
        assert_eq!(draws, prediction.sample(40_000, 7));
        for level in [0.05, 0.5, 0.9] {
            let y = prediction.quantile(level).unwrap();
            for row in 0..2 {
                let column = draws.column(row);
                let below = column.iter().filter(|draw| **draw <= y[row]).count();
                let share = below as f64 / 40_000.0;
                let error = (level * (1.0 - level) / 40_000.0f64).sqrt();
                assert!((share - level).abs() < 5.0 * error, "{level}: {share}");
            }
        }
    }
}

#[test]
fn the_mean_negative_log_density_is_that_of_the_rows() {
    for prediction in other_families() {
        let y = array![0.3, 1e4];
        let rows = prediction.log_density(y.view()).unwrap();
        assert!(rows.iter().all(|value| value.is_finite()));
        let found = prediction.negative_log_density(y.view()).unwrap();
        assert_relative_eq!(found, -(rows[0] + rows[1]) / 2.0, max_relative = 1e-15);
        assert!(prediction.negative_log_density(array![1.0].view()).is_err());
    }
}

/// Levels 0 to 2: of the members `P(0)` is σ(−½) and σ(½), `P(≤ 1)` is σ(½) and σ(3/2) at the first row.
#[test]
fn levels_have_probabilities_a_staircase_and_quantiles_among_them() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let locations = array![[1.0, 9.0], [0.0, 9.0]];
    let prediction = Prediction::ordinal(0.0, 3, locations, array![[1.0, 0.01], [1.0, 0.01]]);
    let prediction = prediction.unwrap();
    let first = 0.5 * (sigmoid(-0.5) + sigmoid(0.5));
    let second = 0.5 * (sigmoid(0.5) + sigmoid(1.5));
    let at = |y: f64| {
        let y = array![y, 2.0];
        let density = prediction.density(y.view()).unwrap();
        (density[0], prediction.cumulative(y.view()).unwrap()[0])
    };
    for (y, density, cumulative) in [
        (-3.0, first, 0.0),
        (0.0, first, first),
        (0.7, second - first, first),
        (1.0, second - first, second),
        (2.0, 1.0 - second, 1.0),
        (7.0, 1.0 - second, 1.0),
    ] {
        let found = at(y);
        assert_relative_eq!(found.0, density, max_relative = 1e-13);
        assert_relative_eq!(found.1, cumulative, max_relative = 1e-13);
    }
    let mean = (second - first) + 2.0 * (1.0 - second);
    assert_relative_eq!(prediction.mean()[0], mean, max_relative = 1e-13);
    let square = (second - first) + 4.0 * (1.0 - second);
    let variance = square - mean * mean;
    assert_relative_eq!(prediction.variance()[0], variance, max_relative = 1e-12);
    for (level, expected) in [(0.1, 0.0), (0.499, 0.0), (0.501, 1.0), (0.99, 2.0)] {
        let found = prediction.quantile(level).unwrap();
        assert_eq!(found, array![expected, 2.0], "{level}");
    }
    let draws = prediction.sample(20_000, 3);
    assert!(draws.iter().all(|y| [0.0, 1.0, 2.0].contains(y)));
    let share = draws.column(0).iter().filter(|y| **y == 0.0).count() as f64 / 20_000.0;
    assert!((share - first).abs() < 5.0 * 0.0036, "{share} {first}");
    // Half as dense where a step is two.
    let scaled = prediction.clone().rescaled(10.0, 2.0).select(&[0]);
    let found = scaled.density(array![12.0].view()).unwrap()[0];
    assert_relative_eq!(found, 0.5 * (second - first), max_relative = 1e-13);
    assert_eq!(scaled.quantile(0.7).unwrap(), array![12.0]);
    assert_relative_eq!(scaled.mean()[0], 10.0 + 2.0 * mean, max_relative = 1e-13);
    let loss = prediction.selection_loss(array![1.0, 2.0].view()).unwrap();
    let expected = -prediction
        .log_density(array![1.0, 2.0].view())
        .unwrap()
        .sum()
        / 2.0;
    assert_relative_eq!(loss, expected, max_relative = 1e-15);
    assert!(Prediction::ordinal(0.0, 1, array![[0.0]], array![[1.0]]).is_err());
}
