//! The linear model as a method among the others: what it predicts is what ridge and logistic regression do.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, s};
use svn_models::linear::{Linear, PENALTY};
use svn_models::recipe::Method;
use svn_models::{Ensemble, Task};

fn data() -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((50, 3), |(i, j)| match j {
        // Constant in training, and a scale of its own for each of the others.
        2 => 4.0,
        j => [1e3, 1e-3][j] * ((7 * i + 3 * j * i) % 31) as f64,
    });
    let y = Array1::from_shape_fn(50, |i| {
        100.0 + 0.01 * x[[i, 0]] - 900.0 * x[[i, 1]] + (i % 5) as f64
    });
    (x, y)
}

#[test]
fn numbers_are_those_of_ridge_regression_and_the_noise_suits_the_validation_rows() {
    let (x, y) = data();
    let (train, aside) = (s![..40, ..], s![40.., ..]);
    let ensemble = Ensemble::builder()
        .method(Method::Linear)
        .fit_with(
            (x.slice(train), y.slice(s![..40])),
            (x.slice(aside), y.slice(s![40..])),
            Task::Regression,
        )
        .unwrap();
    // On the scale of the target, as the ensemble is fitted.
    let (mean, scale) = (
        y.slice(s![..40]).mean().unwrap(),
        y.slice(s![..40]).std(0.0),
    );
    let scaled = y.slice(s![..40]).mapv(|y| (y - mean) / scale);
    let ridge = Linear::ridge(x.slice(train), scaled.view(), PENALTY).unwrap();
    let expected = ridge
        .predict(x.view())
        .unwrap()
        .mean()
        .mapv(|m| mean + scale * m);
    let found = ensemble.predict(x.view()).unwrap();
    assert_relative_eq!(found.mean(), expected, max_relative = 1e-12);
    let residuals = &found.mean().slice(s![40..]) - &y.slice(s![40..]);
    let variance = residuals.mapv(|r| r * r).mean().unwrap();
    assert_relative_eq!(found.variance()[0], variance, max_relative = 1e-5);
    // Weights and intercepts in the units of the features, the constant one without weight.
    let (weights, intercepts) = ridge.affine();
    let by_hand = x.dot(&weights.column(0)) + intercepts[0];
    assert_relative_eq!(
        by_hand,
        ridge.predict(x.view()).unwrap().mean(),
        max_relative = 1e-9
    );
    assert_eq!(weights[[2, 0]], 0.0);
}

#[test]
fn classes_are_those_of_logistic_regression_and_a_model_is_kept() {
    let (x, _) = data();
    for classes in [2, 3] {
        let y: Vec<usize> = (0..50).map(|i| (i * i / 7 + i) % classes).collect();
        let as_numbers = Array1::from_iter(y.iter().map(|&class| class as f64));
        let whole = (x.view(), as_numbers.view());
        let ensemble = Ensemble::builder()
            .method(Method::Linear)
            .fit_with(whole, whole, Task::Classification)
            .unwrap();
        let logistic = Linear::logistic(x.view(), &y, classes, PENALTY).unwrap();
        let expected = logistic
            .predict_classes(x.view())
            .unwrap()
            .mean_probability();
        let found = ensemble
            .predict_classes(x.view())
            .unwrap()
            .mean_probability();
        assert_relative_eq!(found, expected, max_relative = 1e-6);
        let folder = tempfile::tempdir().unwrap();
        ensemble.save(folder.path().join("m")).unwrap();
        let read = Ensemble::load(folder.path().join("m")).unwrap();
        assert_eq!(
            read.predict_classes(x.view()).unwrap().mean_probability(),
            found
        );
        assert_eq!(read.settings().method, Method::Linear);
    }
}
