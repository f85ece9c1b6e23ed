//! Likelihood terms against finite differences and numeric expectations.

use super::{Gaussian, HeteroscedasticGaussian, Likelihood};
use approx::assert_relative_eq;
use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayView3, array, s};
use rand::SeedableRng;

fn heteroscedastic(floor: f64, linear_from: f64) -> Likelihood {
    Likelihood::Heteroscedastic(HeteroscedasticGaussian::new(floor, linear_from).unwrap())
}

fn cases() -> [Likelihood; 4] {
    [
        Likelihood::Gaussian(Gaussian::new(0.37).unwrap()),
        heteroscedastic(0.0, 2.0),
        heteroscedastic(0.4, 2.0),
        heteroscedastic(0.3, -1.5),
    ]
}

/// Outputs on both sides of the floors and of the places from which growth is linear.
const OUTPUTS: [[f64; 2]; 5] = [
    [0.3, -0.8],
    [-1.1, 0.4],
    [2.0, 1.9],
    [0.1, -6.0],
    [0.2, 3.5],
];

/// The variance, written out.
fn variance(likelihood: &Likelihood, f: &[f64]) -> f64 {
    match likelihood {
        Likelihood::Gaussian(gaussian) => gaussian.noise_variance(),
        _ => {
            let cases = cases();
            let index = cases.iter().position(|case| case == likelihood).unwrap();
            let (floor, linear_from): (f64, f64) = [(0.0, 2.0), (0.4, 2.0), (0.3, -1.5)][index - 1];
            let s = f[1];
            let growth = s.min(linear_from).exp();
            floor * floor + growth + growth * (s - linear_from).max(0.0)
        }
    }
}

/// One particle, one row of outputs.
fn one_row(f: &[f64]) -> ArrayView3<'_, f64> {
    ArrayView3::from_shape((1, 1, f.len()), f).unwrap()
}

/// `R Rᵀ`.
fn product(root: ArrayView2<'_, f64>) -> Array2<f64> {
    root.dot(&root.t())
}

fn nll(likelihood: &Likelihood, f: &[f64], y: f64) -> f64 {
    let terms = likelihood.loss(one_row(f), array![y].view()).unwrap();
    terms.negative_log_likelihood[0]
}

fn ascent(likelihood: &Likelihood, f: &[f64], y: f64) -> Vec<f64> {
    let terms = likelihood.loss(one_row(f), array![y].view()).unwrap();
    terms.ascent.into_raw_vec_and_offset().0
}

#[test]
fn ascent_is_minus_the_finite_difference_of_the_loss() {
    for likelihood in cases() {
        for f in OUTPUTS {
            let f = &f[..likelihood.outputs()];
            for (j, a) in ascent(&likelihood, f, 0.9).into_iter().enumerate() {
                let h = 1e-6;
                let moved = |by: f64| {
                    let mut g = f.to_vec();
                    g[j] += by;
                    nll(&likelihood, &g, 0.9)
                };
                assert_relative_eq!(
                    a,
                    -(moved(h) - moved(-h)) / (2.0 * h),
                    epsilon = 1e-8,
                    max_relative = 1e-7
                );
            }
        }
    }
}

/// `weight · R Rᵀ` is the Fisher information `E_y[∇ℓ ∇ℓᵀ]`, the expectation by the trapezoid rule over ±12 σ,
/// which is exact to rounding for a smooth integrand that decays.
#[test]
fn curvature_is_the_fisher_information() {
    for (likelihood, f) in cases()
        .into_iter()
        .flat_map(|likelihood| OUTPUTS.map(|f| (likelihood, f)))
    {
        let c = likelihood.outputs();
        let sd = variance(&likelihood, &f).sqrt();
        let mut fisher = vec![0.0; c * c];
        let step = sd * 0.01;
        for k in -1200..=1200 {
            let y = f[0] + k as f64 * step;
            let density = (-0.5 * ((y - f[0]) / sd).powi(2)).exp()
                / (sd * (2.0 * std::f64::consts::PI).sqrt());
            let g = ascent(&likelihood, &f[..c], y);
            for i in 0..c {
                for j in 0..c {
                    fisher[i * c + j] += density * step * g[i] * g[j];
                }
            }
        }
        let root = likelihood.curvature_root(one_row(&f[..c])).unwrap();
        let product = product(root.slice(s![0, 0, .., ..])) * likelihood.curvature_weight();
        for i in 0..c {
            for j in 0..c {
                assert_relative_eq!(
                    product[[i, j]],
                    fisher[i * c + j],
                    epsilon = 1e-9,
                    max_relative = 1e-9
                );
            }
        }
    }
}

