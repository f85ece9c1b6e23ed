//! Student t and mixture density against golden values, finite differences and numeric expectations.

use approx::assert_relative_eq;
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, array, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;

use super::{HeteroscedasticGaussian, Likelihood, MixtureDensity, StudentT, VarianceLink};

fn link() -> VarianceLink {
    VarianceLink::new(0.4, 2.0).unwrap()
}

fn student_t(degrees: f64) -> Likelihood {
    Likelihood::StudentT(StudentT::new(degrees).unwrap().with_scale(link()))
}

fn mixture(components: usize) -> Likelihood {
    let mixture = MixtureDensity::new(components).unwrap();
    Likelihood::Mixture(mixture.with_variance(link()))
}

/// Likelihoods with outputs on both sides of the floor and of where growth is linear.
fn cases() -> Vec<(Likelihood, Vec<f64>)> {
    vec![
        (student_t(4.0), vec![0.3, -0.8]),
        (student_t(4.0), vec![-1.1, 3.5]),
        (student_t(2.5), vec![2.0, -6.0]),
        (student_t(100.0), vec![0.1, 1.0]),
        (mixture(1), vec![0.7, -0.4, 0.3]),
        (
            mixture(3),
            vec![0.4, -1.2, 0.1, -0.5, 1.3, 0.2, -1.1, 0.3, 1.5],
        ),
        (mixture(2), vec![1.0, -2.0, -3.0, 4.0, 2.6, -5.0]),
    ]
}

fn one_row(f: &[f64]) -> ArrayView3<'_, f64> {
    ArrayView3::from_shape((1, 1, f.len()), f).unwrap()
}

/// `R Rᵀ`.
fn product(root: ArrayView2<'_, f64>) -> Array2<f64> {
    root.dot(&root.t())
}

fn terms(likelihood: &Likelihood, f: &[f64], y: f64) -> (f64, Vec<f64>) {
    let terms = likelihood.loss(one_row(f), array![y].view()).unwrap();
    let ascent = terms.ascent.into_raw_vec_and_offset().0;
    (terms.negative_log_likelihood[0], ascent)
}

/// `∫ g(y) p(y) dy` by the trapezoid rule in `u`, `y = centre + 3 sinh u`: the tails of a t decay exponentially in `u`.
fn expectation(likelihood: &Likelihood, f: &[f64], mut g: impl FnMut(f64, f64)) {
    let step = 2e-3;
    for i in -8000..=8000 {
        let u = f64::from(i) * step;
        let y = 0.2 + 3.0 * u.sinh();
        let mass = (-terms(likelihood, f, y).0).exp() * 3.0 * u.cosh() * step;
        g(y, mass);
    }
}

fn fisher(likelihood: &Likelihood, f: &[f64]) -> Array2<f64> {
    let c = f.len();
    let mut fisher = Array2::<f64>::zeros((c, c));
    expectation(likelihood, f, |y, mass| {
        let (_, g) = terms(likelihood, f, y);
        for i in 0..c {
            for j in 0..c {
                fisher[[i, j]] += mass * g[i] * g[j];
            }
        }
    });
    fisher
}

/// Likelihood, outputs, target, loss and ascent.
type Golden = (Likelihood, &'static [f64], f64, f64, &'static [f64]);

/// Of `tests/models/golden/heads.py`.
#[test]
fn losses_and_ascents_are_the_golden_ones() {
    let t4 = student_t(4.0);
    let golden: [Golden; 3] = [
        (
            t4,
            &[0.3, -0.8],
            0.9,
            1.07753815930486,
            &[1.0724566527095607, -0.13145400223649734],
        ),
        (
            t4,
            &[-1.1, 3.5],
            40.0,
            10.353243939370545,
            &[0.11651373481184342, 0.7512361001284916],
        ),
        (
            mixture(3),
            &[0.4, -1.2, 0.1, -0.5, 1.3, 0.2, -1.1, 0.3, 1.5],
            0.9,
            1.9730564445125207,
            &[
                -0.22667718300952477,
                0.126239423135301,
                0.10043775987422378,
                0.8182525060221705,
                -0.060976394542177355,
                0.07265425130371608,
                0.2895611683437706,
                -0.09198396094872743,
                -0.20802881460178177,
            ],
        ),
    ];
    for (likelihood, f, y, loss, ascent) in golden {
        let (found, of_outputs) = terms(&likelihood, f, y);
        assert_relative_eq!(found, loss, max_relative = 1e-14);
        for (found, expected) in of_outputs.iter().zip(ascent) {
            assert_relative_eq!(*found, *expected, max_relative = 1e-13);
        }
    }
}

