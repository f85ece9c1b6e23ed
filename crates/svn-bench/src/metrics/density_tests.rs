//! Densities by numeric integration, and equality with the common metrics where the target is hours.

use ndarray::{Array1, Array2, array};

use super::*;
use crate::metrics::regression_metrics;

fn prediction(log: bool) -> (Prediction, Array1<f64>) {
    let centre = if log { 4.0 } else { 80.0 };
    let spread = if log { 0.1 } else { 9.0 };
    let means = Array2::from_shape_fn((4, 30), |(p, i)| {
        centre + spread * ((p * 7 + i * 3) as f64).sin()
    });
    let noise = Array2::from_shape_fn((4, 30), |(p, i)| {
        (spread * (1.5 + ((p + i) as f64).cos())).powi(2)
    });
    let y = Array1::from_shape_fn(30, |i| 60.0 + 50.0 * (i as f64 * 1.7).sin());
    (Prediction::new(means, noise).unwrap(), y)
}

fn mean(density: &Density, y: &Array1<f64>, score: impl Fn(Scores) -> f64) -> f64 {
    let scores = y
        .iter()
        .enumerate()
        .map(|(row, &hours)| score(density.scores(row, hours)));
    scores.sum::<f64>() / y.len() as f64
}

#[test]
fn of_hours_the_scores_are_the_common_metrics() {
    let (prediction, y) = prediction(false);
    let metrics = regression_metrics(&prediction, None, y.view()).unwrap();
    let density = Density::new(&prediction, false).unwrap();
    for (key, value) in [
        ("nll", mean(&density, &y, |s| s.nll)),
        ("nll_moments", mean(&density, &y, |s| s.nll_moments)),
        ("nll_paper", mean(&density, &y, |s| s.nll_paper)),
        ("mse", mean(&density, &y, |s| s.error * s.error)),
        ("crps", mean(&density, &y, |s| s.crps)),
        (
            "coverage90",
            mean(&density, &y, |s| f64::from(s.covered[2])),
        ),
        ("width90", mean(&density, &y, |s| s.width90)),
    ] {
        assert!(
            (metrics.value(key).unwrap() - value).abs() < 1e-10,
            "{key}: {value}"
        );
    }
}

/// ∫ over hours by twenty thousand trapezoids.
fn integral(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let steps = 20_000;
    let h = (to - from) / f64::from(steps);
    let at = |k: i32| f(from + h * f64::from(k)) * if k == 0 || k == steps { 0.5 } else { 1.0 };
    (0..=steps).map(at).sum::<f64>() * h
}

#[test]
fn of_logarithms_they_are_those_of_a_density_over_hours() {
    let (prediction, _) = prediction(true);
    let density = Density::new(&prediction, true).unwrap();
    let p = |row, hours| (-density.scores(row, hours).nll).exp();
    for row in [0, 7] {
        let most = 60.0 * density.at(row, 6);
        let mass = integral(-1.0 + 1e-9, most, |h| p(row, h));
        assert!((mass - 1.0).abs() < 1e-4, "{mass}");
        let mean = integral(-1.0 + 1e-9, most, |h| h * p(row, h));
        assert!(
            (60.0 - density.scores(row, 60.0).error - mean).abs() < 1e-3 * mean,
            "{mean}"
        );
        for (k, level) in LEVELS.into_iter().enumerate() {
            let below = integral(-1.0 + 1e-9, density.at(row, k), |h| p(row, h));
            assert!((below - level).abs() < 1e-4, "{level}: {below}");
        }
    }
    let low = density.scores(0, density.at(0, 1) - 1e-6);
    let high = density.scores(0, density.at(0, 5) - 1e-6);
    assert_eq!(
        (low.covered, high.covered),
        ([false, false, true], [false, true, true])
    );
}

#[test]
fn the_score_of_log_normals_is_its_defining_integral() {
    let phi = |z: f64| 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
    let (means, noise) = (array![[4.0], [3.0], [4.5]], array![[0.25], [1.0], [0.09]]);
    let prediction = Prediction::new(means.clone(), noise.clone()).unwrap();
    let density = Density::new(&prediction, true).unwrap();
    for y in [5.0_f64, 50.0, 400.0] {
        let cdf = |u: f64| {
            let parts = means.iter().zip(&noise);
            parts
                .map(|(m, v)| phi((u.ln() - m) / v.sqrt()))
                .sum::<f64>()
                / 3.0
        };
        let expected = integral(1e-9, y + 1.0, |u| cdf(u).powi(2))
            + integral(y + 1.0, 1e4, |u| (1.0 - cdf(u)).powi(2));
        let found = density.scores(0, y).crps;
        assert!(
            (found - expected).abs() < 1e-3 * expected,
            "{y}: {found}, {expected}"
        );
    }
    let heavy = Prediction::student_t(means, noise, 4.0).unwrap();
    let density = Density::new(&heavy, true).unwrap();
    let scores = density.scores(0, 50.0);
    assert!(scores.crps.is_nan() && scores.nll.is_finite() && scores.error.is_finite());
}

#[test]
fn one_member_has_no_spread() {
    let prediction = Prediction::new(Array2::ones((1, 2)), Array2::ones((1, 2))).unwrap();
    assert!(
        Density::new(&prediction, false)
            .unwrap()
            .scores(0, 1.0)
            .nll_paper
            .is_nan()
    );
}

#[test]
fn targets_go_there_and_back() {
    for hours in [0.0, 24.0, 1000.0] {
        assert_eq!(target(hours, false), hours);
        assert!((target(hours, true).exp_m1() - hours).abs() < 1e-12 * (1.0 + hours));
    }
}