/// Over ±12 σ, as above; the density has to be that of the variance that is predicted.
#[test]
fn the_density_integrates_to_one_and_to_the_predicted_variance() {
    for (likelihood, f) in cases()
        .into_iter()
        .flat_map(|likelihood| OUTPUTS.map(|f| (likelihood, f)))
    {
        let expected = variance(&likelihood, &f);
        if let Likelihood::Heteroscedastic(head) = likelihood {
            let found = head.noise_variance(one_row(&f)).unwrap();
            assert_relative_eq!(found[[0, 0]], expected, max_relative = 1e-14);
        }
        let (mut total, mut second) = (0.0, 0.0);
        let step = expected.sqrt() * 0.01;
        for k in -1200..=1200 {
            let by = k as f64 * step;
            let density = (-nll(&likelihood, &f[..likelihood.outputs()], f[0] + by)).exp();
            total += density * step;
            second += density * step * by * by;
        }
        assert_relative_eq!(total, 1.0, max_relative = 1e-9);
        assert_relative_eq!(second, expected, max_relative = 1e-9);
    }
}

/// With `t = e^s / v`: `½ t (r²/v − 1)`, which a cut at the floor would make zero.
#[test]
fn a_badly_fitted_row_below_the_floor_raises_its_noise() {
    let floor: f64 = 0.1;
    let likelihood = heteroscedastic(floor, 4.0);
    for s in [-6.0f64, -12.0, -20.0] {
        let v = floor * floor + s.exp();
        let found = ascent(&likelihood, &[0.0, s], 3.0)[1];
        let expected = 0.5 * (s.exp() / v) * (9.0 / v - 1.0);
        assert!(found > 0.0, "s = {s}: {found}");
        assert_relative_eq!(found, expected, max_relative = 1e-12);
        assert!(
            ascent(&likelihood, &[0.0, s], 0.01)[1] < 0.0,
            "a row fitted within the floor lowers it"
        );
    }
}

#[test]
fn noise_where_growth_is_linear_falls_again_and_does_not_overflow() {
    let likelihood = heteroscedastic(0.01, 4.0);
    let pull = |s: f64| ascent(&likelihood, &[0.0, s], 1.0)[1];
    assert_relative_eq!(pull(4.0 - 1e-9), pull(4.0 + 1e-9), max_relative = 1e-8);
    for s in [4.5, 10.0, 1000.0, 1e30] {
        assert!(pull(s) < 0.0 && pull(s).is_finite(), "s = {s}: {}", pull(s));
        assert!(nll(&likelihood, &[0.0, s], 1.0).is_finite(), "s = {s}");
    }
    let outputs = array![[[0.0, -200.0], [0.0, -9.3], [0.0, 200.0]]];
    let terms = likelihood
        .loss(outputs.view(), array![1.0, 1.0, 1.0].view())
        .unwrap();
    let roots = likelihood.curvature_root(outputs.view()).unwrap();
    let numbers = terms.negative_log_likelihood.iter().chain(&terms.ascent);
    assert!(numbers.chain(&roots).all(|x| x.is_finite()));
}

#[test]
fn without_a_floor_the_output_is_the_log_variance_to_the_last_bit() {
    let Likelihood::Heteroscedastic(head) = heteroscedastic(0.0, 4.0) else {
        unreachable!()
    };
    let likelihood = Likelihood::Heteroscedastic(head);
    for [mean, s] in OUTPUTS {
        let f = [mean, s];
        let precision = (-s).exp();
        let residual = 0.9 - mean;
        assert_eq!(
            ascent(&likelihood, &f, 0.9),
            [
                residual * precision,
                residual * residual * precision * 0.5 - 0.5
            ]
        );
        let root = likelihood.curvature_root(one_row(&f)).unwrap();
        assert_eq!(root[[0, 0, 1, 1]], 0.5f64.sqrt());
        assert_eq!(head.noise_variance(one_row(&f)).unwrap()[[0, 0]], s.exp());
    }
}