#[test]
fn ascent_is_minus_the_finite_difference_of_the_loss() {
    for (likelihood, f) in cases() {
        for y in [0.9, -7.0] {
            for (j, a) in terms(&likelihood, &f, y).1.into_iter().enumerate() {
                let h = 1e-6;
                let moved = |by: f64| {
                    let mut g = f.clone();
                    g[j] += by;
                    terms(&likelihood, &g, y).0
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                assert_relative_eq!(a, -slope, epsilon = 1e-8, max_relative = 1e-6);
            }
        }
    }
}

#[test]
fn densities_integrate_to_one() {
    for (likelihood, f) in cases() {
        let mut total = 0.0;
        expectation(&likelihood, &f, |_, mass| total += mass);
        assert_relative_eq!(total, 1.0, max_relative = 1e-9);
    }
}

/// `(ν + 1)/((ν + 3) v)` and `t² ν/(2 (ν + 3))`, nothing beside the diagonal.
#[test]
fn the_root_of_a_student_t_is_that_of_its_fisher_information() {
    for (likelihood, f) in cases() {
        let Likelihood::StudentT(_) = likelihood else {
            continue;
        };
        let root = likelihood.curvature_root(one_row(&f)).unwrap();
        let root = root.slice(s![0, 0, .., ..]);
        assert_eq!(root.dim(), (2, likelihood.curvature_rank()));
        assert_relative_eq!(
            product(root),
            fisher(&likelihood, &f),
            epsilon = 1e-9,
            max_relative = 1e-7
        );
    }
}

/// 200 000 draws; entries are means of products with about 4 times their scale as standard deviation, so that 5 % is more than
/// five standard errors.
#[test]
fn drawn_roots_have_the_fisher_information_as_their_expectation() {
    for (likelihood, f) in cases() {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let drawn = likelihood
            .sampled_curvature_root(one_row(&f), 200_000, &mut rng)
            .unwrap();
        assert_eq!(drawn.dim(), (1, 1, f.len(), 200_000));
        let drawn = drawn.slice(s![0, 0, .., ..]);
        let (found, expected) = (product(drawn), fisher(&likelihood, &f));
        for ((i, j), found) in found.indexed_iter() {
            let scale = (expected[[i, i]] * expected[[j, j]]).sqrt();
            let error = (found - expected[[i, j]]).abs();
            assert!(
                error <= 0.05 * scale + 1e-12,
                "{likelihood:?} {i} {j}: {error} of {scale}"
            );
        }
    }
}

#[test]
fn a_mixture_of_one_and_a_t_of_many_degrees_are_the_gaussian() {
    let gaussian = HeteroscedasticGaussian::new(0.4, 2.0).unwrap();
    let gaussian = Likelihood::Heteroscedastic(gaussian);
    let f = [0.3, -0.8];
    let (loss, ascent) = terms(&gaussian, &f, 1.4);
    let (of_mixture, ascent_of_mixture) = terms(&mixture(1), &[5.0, 0.3, -0.8], 1.4);
    assert_relative_eq!(of_mixture, loss, max_relative = 1e-14);
    assert_eq!(ascent_of_mixture[0], 0.0);
    assert_relative_eq!(ascent_of_mixture[1..], ascent[..], max_relative = 1e-13);
    let (of_t, ascent_of_t) = terms(&student_t(1e6), &f, 1.4);
    assert_relative_eq!(of_t, loss, max_relative = 1e-5);
    assert_relative_eq!(ascent_of_t[..], ascent[..], max_relative = 1e-4);
}

/// The pull of an outlier on the location is bounded, its pull on the log scale is at most `½ ν`.
#[test]
fn an_outlier_does_not_pull_without_bound() {
    let likelihood = student_t(4.0);
    let near = terms(&likelihood, &[0.0, 0.0], 2.0).1;
    let far = terms(&likelihood, &[0.0, 0.0], 1e8).1;
    assert!(far[0] > 0.0 && far[0] < 1e-6 * near[0], "{far:?}");
    assert!(far[1] > near[1] && far[1] <= 2.0, "{far:?}");
    // A residual of zero: all of the pull is towards a smaller scale.
    let none = terms(&likelihood, &[0.0, 0.0], 0.0).1;
    assert_eq!(none[0], 0.0);
    assert!(none[1] < 0.0, "{none:?}");
}

#[test]
fn logits_of_any_size_and_dead_components_stay_finite() {
    let f = [800.0, -800.0, 0.0, 0.0, 1e6, -1e6, -200.0, 200.0, 0.0];
    for y in [0.0, 3.0, -1e6] {
        let (loss, ascent) = terms(&mixture(3), &f, y);
        assert!(loss.is_finite() && ascent.iter().all(|a| a.is_finite()));
    }
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let root = mixture(3)
        .sampled_curvature_root(one_row(&f), 8, &mut rng)
        .unwrap();
    assert!(root.iter().all(|s| s.is_finite()));
}

#[test]
fn what_is_out_of_range_or_not_there_is_refused() {
    for degrees in [2.0, 0.0, -1.0, 2e6, f64::NAN] {
        let message = StudentT::new(degrees).unwrap_err().to_string();
        assert!(message.starts_with("degrees of freedom is "), "{message}");
    }
    for components in [0, 101] {
        assert!(MixtureDensity::new(components).is_err());
    }
    let exact = mixture(2).curvature_root(Array3::zeros((1, 1, 6)).view());
    assert_eq!(
        exact.unwrap_err().to_string(),
        "root of the curvature is exact; expected `sampled`: a mixture density has no exact root"
    );
    for (likelihood, f) in cases() {
        let outputs = Array3::zeros((2, 3, f.len()));
        let of = |targets: &[f64]| {
            let targets = ndarray::ArrayView1::from(targets);
            likelihood
                .loss(outputs.view(), targets)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(of(&[1.0; 4]), "targets has shape [4]; expected [3]");
        assert_eq!(
            of(&[1.0, f64::NAN, 1.0]),
            "row 1 of the targets is not finite; drop or impute it before training"
        );
        let wide = Array3::zeros((2, 3, f.len() + 1));
        assert!(
            likelihood
                .loss(wide.view(), array![1.0, 1.0, 1.0].view())
                .is_err()
        );
    }
}

/// Sums over rows, and the residual of the mean, which for a mixture is that of its components.
#[test]
fn batches_are_the_sum_of_their_rows() {
    let likelihood = mixture(2);
    let rows = [
        [1.0, -2.0, -3.0, 4.0, 2.6, -5.0],
        [0.0, 0.0, 1.0, 3.0, 0.0, 0.0],
    ];
    let outputs = Array3::from_shape_fn((1, 2, 6), |(_, i, j)| rows[i][j]);
    let found = likelihood
        .loss(outputs.view(), array![0.5, 4.0].view())
        .unwrap();
    let sum = terms(&likelihood, &rows[0], 0.5).0 + terms(&likelihood, &rows[1], 4.0).0;
    assert_relative_eq!(found.negative_log_likelihood[0], sum, max_relative = 1e-14);
    let weight = 1.0 / (1.0 + (-3.0f64).exp());
    let first = 0.5 - (weight * -3.0 + (1.0 - weight) * 4.0);
    let expected = (first * first + 4.0) / 2.0;
    let found = found.mean_squared_residual.unwrap()[0];
    assert_relative_eq!(found, expected, max_relative = 1e-13);
}
