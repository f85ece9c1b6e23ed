//! The score against its defining integral by trapezoids, and against golden values.

use approx::assert_relative_eq;
use ndarray::{Array2, Array3, array};

use super::*;

/// `∫ (F − 1[t ≥ y])²` by Simpson's rule on both sides of the target, where the integrand is smooth.
fn integral(prediction: &Prediction, y: f64, (low, high): (f64, f64)) -> f64 {
    let steps = 20_000;
    let side = |from: f64, to: f64, of: &dyn Fn(f64) -> f64| {
        let h = (to - from) / f64::from(steps);
        let at = |k: i32| {
            let weight = match k {
                0 => 1.0,
                k if k == steps => 1.0,
                k => f64::from(2 + 2 * (k % 2)),
            };
            weight * of(prediction.cumulative_at(0, from + h * f64::from(k)))
        };
        h / 3.0 * (0..=steps).map(at).sum::<f64>()
    };
    side(low, y, &|below| below.powi(2)) + side(y, high, &|below| (1.0 - below).powi(2))
}

fn score(prediction: &Prediction, y: f64) -> f64 {
    prediction.crps(array![y].view()).unwrap()[0]
}

#[test]
fn of_gaussians_it_is_the_integral() {
    let means = array![[-3.0], [1.0], [1.2]];
    let single = Prediction::new(means.clone(), array![[0.5], [4.0], [0.01]]).unwrap();
    let wide = single.clone().with_laplace(array![[0.3], [0.0], [2.0]]);
    let mixture = Prediction::mixture(
        Array3::from_shape_vec((2, 1, 2), vec![0.1, -1.0, 2.0, 0.0]).unwrap(),
        Array3::from_shape_vec((2, 1, 2), vec![-2.0, 3.0, 0.0, 0.5]).unwrap(),
        Array3::from_shape_vec((2, 1, 2), vec![0.2, 1.0, 5.0, 0.04]).unwrap(),
    );
    for prediction in [single, wide.unwrap(), mixture.unwrap()] {
        for y in [-4.0, 0.3, 1.1, 9.0] {
            let expected = integral(&prediction, y, (-30.0, 40.0));
            // Steps of at most 0.0022 where the narrowest is 0.1 wide: (h/0.1)⁴/180 of it.
            assert_relative_eq!(score(&prediction, y), expected, max_relative = 1e-8);
        }
    }
}

#[test]
fn of_student_t_it_is_the_integral() {
    // Alike, apart, and of scales thirty times apart.
    for (means, squared_scales) in [
        (array![[0.2], [0.3]], array![[1.0], [1.5]]),
        (array![[-5.0], [8.0]], array![[0.3], [2.0]]),
        (array![[2.0], [0.0], [2.5]], array![[1e-2], [9.0], [4e-2]]),
    ] {
        for degrees in [4.0, 11.0] {
            let prediction =
                Prediction::student_t(means.clone(), squared_scales.clone(), degrees).unwrap();
            for y in [-3.0, 2.0, 7.5] {
                // Tails of degree 4 have 1e-7 beyond: their squares, which the integral is of, nothing.
                let expected = integral(&prediction, y, (-150.0, 150.0));
                assert_relative_eq!(score(&prediction, y), expected, max_relative = 1e-5);
            }
        }
    }
}

#[test]
fn a_standard_student_t_has_the_score_of_its_formula() {
    // 2 f(0) ν/(ν − 1) − 2 √ν B(½, ν − ½)/((ν − 1) B(½, ν/2)²) at the centre, ν = 4 (Jordan et al., scoringRules, 2019).
    let prediction = Prediction::student_t(array![[0.0]], array![[1.0]], 4.0).unwrap();
    let density = 0.375;
    let beta = |a: f64, b: f64| libm::tgamma(a) * libm::tgamma(b) / libm::tgamma(a + b);
    let spread = 2.0 * 2.0 / 3.0 * beta(0.5, 3.5) / beta(0.5, 2.0).powi(2);
    let expected = 2.0 * density * 4.0 / 3.0 - spread;
    assert_relative_eq!(score(&prediction, 0.0), expected, max_relative = 1e-8);
}

#[test]
fn of_levels_it_is_the_sum_of_squares_of_a_staircase() {
    let prediction =
        Prediction::ordinal(2.0, 5, array![[3.4], [4.9]], array![[0.2], [0.7]]).unwrap();
    for y in [1.0, 2.0, 4.0, 4.3, 6.0, 8.5] {
        let expected: f64 = (-4000..12_000)
            .map(|k| (f64::from(k) + 0.5) * 1e-3)
            .map(|t| {
                let below = prediction.cumulative_at(0, t);
                1e-3 * (below - f64::from(t >= y)).powi(2)
            })
            .sum();
        assert_relative_eq!(score(&prediction, y), expected, max_relative = 1e-9);
    }
}

#[test]
fn it_has_the_units_of_the_target_and_rows_are_checked() {
    let prediction = Prediction::student_t(array![[0.0], [1.0]], array![[1.0], [0.2]], 4.0);
    let prediction = prediction.unwrap();
    let before = score(&prediction, 0.7);
    let other = prediction.clone().rescaled(50.0, 3.0);
    assert_relative_eq!(score(&other, 52.1), 3.0 * before, max_relative = 1e-9);
    assert!(prediction.crps(array![1.0, 2.0].view()).is_err());
    let far = Prediction::new(Array2::zeros((2, 1)), Array2::ones((2, 1))).unwrap();
    // Far away the distance alone.
    let expected = 1e6 - 1.0 / PI.sqrt();
    assert_relative_eq!(score(&far, 1e6), expected, max_relative = 1e-12);
}
