//! Moments of predictions, and what is refused.

use super::*;
use approx::assert_relative_eq;
use ndarray::{Array3, array};

#[test]
fn moments_are_those_of_the_mixture() {
    let prediction = Prediction::new(array![[1.0], [3.0]], array![[0.5], [1.5]]).unwrap();
    assert_relative_eq!(prediction.mean()[0], 2.0);
    assert_relative_eq!(prediction.variance()[0], 2.0);
    let by_hand = 0.5 * ((5.0f64 - 2.0).powi(2) / 2.0 + (4.0 * std::f64::consts::PI).ln());
    assert_relative_eq!(
        prediction.negative_log_likelihood(array![5.0].view()),
        by_hand,
        max_relative = 1e-14
    );
    let wider = prediction.with_laplace(array![[0.0], [4.0]]).unwrap();
    assert_relative_eq!(wider.variance()[0], 4.0);
    assert_relative_eq!(wider.epistemic_sd()[0], 3.0f64.sqrt());
    assert_relative_eq!(wider.aleatoric_sd()[0], 1.0);
    assert_eq!(wider.select(&[0, 0]).variance(), array![4.0, 4.0]);
    let feet = wider.rescaled(10.0, 2.0);
    assert_eq!((feet.mean()[0], feet.sd()[0]), (14.0, 4.0));
}

#[test]
fn one_member_has_no_spread_but_its_noise() {
    let prediction = Prediction::new(array![[1.0, 2.0]], array![[0.1, 0.2]]).unwrap();
    assert_eq!(prediction.spread(), array![0.0, 0.0]);
    assert_eq!(prediction.variance(), array![0.1, 0.2]);
}

#[test]
fn what_is_no_prediction_is_named() {
    let message = |means, noise| Prediction::new(means, noise).unwrap_err().to_string();
    assert_eq!(
        message(array![[1.0, f64::NAN]], array![[1.0, 1.0]]),
        "mean of member 0 at row 1 is NaN, expected a finite number"
    );
    assert_eq!(
        message(array![[1.0], [2.0]], array![[1.0], [0.0]]),
        "noise variance of member 1 at row 0 is 0, expected a finite positive number"
    );
    assert_eq!(
        message(array![[1.0]], array![[1.0, 2.0]]),
        "noise variances of a prediction has shape [1, 2]; expected [1, 1]"
    );
    assert_eq!(
        message(Array2::zeros((0, 3)), Array2::zeros((0, 3))),
        "means of a prediction has shape [0, 3]; expected [1, 1]"
    );
}

#[test]
fn a_student_t_has_more_variance_than_its_scale() {
    let (means, scales) = (array![[1.0, 0.0]], array![[2.0, 0.5]]);
    let prediction = Prediction::student_t(means, scales, 4.0).unwrap();
    // ν/(ν − 2) = 2.
    assert_eq!(prediction.noise_variances(), array![[4.0, 1.0]]);
    assert_eq!(prediction.family(), Family::StudentT { degrees: 4.0 });
    let component = |prediction: &Prediction, row| prediction.components(row).next().unwrap();
    assert_relative_eq!(component(&prediction, 0).squared_scale, 2.0);
    let wider = prediction.with_laplace(array![[2.0, 0.0]]).unwrap();
    assert_relative_eq!(wider.variance()[0], 6.0);
    assert_relative_eq!(component(&wider, 0).squared_scale, 3.0);
    let feet = wider.rescaled(10.0, 2.0).select(&[1, 0]);
    assert_relative_eq!(component(&feet, 1).squared_scale, 12.0);
    assert_relative_eq!(component(&feet, 1).location, 12.0);
    assert!(Prediction::student_t(array![[1.0]], array![[1.0]], 2.0).is_err());
    assert!(Prediction::student_t(array![[1.0]], array![[0.0]], 4.0).is_err());
}