#[test]
fn the_floor_adds_to_the_noise() {
    let likelihood = HeteroscedasticGaussian::default();
    let log_variances = [-30.0f64, -9.5, -9.0, 1.0];
    let outputs = Array3::from_shape_fn((1, 4, 2), |(_, i, j)| j as f64 * log_variances[i]);
    let floored = likelihood.with_floor(0.01).unwrap();
    let found = floored.noise_variance(outputs.view()).unwrap();
    for (found, log_variance) in found.into_iter().zip(log_variances) {
        assert_relative_eq!(found, 1e-4 + log_variance.exp(), max_relative = 1e-12);
    }
    for floor in [0.0, -1.0, 7.5, f64::NAN] {
        let message = likelihood.with_floor(floor).unwrap_err().to_string();
        assert!(
            message.contains("noise floor") && message.contains("below 7.4"),
            "{message}"
        );
    }
    for (floor, linear_from) in [(-0.1, 4.0), (1.0, 0.0), (0.1, f64::NAN), (f64::NAN, 4.0)] {
        assert!(HeteroscedasticGaussian::new(floor, linear_from).is_err());
    }
}

#[test]
fn noise_must_be_positive() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = Gaussian::new(bad).unwrap_err().to_string();
        assert!(message.starts_with("noise variance is"), "{message}");
    }
}

/// 200 000 draws: entries of `R Rᵀ` are means of products whose standard deviation is about 1.4 (Gaussian) to 3.7 times
/// their scale (fourth powers of a normal), so that 4 % is almost five standard errors.
#[test]
fn a_sampled_root_has_the_curvature_as_its_expectation() {
    for likelihood in cases() {
        let c = likelihood.outputs();
        let outputs =
            Array3::from_shape_fn((1, 2, c), |(_, i, j)| [0.4, -0.9, 1.3, -3.0][i * c + j]);
        let mut rng = rand::rngs::ChaCha12Rng::seed_from_u64(4);
        let drawn = likelihood
            .sampled_curvature_root(outputs.view(), 200_000, &mut rng)
            .unwrap();
        assert_eq!(drawn.dim(), (1, 2, c, 200_000));
        let exact = likelihood.curvature_root(outputs.view()).unwrap();
        for row in 0..2 {
            let found = product(drawn.slice(s![0, row, .., ..]));
            let expected = product(exact.slice(s![0, row, .., ..]));
            for ((i, j), found) in found.indexed_iter() {
                let scale = (expected[[i, i]] * expected[[j, j]]).sqrt();
                let error = (found - expected[[i, j]]).abs();
                assert!(error < 0.04 * scale, "{likelihood:?}: {error} of {scale}");
            }
        }
    }
}

#[test]
fn mean_squared_residuals_are_those_of_the_means() {
    let y = [0.9, -0.2, 1.4];
    for likelihood in cases() {
        let c = likelihood.outputs();
        let outputs = Array3::from_shape_fn((2, 3, c), |(p, i, j)| OUTPUTS[p + i][j]);
        let terms = likelihood
            .loss(outputs.view(), Array1::from_iter(y).view())
            .unwrap();
        let found = terms.mean_squared_residual.unwrap();
        for (p, found) in found.into_iter().enumerate() {
            let squares = (0..3).map(|i| (y[i] - OUTPUTS[p + i][0]).powi(2));
            assert_relative_eq!(found, squares.sum::<f64>() / 3.0, max_relative = 1e-14);
            let losses = (0..3).map(|i| nll(&likelihood, &OUTPUTS[p + i][..c], y[i]));
            let total = terms.negative_log_likelihood[p];
            assert_relative_eq!(total, losses.sum::<f64>(), max_relative = 1e-13);
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    for likelihood in cases() {
        let c = likelihood.outputs();
        let wide = Array3::zeros((2, 3, c + 1));
        let message = format!("outputs has shape [2, 3, {}]; expected [2, 3, {c}]", c + 1);
        let y = Array1::zeros(3);
        let mut rng = rand::rngs::ChaCha12Rng::seed_from_u64(4);
        for error in [
            likelihood.loss(wide.view(), y.view()).unwrap_err(),
            likelihood.curvature_root(wide.view()).unwrap_err(),
            likelihood
                .sampled_curvature_root(wide.view(), 1, &mut rng)
                .unwrap_err(),
        ] {
            assert_eq!(error.to_string(), message);
        }
        let fitting = Array3::zeros((2, 4, c));
        let error = likelihood.loss(fitting.view(), y.view()).unwrap_err();
        assert!(
            error.to_string().starts_with("targets must have shape"),
            "{error}"
        );
    }
    let none = Array3::zeros((2, 3, 1));
    assert!(
        HeteroscedasticGaussian::default()
            .noise_variance(none.view())
            .is_err()
    );
}
