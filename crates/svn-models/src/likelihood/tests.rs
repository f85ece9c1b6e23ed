//! Likelihood terms against finite differences and numeric expectations.

use super::{Gaussian, HeteroscedasticGaussian, Likelihood};
use approx::assert_relative_eq;
use rand::SeedableRng;
use tch::{IndexOp, Tensor};

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

/// One particle, one row: outputs `f` and target `y`.
fn nll(likelihood: &Likelihood, f: &[f64], y: f64) -> f64 {
    let outputs = Tensor::from_slice(f).view([1, 1, f.len() as i64]);
    let terms = likelihood
        .loss(&outputs, &Tensor::from_slice(&[y]))
        .unwrap();
    terms.negative_log_likelihood.double_value(&[0])
}

fn ascent(likelihood: &Likelihood, f: &[f64], y: f64) -> Vec<f64> {
    let outputs = Tensor::from_slice(f).view([1, 1, f.len() as i64]);
    let terms = likelihood
        .loss(&outputs, &Tensor::from_slice(&[y]))
        .unwrap();
    Vec::try_from(terms.ascent.i((0, 0))).unwrap()
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
        let outputs = Tensor::from_slice(&f[..c]).view([1, 1, c as i64]);
        let root = likelihood.curvature_root(&outputs).unwrap().i((0, 0));
        let product = root.matmul(&root.tr()) * likelihood.curvature_weight();
        for i in 0..c {
            for j in 0..c {
                let found = product.double_value(&[i as i64, j as i64]);
                assert_relative_eq!(
                    found,
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
            let outputs = Tensor::from_slice(&f).view([1, 1, 2]);
            let found = head.noise_variance(&outputs).unwrap().double_value(&[0, 0]);
            assert_relative_eq!(found, expected, max_relative = 1e-14);
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
    // In single precision, in which networks of images are evaluated.
    let outputs = Tensor::from_slice(&[0.0f32, -200.0, 0.0, -9.3, 0.0, 200.0]).view([1, 3, 2]);
    let terms = likelihood
        .loss(&outputs, &Tensor::from_slice(&[1.0f32; 3]))
        .unwrap();
    let roots = likelihood.curvature_root(&outputs).unwrap();
    for numbers in [&terms.negative_log_likelihood, &terms.ascent, &roots] {
        assert!(
            bool::try_from(numbers.isfinite().all()).unwrap(),
            "{numbers}"
        );
    }
}

#[test]
fn without_a_floor_the_output_is_the_log_variance_to_the_last_bit() {
    let Likelihood::Heteroscedastic(head) = heteroscedastic(0.0, 4.0) else {
        unreachable!()
    };
    let likelihood = Likelihood::Heteroscedastic(head);
    for [mean, s] in OUTPUTS {
        let outputs = Tensor::from_slice(&[mean, s]).view([1, 1, 2]);
        let precision = (-Tensor::from_slice(&[s])).exp().double_value(&[0]);
        let residual = 0.9 - mean;
        assert_eq!(
            ascent(&likelihood, &[mean, s], 0.9),
            [
                residual * precision,
                residual * residual * precision * 0.5 - 0.5
            ]
        );
        let root = likelihood.curvature_root(&outputs).unwrap();
        assert_eq!(root.double_value(&[0, 0, 1, 1]), 0.5f64.sqrt());
        assert_eq!(
            head.noise_variance(&outputs).unwrap().double_value(&[0, 0]),
            Tensor::from_slice(&[s]).exp().double_value(&[0])
        );
    }
}

#[test]
fn the_floor_adds_to_the_noise() {
    let likelihood = HeteroscedasticGaussian::default();
    let log_variances = [-30.0f64, -9.5, -9.0, 1.0];
    let outputs = Tensor::zeros([1, 4, 2], (tch::Kind::Double, tch::Device::Cpu));
    outputs
        .i((0, .., 1))
        .copy_(&Tensor::from_slice(&log_variances));
    let floored = likelihood.with_floor(0.01).unwrap();
    let found: Vec<f64> = Vec::try_from(floored.noise_variance(&outputs).unwrap().i(0)).unwrap();
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
        let c = likelihood.outputs() as i64;
        let outputs = Tensor::from_slice(&[0.4, -0.9, 1.3, -3.0][..2 * c as usize]).view([1, 2, c]);
        let mut rng = rand::rngs::ChaCha12Rng::seed_from_u64(4);
        let drawn = likelihood
            .sampled_curvature_root(&outputs, 200_000, &mut rng)
            .unwrap();
        assert_eq!(drawn.size(), [1, 2, c, 200_000]);
        let exact = likelihood.curvature_root(&outputs).unwrap();
        let product = |root: &Tensor| root.matmul(&root.transpose(2, 3));
        let (found, expected) = (product(&drawn), product(&exact));
        for (row, i, j) in (0..2 * c * c).map(|k| (k / c / c, k / c % c, k % c)) {
            let at = |product: &Tensor, i, j| product.double_value(&[0, row, i, j]);
            let scale = (at(&expected, i, i) * at(&expected, j, j)).sqrt();
            let error = (at(&found, i, j) - at(&expected, i, j)).abs();
            assert!(error < 0.04 * scale, "{likelihood:?}: {error} of {scale}");
        }
    }
}