#[test]
fn moments_of_a_member_that_is_a_mixture_are_those_of_its_components() {
    let prediction = Prediction::mixture(
        // 1/4 and 3/4, up to a constant.
        array![[[5.0, 5.0 + 3f64.ln()]]],
        array![[[-4.0, 4.0]]],
        array![[[1.0, 2.0]]],
    );
    let prediction = prediction.unwrap();
    assert_relative_eq!(prediction.mean()[0], 2.0, max_relative = 1e-14);
    // ¼ 36 + ¾ 4 between them, ¼ 1 + ¾ 2 within.
    assert_relative_eq!(prediction.variance()[0], 13.75, max_relative = 1e-14);
    assert_eq!(prediction.spread(), array![0.0]);
    assert_relative_eq!(
        prediction.aleatoric_sd()[0],
        13.75f64.sqrt(),
        max_relative = 1e-14
    );
    let scaled = prediction.clone().rescaled(10.0, 2.0).select(&[0, 0]);
    assert_eq!((scaled.rows(), scaled.components_per_member()), (2, 2));
    assert_relative_eq!(scaled.mean()[1], 14.0, max_relative = 1e-14);
    assert_relative_eq!(scaled.variance()[1], 55.0, max_relative = 1e-14);
    let last = scaled.components(1).last().unwrap();
    assert_relative_eq!(last.log_weight.exp(), 0.75, max_relative = 1e-14);
    assert_relative_eq!(last.location, 18.0);
    assert_relative_eq!(last.squared_scale, 8.0);
    let wider = prediction.clone().with_laplace(array![[0.5]]).unwrap();
    assert_relative_eq!(wider.variance()[0], 14.25, max_relative = 1e-14);
    let single = prediction.with_common_noise(3.0);
    assert_eq!(
        (single.components_per_member(), single.variance()[0]),
        (1, 3.0)
    );
}

#[test]
fn what_is_no_mixture_is_named() {
    let good = array![[[0.0, 1.0]]];
    let message = |weights: &Array3<f64>, means: &Array3<f64>, variances: &Array3<f64>| {
        Prediction::mixture(weights.clone(), means.clone(), variances.clone())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&good, &good, &good),
        "component variance of member 0 at row 0 is 0, expected a finite positive number"
    );
    assert_eq!(
        message(&good, &array![[[0.0]]], &good),
        "component weights of a prediction has shape [1, 1, 2]; expected [1, 1, 1]"
    );
    let bad = array![[[f64::NAN, 1.0]]];
    assert!(message(&bad, &good, &array![[[1.0, 1.0]]]).starts_with("component log weight of"));
    let none = Array3::zeros((1, 0, 2));
    assert!(message(&none, &none, &none).contains("shape [1, 0, 2]"));
}

/// Epochs of Gaussian members are chosen by the Gaussian of the moments, of others by the density.
#[test]
fn the_loss_of_choices_is_that_of_the_density_where_members_are_not_gaussian() {
    let y = array![3.5];
    let means = || array![[1.0], [3.0]];
    let gaussian = Prediction::new(means(), array![[0.5], [1.5]]).unwrap();
    let loss = gaussian.selection_loss(y.view()).unwrap();
    assert_eq!(loss, gaussian.negative_log_likelihood(y.view()));
    let heavy = Prediction::student_t(means(), array![[0.5], [1.5]], 4.0).unwrap();
    let loss = heavy.selection_loss(y.view()).unwrap();
    assert_eq!(loss, -heavy.log_density(y.view()).unwrap()[0]);
    assert_ne!(loss, heavy.negative_log_likelihood(y.view()));
}

#[test]
fn parts_go_to_their_places_and_a_member_counts_as_many() {
    let whole = Prediction::new(
        array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
        array![[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]],
    )
    .unwrap();
    let parts = [
        (vec![2, 0], whole.select(&[2, 0])),
        (vec![1], whole.select(&[1])),
    ];
    assert_eq!(Prediction::gather(&parts).unwrap(), whole);
    let twice = [
        (vec![2, 0], whole.select(&[2, 0])),
        (vec![0], whole.select(&[1])),
    ];
    assert!(Prediction::gather(&twice).is_err());
    assert!(Prediction::gather(&[]).is_err());
    let one = Prediction::new(array![[7.0, 7.0, 7.0]], array![[1.0, 1.0, 1.0]]).unwrap();
    let more = whole.clone().with_member(&one, 2).unwrap();
    assert_eq!(
        (more.members(), more.mean()[0]),
        (4, (1.0 + 4.0 + 14.0) / 4.0)
    );
    assert_eq!(more.noise_variances()[[3, 1]], 1.0);
    assert!(whole.with_member(&one.select(&[0]), 1).is_err());
}
