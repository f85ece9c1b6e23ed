//! Likelihoods of classes against finite differences, expectations over the classes, and each other.

use super::{Likelihood, LossTerms};
use approx::assert_relative_eq;
use ndarray::{Array2, Array4, ArrayView3, Axis, aview1};
use rand::SeedableRng;

const CASES: [(Likelihood, usize); 3] = [
    (Likelihood::Bernoulli, 1),
    (Likelihood::Softmax { classes: 2 }, 2),
    (Likelihood::Softmax { classes: 4 }, 4),
];

/// One particle, one row of outputs.
fn one_row(f: &[f64]) -> ArrayView3<'_, f64> {
    ArrayView3::from_shape((1, 1, f.len()), f).unwrap()
}

fn terms(likelihood: Likelihood, f: &[f64], y: usize) -> LossTerms {
    likelihood.loss(one_row(f), aview1(&[y as f64])).unwrap()
}

/// `R Rᵀ` of a root of one row.
fn product(root: Array4<f64>) -> Array2<f64> {
    let root = root.remove_axis(Axis(0)).remove_axis(Axis(0));
    root.dot(&root.t())
}

fn nll(likelihood: Likelihood, f: &[f64], y: usize) -> f64 {
    terms(likelihood, f, y).negative_log_likelihood[0]
}

fn ascent(likelihood: Likelihood, f: &[f64], y: usize) -> Vec<f64> {
    terms(likelihood, f, y).ascent.into_raw_vec_and_offset().0
}

/// Central differences with step 1e-5: truncation 1e-11 for third derivatives below 0.1, rounding 1e-11.
fn difference(f: &[f64], j: usize, value: impl Fn(&[f64]) -> f64) -> f64 {
    let h = 1e-5;
    let moved = |by: f64| {
        let mut f = f.to_vec();
        f[j] += by;
        value(&f)
    };
    (moved(h) - moved(-h)) / (2.0 * h)
}

#[test]
fn ascent_is_minus_the_finite_difference_of_the_loss() {
    for (likelihood, c) in CASES {
        let f = &[0.3, -0.8, 2.1, 0.9][..c];
        for y in 0..likelihood.classes().unwrap() {
            for (j, a) in ascent(likelihood, f, y).into_iter().enumerate() {
                let expected = -difference(f, j, |f| nll(likelihood, f, y));
                assert_relative_eq!(a, expected, epsilon = 1e-9);
            }
        }
    }
}

/// The Hessian of these losses does not depend on the target, so that Gauss-Newton and Fisher are the Hessian itself.
#[test]
fn the_root_squares_to_the_hessian_by_finite_differences() {
    for (likelihood, c) in CASES {
        let f = &[0.3, -0.8, 2.1, 0.9][..c];
        let product = product(likelihood.curvature_root(one_row(f)).unwrap());
        for y in 0..likelihood.classes().unwrap() {
            for ((i, j), found) in product.indexed_iter() {
                let expected = -difference(f, j, |f| ascent(likelihood, f, y)[i]);
                assert_relative_eq!(*found, expected, epsilon = 1e-9);
            }
        }
    }
}

/// 200 000 draws: entries are means of numbers of at most 1, so 0.01 is more than four standard errors.
#[test]
fn a_sampled_root_has_the_curvature_as_its_expectation() {
    for (likelihood, c) in CASES {
        let f = &[0.3, -0.8, 2.1, 0.9][..c];
        let mut rng = rand::rngs::ChaCha12Rng::seed_from_u64(4);
        let drawn = likelihood
            .sampled_curvature_root(one_row(f), 200_000, &mut rng)
            .unwrap();
        let exact = likelihood.curvature_root(one_row(f)).unwrap();
        let errors = (product(drawn) - product(exact)).abs();
        assert!(errors.iter().all(|e| *e < 0.01), "{likelihood:?}: {errors}");
    }
}

