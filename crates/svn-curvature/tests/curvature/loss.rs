//! Values, output gradients and curvature roots against second-order dual numbers.

use crate::common::{reference, reference_fisher, relative_error};
use ndarray::{Array1, Array2, Array3, Array4, ArrayView1, Axis, array, s};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_curvature::{CurvatureError, Loss};

const PARTICLES: usize = 3;
const SAMPLES: usize = 4;
const ROUNDING: f64 = 1e-14;

fn normal(shape: [usize; 3], scale: f64, seed: u64) -> Array3<f64> {
    let mut numbers = Array3::zeros(shape);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for x in &mut numbers {
        let unit: f64 = StandardNormal.sample(&mut rng);
        *x = scale * unit;
    }
    numbers
}

fn outputs(c: usize) -> Array3<f64> {
    normal([PARTICLES, SAMPLES, c], 1.5, 31)
}

/// The losses, each with a number of outputs it can take and targets for [`SAMPLES`] samples.
fn losses() -> [(&'static str, Loss, usize, Array2<f64>); 4] {
    let targets = |columns, seed| normal([1, SAMPLES, columns], 1.0, seed).remove_axis(Axis(0));
    let labels = array![[2.0], [0.0], [1.0], [2.0]];
    let binary = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]];
    [
        (
            "gaussian",
            Loss::Gaussian { noise: 0.7 },
            2,
            targets(2, 201),
        ),
        (
            "heteroscedastic",
            Loss::HeteroscedasticGaussian,
            4,
            targets(2, 202),
        ),
        ("categorical", Loss::Categorical, 3, labels),
        ("bernoulli", Loss::Bernoulli, 2, binary),
    ]
}

/// `S Sᵀ` of every particle and row.
fn products(root: &Array4<f64>) -> Array4<f64> {
    let (n, b, c, _) = root.dim();
    let mut products = Array4::zeros((n, b, c, c));
    for (p, i) in (0..n).flat_map(|p| (0..b).map(move |i| (p, i))) {
        let s = root.slice(s![p, i, .., ..]);
        products.slice_mut(s![p, i, .., ..]).assign(&s.dot(&s.t()));
    }
    products
}

#[test]
fn values_and_gradients_equal_the_reference() {
    for (name, loss, c, y) in losses() {
        let f = outputs(c);
        let (values, gradient) = loss.value_and_gradient(f.view(), y.view()).unwrap();
        let mut expected = (Array1::zeros(PARTICLES), Array3::zeros(f.dim()));
        for (p, f) in f.outer_iter().enumerate() {
            for (i, (f, y)) in f.outer_iter().zip(y.outer_iter()).enumerate() {
                let (value, gradient, _) = reference(loss, f, y);
                expected.0[p] += value;
                expected.1.slice_mut(s![p, i, ..]).assign(&gradient);
            }
        }
        let error = relative_error(&values, &expected.0);
        assert!(error < ROUNDING, "{name}: {error:e}");
        let error = relative_error(&gradient, &expected.1);
        assert!(error < ROUNDING, "{name}: {error:e}");
    }
}

#[test]
fn any_layout_of_the_outputs_gives_the_same_numbers() {
    for (name, loss, c, y) in losses() {
        let f = outputs(c);
        let mut turned = Array3::zeros((c, SAMPLES, PARTICLES));
        turned.assign(&f.view().reversed_axes());
        let turned = turned.view().reversed_axes();
        let (value, gradient) = loss.value_and_gradient(turned, y.view()).unwrap();
        assert!(gradient.is_standard_layout(), "{name}");
        let plain = loss.value_and_gradient(f.view(), y.view()).unwrap();
        assert_eq!((value, gradient), plain, "{name}");
        assert_eq!(loss.root(turned).unwrap(), loss.root(f.view()).unwrap());
    }
}

#[test]
fn roots_times_their_transpose_equal_the_output_fisher() {
    for (name, loss, c, y) in losses() {
        let f = outputs(c);
        let product = products(&loss.root(f.view()).unwrap());
        let mut expected = Array4::zeros(product.dim());
        for (p, f) in f.outer_iter().enumerate() {
            for (i, (f, y)) in f.outer_iter().zip(y.outer_iter()).enumerate() {
                let fisher = reference_fisher(loss, f, y);
                expected.slice_mut(s![p, i, .., ..]).assign(&fisher);
            }
        }
        let error = relative_error(&product, &expected);
        assert!(error < ROUNDING, "{name}: {error:e}");
    }
}

#[test]
fn monte_carlo_roots_are_unbiased_and_belong_to_their_seed() {
    // The mean of s products has a standard error of at most about √(2/s) of its size; five of them.
    let samples = 40_000;
    for (name, loss, c, _) in losses() {
        let f = outputs(c);
        let draw = |seed| {
            loss.monte_carlo_root(f.view(), samples, &mut ChaCha8Rng::seed_from_u64(seed))
                .unwrap()
        };
        let root = draw(1);
        assert_eq!(root, draw(1), "{name}");
        assert_ne!(root, draw(2), "{name}");
        let exact = loss.root(f.view()).unwrap();
        let error = relative_error(&products(&root), &products(&exact));
        assert!(
            error < 5.0 * (2.0 / samples as f64).sqrt(),
            "{name}: {error:e}"
        );
    }
}

