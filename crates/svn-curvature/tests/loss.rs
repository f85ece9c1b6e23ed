//! Output gradients and curvature roots against autograd.

mod common;

use common::{
    PARTICLES, SAMPLES, likelihoods, normal, reference_loss, reference_output_fisher,
    relative_error,
};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use svn_curvature::{CurvatureError, Loss};
use tch::{Kind, Tensor};

const ROUNDING: f64 = 1e-14;

fn outputs(c: usize) -> Tensor {
    normal(&[PARTICLES, SAMPLES, c as i64], 1.5, 31)
}

#[test]
fn gradients_equal_autograd() {
    for (name, loss, c, y) in likelihoods() {
        let f = outputs(c);
        let gradient = loss.gradient(&f, &y).unwrap();
        for p in 0..PARTICLES {
            let leaf = f.get(p).copy().set_requires_grad(true);
            let reference =
                Tensor::run_backward(&[reference_loss(loss, &leaf, &y)], &[&leaf], false, false)
                    .remove(0);
            let error = relative_error(&gradient.get(p), &reference);
            assert!(error < ROUNDING, "{name}: {error:e}");
        }
    }
}

#[test]
fn roots_times_their_transpose_equal_the_output_fisher_by_double_backward() {
    for (name, loss, c, y) in likelihoods() {
        let f = outputs(c);
        let root = loss.root(&f).unwrap();
        let product = root.matmul(&root.transpose(2, 3));
        for p in 0..PARTICLES {
            let error = relative_error(
                &product.get(p),
                &reference_output_fisher(loss, &f.get(p), &y),
            );
            assert!(error < ROUNDING, "{name}: {error:e}");
        }
    }
}

#[test]
fn monte_carlo_roots_are_unbiased_and_belong_to_their_seed() {
    // The mean of s products has a standard error of at most about √(2/s) of its size; five of them.
    let samples = 40_000;
    for (name, loss, c, _) in likelihoods() {
        let f = outputs(c);
        let draw = |seed| {
            loss.monte_carlo_root(&f, samples, &mut ChaCha8Rng::seed_from_u64(seed))
                .unwrap()
        };
        let root = draw(1);
        assert_eq!(root, draw(1), "{name}");
        assert_ne!(root, draw(2), "{name}");
        let exact = loss.root(&f).unwrap();
        let error = relative_error(
            &root.matmul(&root.transpose(2, 3)),
            &exact.matmul(&exact.transpose(2, 3)),
        );
        assert!(
            error < 5.0 * (2.0 / samples as f64).sqrt(),
            "{name}: {error:e}"
        );
    }
}

#[test]
fn extreme_logits_give_finite_roots() {
    let f = Tensor::from_slice(&[800.0, -800.0, 0.0, 30.0, -30.0, 40.0]).view([1, 2, 3]);
    for loss in [Loss::Categorical, Loss::Bernoulli] {
        let root = loss.root(&f).unwrap();
        assert!(root.isfinite().all().int64_value(&[]) == 1, "{loss:?}");
    }
    // p (1 − p) at logit 30 and 40 is e⁻³⁰ and e⁻⁴⁰, which 1 − p in floating point would lose.
    let root = Loss::Bernoulli.root(&f).unwrap();
    assert!((root.double_value(&[0, 1, 0, 0]) / (-15.0f64).exp() - 1.0).abs() < 1e-12);
    assert!((root.double_value(&[0, 1, 2, 2]) / (-20.0f64).exp() - 1.0).abs() < 1e-12);
}

#[test]
fn bad_targets_are_named_by_row_and_value() {
    let f = outputs(3);
    let message = |loss: Loss, y: &Tensor| loss.gradient(&f, y).unwrap_err().to_string();
    assert_eq!(
        message(Loss::Categorical, &Tensor::from_slice(&[0i64, 1, 3, 2])),
        "target in row 2 is 3, must be a class index below 3"
    );
    assert_eq!(
        message(Loss::Categorical, &Tensor::from_slice(&[0i64, -1, 3, 2])),
        "target in row 1 is -1, must be a class index below 3"
    );
    let y = Tensor::ones([SAMPLES, 3], common::CPU_F64);
    let _ = y.get(3).get(1).fill_(0.5);
    assert_eq!(
        message(Loss::Bernoulli, &y),
        "target in row 3 is 0.5, must be 0 or 1"
    );
    let _ = y.get(2).get(2).fill_(f64::NAN);
    assert_eq!(
        message(Loss::Gaussian { noise: 1.0 }, &y),
        "target in row 2 is NaN, must be finite"
    );
    assert!(matches!(
        Loss::Categorical.gradient(&f, &y).unwrap_err(),
        CurvatureError::Shape {
            what: "targets",
            ..
        }
    ));
    assert!(matches!(
        Loss::Gaussian { noise: 1.0 }
            .gradient(&f, &y.to_kind(Kind::Float))
            .unwrap_err(),
        CurvatureError::Kind {
            what: "targets",
            ..
        }
    ));
}

#[test]
fn impossible_settings_are_refused() {
    for noise in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Loss::Gaussian { noise }.root(&outputs(2)).unwrap_err();
        assert!(matches!(error, CurvatureError::Noise { .. }), "{error}");
    }
    let error = Loss::HeteroscedasticGaussian.root(&outputs(3)).unwrap_err();
    assert!(
        error.to_string().contains("as many log variances"),
        "{error}"
    );
}
