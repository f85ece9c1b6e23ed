//! Likelihoods of classes against finite differences, expectations over the classes, and each other.

use super::{Likelihood, LossTerms};
use approx::assert_relative_eq;
use ndarray::{Array2, aview1};
use rand::SeedableRng;
use svn_curvature::convert;
use tch::{IndexOp, Kind, Tensor};

const CASES: [(Likelihood, usize); 3] = [
    (Likelihood::Bernoulli, 1),
    (Likelihood::Softmax { classes: 2 }, 2),
    (Likelihood::Softmax { classes: 4 }, 4),
];

/// One particle, one row.
fn terms(likelihood: Likelihood, f: &[f64], y: usize) -> LossTerms {
    let outputs = Tensor::from_slice(f).view([1, 1, -1]);
    let target = Tensor::from_slice(&[y as f64]);
    likelihood.loss(&outputs, &target).unwrap()
}

fn nll(likelihood: Likelihood, f: &[f64], y: usize) -> f64 {
    terms(likelihood, f, y)
        .negative_log_likelihood
        .double_value(&[0])
}

fn ascent(likelihood: Likelihood, f: &[f64], y: usize) -> Vec<f64> {
    Vec::try_from(terms(likelihood, f, y).ascent.i((0, 0))).unwrap()
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
        let outputs = Tensor::from_slice(f).view([1, 1, -1]);
        let root = likelihood.curvature_root(&outputs).unwrap().i((0, 0));
        let product: Array2<f64> = convert::array(&root.matmul(&root.tr())).unwrap();
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
        let outputs = Tensor::from_slice(f).view([1, 1, -1]);
        let mut rng = rand::rngs::ChaCha12Rng::seed_from_u64(4);
        let drawn = likelihood
            .sampled_curvature_root(&outputs, 200_000, &mut rng)
            .unwrap();
        let exact = likelihood.curvature_root(&outputs).unwrap();
        let product = |root: &Tensor| root.matmul(&root.transpose(2, 3));
        let error = (product(&drawn) - product(&exact)).abs().max();
        assert!(error.double_value(&[]) < 0.01, "{likelihood:?}: {error:?}");
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
            // The softmax takes its ascent as a difference from 1, rounded at 1e-16.
            assert_relative_eq!(
                ascent(two, &[a, b], y)[1],
                ascent(one, &[b - a], y)[0],
                epsilon = 1e-15
            );
        }
    }
}

#[test]
fn logits_of_any_size_give_exact_losses_in_both_precisions() {
    for kind in [Kind::Double, Kind::Float] {
        for (f, y, expected) in [(1e4, 1.0, 0.0), (1e4, 0.0, 1e4), (-1e4, 1.0, 1e4)] {
            let one = Tensor::from_slice(&[f]).view([1, 1, 1]).to_kind(kind);
            let two = Tensor::from_slice(&[0.0, f]).view([1, 1, 2]).to_kind(kind);
            let target = Tensor::from_slice(&[y]).to_kind(kind);
            for (likelihood, outputs) in [
                (Likelihood::Bernoulli, one),
                (Likelihood::Softmax { classes: 2 }, two),
            ] {
                let terms = likelihood.loss(&outputs, &target).unwrap();
                let found = terms.negative_log_likelihood.double_value(&[0]);
                assert_eq!(found, expected, "{likelihood:?} {kind:?}");
                let root = likelihood.curvature_root(&outputs).unwrap();
                assert_eq!(root.isfinite().all().int64_value(&[]), 1);
            }
        }
    }
    // log(1 + e^−40) = e^−40 to rounding, far below the rounding of 1.
    assert_relative_eq!(
        nll(Likelihood::Bernoulli, &[40.0], 1),
        (-40.0f64).exp(),
        max_relative = 1e-12
    );
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
