//! Cumulative logits against golden values, finite differences, and sums over all levels.

use approx::assert_relative_eq;
use ndarray::{Array2, ArrayView2, ArrayView3, array, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;

use super::{Likelihood, Ordinal, VarianceLink};

/// Levels 3 to 8.
fn likelihood() -> Likelihood {
    let link = VarianceLink::new(0.4, 2.0).unwrap();
    let likelihood = Likelihood::Ordinal(Ordinal::default().with_scale(link));
    likelihood
        .of_targets(array![3.0, 5.0, 5.0, 6.0, 8.0].view())
        .unwrap()
}

/// Within the levels and beyond both ends, narrow and wide.
const OUTPUTS: [[f64; 2]; 5] = [
    [0.3, -0.8],
    [-1.1, 2.5],
    [0.2, -3.0],
    [9.0, -6.0],
    [-4.0, 0.5],
];

fn one_row(f: &[f64]) -> ArrayView3<'_, f64> {
    ArrayView3::from_shape((1, 1, f.len()), f).unwrap()
}

fn terms(f: &[f64], y: f64) -> (f64, Vec<f64>) {
    let terms = likelihood().loss(one_row(f), array![y].view()).unwrap();
    let ascent = terms.ascent.into_raw_vec_and_offset().0;
    (terms.negative_log_likelihood[0], ascent)
}

fn product(root: ArrayView2<'_, f64>) -> Array2<f64> {
    root.dot(&root.t())
}

/// `Σ_k P_k ∇ℓ_k ∇ℓ_kᵀ`.
fn fisher(f: &[f64]) -> Array2<f64> {
    let mut fisher = Array2::<f64>::zeros((2, 2));
    for level in 3..=8 {
        let (loss, g) = terms(f, f64::from(level));
        for i in 0..2 {
            for j in 0..2 {
                fisher[[i, j]] += (-loss).exp() * g[i] * g[j];
            }
        }
    }
    fisher
}

/// Of `tests/models/golden/heads.py`.
#[test]
fn losses_and_ascents_are_the_golden_ones() {
    for (f, y, loss, ascent) in [
        (
            [0.3, -0.8],
            6.0,
            1.638714013975472,
            [0.05466047007993675, -0.357985504273615],
        ),
        (
            [-1.1, 2.5],
            3.0,
            0.7035445721150608,
            [-0.1506560858003194, 0.0034340557068904187],
        ),
        (
            [0.2, -3.0],
            8.0,
            2.4732334875043502,
            [1.9992092948798201, 0.25916235146240524],
        ),
        (
            [9.0, -6.0],
            4.0,
            23.9467864994063,
            [-2.480856890191074, 0.17756438139132308],
        ),
    ] {
        let (found, of_outputs) = terms(&f, y);
        assert_relative_eq!(found, loss, max_relative = 1e-13);
        for (found, expected) in of_outputs.iter().zip(ascent) {
            assert_relative_eq!(*found, expected, max_relative = 1e-12);
        }
    }
}

#[test]
fn ascent_is_minus_the_finite_difference_of_the_loss() {
    for f in OUTPUTS {
        for y in [3.0, 4.0, 6.0, 8.0] {
            for (j, a) in terms(&f, y).1.into_iter().enumerate() {
                let h = 1e-6;
                let moved = |by: f64| {
                    let mut g = f;
                    g[j] += by;
                    terms(&g, y).0
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                assert_relative_eq!(a, -slope, epsilon = 1e-8, max_relative = 1e-6);
            }
        }
    }
}

#[test]
fn probabilities_of_the_levels_sum_to_one_and_the_ends_are_open() {
    for f in OUTPUTS {
        let total: f64 = (3..=8).map(|k| (-terms(&f, f64::from(k)).0).exp()).sum();
        assert_relative_eq!(total, 1.0, max_relative = 1e-12);
        assert_eq!(terms(&f, 12.0), terms(&f, 8.0));
        assert_eq!(terms(&f, -2.0), terms(&f, 3.0));
    }
}

#[test]
fn the_root_is_that_of_the_fisher_information() {
    for f in OUTPUTS {
        let root = likelihood().curvature_root(one_row(&f)).unwrap();
        let root = root.slice(s![0, 0, .., ..]);
        assert_relative_eq!(
            product(root),
            fisher(&f),
            epsilon = 1e-14,
            max_relative = 1e-9
        );
    }
}

/// 200 000 draws; the error of an entry is at most that of a mean of products whose standard deviation is ten times their scale.
#[test]
fn drawn_roots_have_the_fisher_information_as_their_expectation() {
    for f in &OUTPUTS[..3] {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let drawn = likelihood()
            .sampled_curvature_root(one_row(f), 200_000, &mut rng)
            .unwrap();
        let (found, expected) = (product(drawn.slice(s![0, 0, .., ..])), fisher(f));
        for ((i, j), found) in found.indexed_iter() {
            let scale = (expected[[i, i]] * expected[[j, j]]).sqrt();
            let error = (found - expected[[i, j]]).abs();
            assert!(error <= 0.1 * scale, "{f:?} {i} {j}: {error} of {scale}");
        }
    }
}

/// With levels close together beside the scale it is the density of a logistic, times their step.
#[test]
fn many_narrow_levels_are_a_logistic_density() {
    let targets = array![-400.0, 400.0];
    let likelihood = Likelihood::Ordinal(Ordinal::default());
    let likelihood = likelihood.of_targets(targets.view()).unwrap();
    // τ = 400 e^{−2}, above a floor that does not count.
    let f = [0.05, -4.0];
    let scale = 400.0 * (-2f64).exp();
    let z: f64 = (30.0 - 20.0) / scale;
    let density = (-z).exp() / (scale * (1.0 + (-z).exp()).powi(2));
    let found = likelihood.loss(one_row(&f), array![30.0].view()).unwrap();
    let found = (-found.negative_log_likelihood[0]).exp();
    assert_relative_eq!(found, density, max_relative = 1e-4);
    let root = likelihood.curvature_root(one_row(&f)).unwrap();
    let fisher = product(root.slice(s![0, 0, .., ..]));
    // Of a logistic's location 1/(3 τ²), here in units of 400.
    assert_relative_eq!(
        fisher[[0, 0]],
        (400.0 / scale).powi(2) / 3.0,
        max_relative = 1e-3
    );
}

#[test]
fn targets_that_are_no_levels_are_named() {
    let of = |targets: &[f64]| {
        let likelihood = Likelihood::Ordinal(Ordinal::default());
        let targets = ndarray::ArrayView1::from(targets);
        likelihood.of_targets(targets).unwrap_err().to_string()
    };
    assert_eq!(
        of(&[1.0, 2.5, 3.0]),
        "target 2.5 of row 1 is no whole number, as the ordinal likelihood needs; take another likelihood"
    );
    assert_eq!(
        of(&[0.0, 1000.0]),
        "levels of the ordinal likelihood is 1001; expected at most 1000; take another likelihood"
    );
    assert!(of(&[2.0, 2.0]).contains("the target is 2 in all 2 training rows"));
    assert!(of(&[2.0, f64::NAN]).contains("no whole number"));
    assert!(of(&[2.0, f64::INFINITY]).contains("no whole number"));
    let error = likelihood().check_targets(array![3.0, 3.5].view());
    assert!(error.unwrap_err().to_string().contains("row 1"));
    likelihood()
        .check_targets(array![1.0, 30.0].view())
        .unwrap();
}