#[test]
fn probabilities_of_all_classes_sum_to_one() {
    for (likelihood, c) in CASES {
        let f = &[0.3, -0.8, 2.1, 0.9][..c];
        let total: f64 = (0..likelihood.classes().unwrap())
            .map(|y| (-nll(likelihood, f, y)).exp())
            .sum();
        assert_relative_eq!(total, 1.0, max_relative = 1e-14);
    }
}

#[test]
fn two_logits_and_one_agree_where_it_is_their_difference() {
    for [a, b] in [[0.3, -0.8], [-2.0, 5.0], [40.0, -60.0], [-700.0, 300.0]] {
        for y in [0, 1] {
            let (two, one) = (Likelihood::Softmax { classes: 2 }, Likelihood::Bernoulli);
            // The softmax takes its loss as a difference of logits, rounded at 1e-16 of their size.
            assert_relative_eq!(
                nll(two, &[a, b], y),
                nll(one, &[b - a], y),
                max_relative = 1e-14,
                epsilon = 1e-15 * (a.abs() + b.abs())
            );
            assert_relative_eq!(
                ascent(two, &[a, b], y)[1],
                ascent(one, &[b - a], y)[0],
                epsilon = 1e-15
            );
        }
    }
}

#[test]
fn logits_of_any_size_give_exact_losses() {
    for (f, y, expected) in [(1e4, 1, 0.0), (1e4, 0, 1e4), (-1e4, 1, 1e4)] {
        for (likelihood, outputs) in [
            (Likelihood::Bernoulli, &[f][..]),
            (Likelihood::Softmax { classes: 2 }, &[0.0, f]),
        ] {
            assert_eq!(nll(likelihood, outputs, y), expected, "{likelihood:?}");
            let root = likelihood.curvature_root(one_row(outputs)).unwrap();
            assert!(root.iter().all(|s| s.is_finite()), "{likelihood:?}");
        }
    }
    // log(1 + e^−40) = e^−40 to rounding, far below the rounding of 1.
    for (likelihood, outputs) in [
        (Likelihood::Bernoulli, &[40.0][..]),
        (Likelihood::Softmax { classes: 2 }, &[0.0, 40.0]),
    ] {
        let small = (-40.0f64).exp();
        assert_relative_eq!(nll(likelihood, outputs, 1), small, max_relative = 1e-12);
        for ascent in ascent(likelihood, outputs, 1) {
            assert_relative_eq!(ascent.abs(), small, max_relative = 1e-12);
        }
    }
}

#[test]
fn targets_that_are_no_classes_are_named_with_their_row() {
    let message = |likelihood: Likelihood, targets: &[f64]| {
        let error = likelihood.check_targets(aview1(targets)).unwrap_err();
        error.to_string()
    };
    let ten = Likelihood::Softmax { classes: 10 };
    assert!(ten.check_targets(aview1(&[0.0, 9.0, 5.0])).is_ok());
    for (bad, shown) in [(10.0, "10"), (-1.0, "-1"), (2.5, "2.5")] {
        assert_eq!(
            message(ten, &[3.0, bad]),
            format!(
                "target {shown} of row 1 is no class index; expected a whole number from 0 to 9"
            )
        );
    }
    assert_eq!(
        message(Likelihood::Bernoulli, &[2.0]),
        "target 2 of row 0 is no class index; expected a whole number from 0 to 1"
    );
    assert_eq!(
        message(Likelihood::Softmax { classes: 1 }, &[0.0]),
        "classes is 1; expected at least 2"
    );
}

#[test]
fn likelihoods_keep_their_form_in_settings() {
    for (likelihood, text) in [
        (Likelihood::Bernoulli, r#"{"kind":"bernoulli"}"#),
        (
            Likelihood::Softmax { classes: 10 },
            r#"{"kind":"softmax","classes":10}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&likelihood).unwrap(), text);
        let back: Likelihood = serde_json::from_str(text).unwrap();
        assert_eq!(back, likelihood);
    }
}
