//! Against loops over the definitions, for N = 1, and for faults.

use ndarray::{Array2, array};

use super::super::reference::regression;
use super::*;

/// Sums of about a hundred terms of order 10.
const ROUNDING: f64 = 1e-12;

#[test]
fn metrics_are_their_definitions() {
    let (prediction, laplace, y) = regression(5, 101, true);
    let laplace = laplace.unwrap();
    let metrics = regression_metrics(&prediction, Some(laplace.view()), y.view()).unwrap();
    let (means, noise) = (prediction.means(), prediction.noise_variances());
    let n = 101;
    let (mut nll, mut moments, mut paper, mut epistemic, mut mse, mut hits, mut width) =
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for i in 0..n {
        let mu: f64 = (0..5).map(|p| means[[p, i]]).sum::<f64>() / 5.0;
        // Mixture second moment minus squared mean: another route to the moment-matched variance.
        let second: f64 = (0..5)
            .map(|p| noise[[p, i]] + means[[p, i]].powi(2))
            .sum::<f64>()
            / 5.0;
        let v = second - mu * mu;
        let normal = |m: f64, v: f64| {
            (-(y[i] - m).powi(2) / (2.0 * v)).exp() / (2.0 * std::f64::consts::PI * v).sqrt()
        };
        moments -= normal(mu, v).ln();
        let each = (0..5).map(|p| normal(means[[p, i]], noise[[p, i]]));
        nll -= (each.sum::<f64>() / 5.0).ln();
        // Unbiased variance from pairs: Σ_{p<q} (μ_p − μ_q)² / (N (N−1)).
        let mut pairs = 0.0;
        for p in 0..5 {
            for q in 0..p {
                pairs += (means[[p, i]] - means[[q, i]]).powi(2);
            }
        }
        let spread = pairs / 20.0 + 1e-6;
        paper += 0.5 * (spread.ln() + (y[i] - mu).powi(2) / spread);
        let wide = spread + (0..5).map(|p| laplace[[p, i]]).sum::<f64>() / 5.0;
        epistemic += 0.5 * (wide.ln() + (y[i] - mu).powi(2) / wide);
        mse += (y[i] - mu).powi(2);
        // Ends by halving.
        let end = |level: f64| {
            let below = |t: f64| -> f64 {
                let z = |p| (t - means[[p, i]]) / (2.0 * noise[[p, i]]).sqrt();
                (0..5).map(|p| 0.5 * libm::erfc(-z(p))).sum::<f64>() / 5.0
            };
            let (mut low, mut high) = (-50.0, 50.0);
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                if below(middle) < level {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        };
        let (low, high) = (end(0.05), end(0.95));
        hits += f64::from(low <= y[i] && y[i] <= high);
        width += high - low;
    }
    let n = n as f64;
    for (key, value) in [
        ("nll", nll / n),
        ("nll_moments", moments / n),
        ("nll_paper", paper / n),
        ("nll_epistemic", epistemic / n),
        ("mse", mse / n),
        ("rmse", (mse / n).sqrt()),
        ("coverage90", hits / n),
        ("width90", width / n),
    ] {
        assert!(
            (metrics.value(key).unwrap() - value).abs() < ROUNDING,
            "{key}"
        );
    }
    assert_eq!(metrics.values.len(), 9);
    assert_eq!(metrics.warnings, Vec::<String>::new());
}

#[test]
fn crps_is_the_expected_distance_form() {
    // CRPS = E|X − y| − ½ E|X − X'|, with E|X − X'| = 2σ/√π and E|X − y| on a grid of quantiles.
    let (prediction, _, y) = regression(1, 3, false);
    let crps = regression_metrics(&prediction, None, y.view())
        .unwrap()
        .value("crps")
        .unwrap();
    let h = 1e-3;
    let expected: f64 = (0..3)
        .map(|i| {
            let (mu, sigma) = (
                prediction.means()[[0, i]],
                prediction.noise_variances()[[0, i]].sqrt(),
            );
            let distance: f64 = (-10_000..10_000)
                .map(|k| f64::from(k) * h)
                .map(|z: f64| (mu + sigma * z - y[i]).abs() * (-z * z / 2.0).exp() * h)
                .sum::<f64>()
                / (2.0 * std::f64::consts::PI).sqrt();
            distance - sigma / std::f64::consts::PI.sqrt()
        })
        .sum::<f64>()
        / 3.0;
    // Rectangle rule across the kink: h² · density.
    assert!((crps - expected).abs() < 1e-6);
}

#[test]
fn one_particle_has_no_spread_but_everything_else() {
    let (prediction, _, y) = regression(1, 20, false);
    let metrics = regression_metrics(&prediction, None, y.view()).unwrap();
    assert_eq!(metrics.values["nll_paper"], None);
    assert_eq!(metrics.values["nll_epistemic"], None);
    assert_eq!(
        metrics.warnings,
        ["nll_paper: the spread of a single particle is not defined"]
    );
    let defined = metrics
        .values
        .values()
        .filter(|value| value.is_some())
        .count();
    assert_eq!(defined, 7);

    let (prediction, laplace, y) = regression(1, 20, true);
    let v = laplace.unwrap();
    let metrics = regression_metrics(&prediction, Some(v.view()), y.view()).unwrap();
    let expected: f64 = (0..20)
        .map(|i| {
            let v = v[[0, i]] + PAPER_VARIANCE_FLOOR;
            0.5 * (v.ln() + (y[i] - prediction.means()[[0, i]]).powi(2) / v)
        })
        .sum();
    assert!((metrics.value("nll_epistemic").unwrap() - expected / 20.0).abs() < ROUNDING);
}

#[test]
fn noise_widens_the_predictive() {
    // Identical members: without the noise the variance would be 0.
    let means = Array2::from_elem((4, 2), 1.0);
    let prediction = Prediction::new(means, Array2::from_elem((4, 2), 9.0)).unwrap();
    let metrics = regression_metrics(&prediction, None, array![1.0, 4.0].view()).unwrap();
    let expected = 0.5 * (2.0 * std::f64::consts::PI * 9.0).ln() + 0.25;
    assert!((metrics.value("nll").unwrap() - expected).abs() < ROUNDING);
}

#[test]
fn faults() {
    let prediction = Prediction::new(array![[1.0, 2.0]], array![[1.0, 1.0]]).unwrap();
    let measure = |y: Array1<f64>| {
        regression_metrics(&prediction, None, y.view())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(measure(array![1.0]), "target has shape [1], expected [2]");
    assert_eq!(
        measure(array![1.0, f64::INFINITY]),
        "target inf at test row 1, expected a finite number"
    );
}

#[test]
fn members_that_are_no_gaussians_are_scored_by_their_density() {
    use svn_models::recipe::{Head, Method, Recipe};
    use svn_models::{Ensemble, Task};
    let x = ndarray::Array2::from_shape_fn((40, 1), |(i, _)| i as f64 / 40.0);
    let y = x.column(0).mapv(|x| 3.0 * x + (40.0 * x).sin());
    let recipe = Recipe {
        likelihood: Some(Head::StudentT),
        ..Recipe::default()
    };
    let ensemble = Ensemble::builder()
        .method(Method::Ensemble)
        .recipe(&recipe)
        .hidden(&[4])
        .epochs(2)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    let prediction = ensemble.predict(x.view()).unwrap();
    let metrics = regression_metrics(&prediction, None, y.view()).unwrap();
    let by_rows = -prediction.log_density(y.view()).unwrap().mean().unwrap();
    assert!((metrics.value("nll").unwrap() - by_rows).abs() < 1e-12);
    let moments = prediction.negative_log_likelihood(y.view());
    assert!((metrics.value("nll_moments").unwrap() - moments).abs() < 1e-12);
    assert_ne!(metrics.value("nll"), metrics.value("nll_moments"));
}