#[test]
fn monte_carlo_columns_are_gradients_at_targets_the_model_can_draw() {
    let f = outputs(3);
    let gradient =
        |loss: Loss, y: &Array2<f64>| loss.value_and_gradient(f.view(), y.view()).unwrap().1;
    let close = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < ROUNDING)
    };
    for (loss, candidates) in [
        (
            Loss::Categorical,
            [0.0, 1.0, 2.0]
                .map(|y| Array2::from_elem((SAMPLES, 1), y))
                .to_vec(),
        ),
        (
            Loss::Bernoulli,
            (0..8)
                .map(|bits| Array2::from_shape_fn((SAMPLES, 3), |(_, j)| f64::from(bits >> j & 1)))
                .collect(),
        ),
    ] {
        let gradients: Vec<Array3<f64>> = candidates.iter().map(|y| gradient(loss, y)).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let root = loss.monte_carlo_root(f.view(), 4, &mut rng).unwrap();
        for (p, i, j) in (0..PARTICLES * SAMPLES * 4).map(|k| (k / 16, k / 4 % 4, k % 4)) {
            let column = root.slice(s![p, i, .., j]).mapv(|s| 2.0 * s);
            let known = |g: &Array3<f64>| close(g.slice(s![p, i, ..]), column.view());
            assert!(gradients.iter().any(known), "{loss:?}: {column}");
        }
    }
}

#[test]
fn extreme_logits_give_finite_roots() {
    let f = array![[[800.0, -800.0, 0.0], [30.0, -30.0, 40.0]]];
    for loss in [Loss::Categorical, Loss::Bernoulli] {
        let root = loss.root(f.view()).unwrap();
        assert!(root.iter().all(|s| s.is_finite()), "{loss:?}");
    }
    // p (1 − p) at logit 30 and 40 is e⁻³⁰ and e⁻⁴⁰, which 1 − p in floating point would lose.
    let root = Loss::Bernoulli.root(f.view()).unwrap();
    assert!((root[[0, 1, 0, 0]] / (-15.0f64).exp() - 1.0).abs() < 1e-12);
    assert!((root[[0, 1, 2, 2]] / (-20.0f64).exp() - 1.0).abs() < 1e-12);
}

/// The variance of class i is `p_i Σ_k≠i p_k`, to the last digits however far the logits are apart and in whichever order.
#[test]
fn a_categorical_root_keeps_the_digits_of_small_variances() {
    for f in [
        [40.0, 0.0, -30.0],
        [-30.0, 40.0, 0.0],
        [0.0, -30.0, 40.0],
        [1.0, 1.0, 1.0],
    ] {
        let outputs = Array3::from_shape_fn((1, 1, 3), |(_, _, i)| f[i]);
        let root = Loss::Categorical.root(outputs.view()).unwrap();
        assert_eq!(root.dim(), (1, 1, 3, Loss::Categorical.root_columns(3)));
        let total: f64 = f.iter().map(|f| f.exp()).sum();
        for i in 0..3 {
            let variance = root.slice(s![0, 0, i, ..]).mapv(|s| s * s).sum();
            let others: f64 = (0..3).filter(|&k| k != i).map(|k| f[k].exp()).sum();
            let expected = f[i].exp() * others / (total * total);
            assert!((variance / expected - 1.0).abs() < 1e-13, "{f:?} {i}");
        }
    }
    // One class has none.
    let one = Loss::Categorical.root(outputs(1).view()).unwrap();
    assert!(one.iter().all(|s| *s == 0.0));
}

#[test]
fn bad_targets_are_named_by_row_and_value() {
    let f = outputs(3);
    let error =
        |loss: Loss, y: &Array2<f64>| loss.value_and_gradient(f.view(), y.view()).unwrap_err();
    for (bad, shown) in [(3.0, "3"), (-1.0, "-1"), (0.5, "0.5"), (f64::NAN, "NaN")] {
        assert_eq!(
            error(Loss::Categorical, &array![[0.0], [1.0], [bad], [7.0]]).to_string(),
            format!("target in row 2 is {shown}, must be a class index below 3")
        );
    }
    let mut y = Array2::ones((SAMPLES, 3));
    y[[3, 1]] = 0.5;
    assert_eq!(
        error(Loss::Bernoulli, &y).to_string(),
        "target in row 3 is 0.5, must be 0 or 1"
    );
    y[[2, 2]] = f64::NAN;
    assert_eq!(
        error(Loss::Gaussian { noise: 1.0 }, &y).to_string(),
        "target in row 2 is NaN, must be finite"
    );
    for (loss, shape, message) in [
        (
            Loss::Categorical,
            (SAMPLES, 3),
            "samples × 1 = [4, 1], found [4, 3]",
        ),
        (
            Loss::Bernoulli,
            (SAMPLES, 2),
            "samples × outputs = [4, 3], found [4, 2]",
        ),
        (
            Loss::Gaussian { noise: 1.0 },
            (5, 3),
            "samples × outputs = [4, 3], found [5, 3]",
        ),
    ] {
        let error = error(loss, &Array2::zeros(shape)).to_string();
        assert_eq!(error, format!("targets must have shape {message}"));
    }
}

#[test]
fn impossible_settings_are_refused() {
    for noise in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Loss::Gaussian { noise }
            .root(outputs(2).view())
            .unwrap_err();
        assert!(matches!(error, CurvatureError::Noise { .. }), "{error}");
    }
    for (loss, c, expected) in [
        (Loss::HeteroscedasticGaussian, 3, "as many log variances"),
        (Loss::Categorical, 0, "at least one class"),
    ] {
        let f = outputs(c);
        let error = loss.root(f.view()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let drawn = loss.monte_carlo_root(f.view(), 1, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(drawn.unwrap_err().to_string(), error);
    }
}
