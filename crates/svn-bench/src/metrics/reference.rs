//! Slow references and random predictions for the tests of this folder.

use ndarray::{Array1, Array2, Array3};
use rand::RngExt;

use svn_models::{ClassPrediction, Prediction};

use crate::split::stream;

/// A random regression ensemble and targets.
pub(super) fn regression(
    members: usize,
    rows: usize,
    laplace: bool,
) -> (Prediction, Option<Array2<f64>>, Array1<f64>) {
    let mut rng = stream(7, &["metrics", "regression"]);
    let mut uniform = |low: f64, high: f64| rng.random_range(low..high);
    let means = Array2::from_shape_fn((members, rows), |_| uniform(-3.0, 3.0));
    let noise = Array2::from_shape_fn((members, rows), |_| uniform(0.1, 2.0));
    let extra = laplace.then(|| Array2::from_shape_fn((members, rows), |_| uniform(0.0, 1.0)));
    let targets = Array1::from_shape_fn(rows, |_| uniform(-4.0, 4.0));
    (Prediction::new(means, noise).unwrap(), extra, targets)
}

/// A random classification ensemble and targets.
pub(super) fn classes(
    members: usize,
    rows: usize,
    classes: usize,
) -> (ClassPrediction, Vec<usize>) {
    let mut rng = stream(7, &["metrics", "classes"]);
    let logits = Array3::from_shape_fn((members, rows, classes), |_| rng.random_range(-4.0..4.0));
    let targets = (0..rows).map(|_| rng.random_range(0..classes)).collect();
    (ClassPrediction::new(logits).unwrap(), targets)
}
