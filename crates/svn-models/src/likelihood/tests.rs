//! Likelihood terms against finite differences and numeric expectations.

use super::{Gaussian, HeteroscedasticGaussian, Likelihood};
use approx::assert_relative_eq;
use rand::SeedableRng;
use tch::{IndexOp, Tensor};

fn cases() -> [Likelihood; 2] {
    [
        Likelihood::Gaussian(Gaussian::new(0.37).unwrap()),
        Likelihood::Heteroscedastic(HeteroscedasticGaussian::new(-3.0, 2.0).unwrap()),
    ]
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
        for f in [[0.3, -0.8], [-1.1, 0.4], [2.0, 1.9]] {
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
    for likelihood in cases() {
        let f: [f64; 2] = [0.4, -0.9];
        let c = likelihood.outputs();
        let variance = match likelihood {
            Likelihood::Gaussian(g) => g.noise_variance(),
            _ => f[1].exp(),
        };
        let sd = variance.sqrt();
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

#[test]
fn the_density_integrates_to_one() {
    for likelihood in cases() {
        let f: [f64; 2] = [0.4, -0.9];
        let step = 0.005;
        let total: f64 = (-4000..=4000)
            .map(|k| (-nll(&likelihood, &f[..likelihood.outputs()], k as f64 * step)).exp() * step)
            .sum();
        assert_relative_eq!(total, 1.0, max_relative = 1e-9);
    }
}

#[test]
fn a_log_variance_outside_its_range_neither_pulls_nor_curves() {
    let likelihood = cases()[1];
    let f = [0.0, -5.0];
    assert_eq!(ascent(&likelihood, &f, 1.0)[1], 0.0);
    let root = likelihood
        .curvature_root(&Tensor::from_slice(&f).view([1, 1, 2]))
        .unwrap();
    assert_eq!(root.double_value(&[0, 0, 1, 1]), 0.0);
    assert_relative_eq!(
        root.double_value(&[0, 0, 0, 0]),
        1.5f64.exp(),
        max_relative = 1e-14
    );
}

#[test]
fn noise_is_never_below_its_floor() {
    let likelihood = HeteroscedasticGaussian::default();
    let log_variances = [-30.0f64, -9.5, -9.0, 1.0];
    let outputs = Tensor::zeros([1, 4, 2], (tch::Kind::Double, tch::Device::Cpu));
    outputs
        .i((0, .., 1))
        .copy_(&Tensor::from_slice(&log_variances));
    let floored = likelihood.with_floor(0.01).unwrap();
    let found: Vec<f64> = Vec::try_from(floored.noise_variance(&outputs).unwrap().i(0)).unwrap();
    for (found, log_variance) in found.into_iter().zip(log_variances) {
        assert_relative_eq!(found, log_variance.exp().max(1e-4), max_relative = 1e-12);
    }
    for floor in [0.0, -1.0, 7.5, f64::NAN] {
        let message = likelihood.with_floor(floor).unwrap_err().to_string();
        assert!(
            message.contains("noise floor") && message.contains("below 7.4"),
            "{message}"
        );
    }
}

#[test]
fn noise_must_be_positive() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = Gaussian::new(bad).unwrap_err().to_string();
        assert!(message.starts_with("noise variance is"), "{message}");
    }
}

/// 200 000 draws: entries of `R Rᵀ` are means of products whose standard deviation is about 1.4 (Gaussian) to 3.5 times
/// their size (fourth powers of a normal), so that 4 % is more than five standard errors.
#[test]
fn a_sampled_root_has_the_curvature_as_its_expectation() {
    for likelihood in cases() {
        let c = likelihood.outputs() as i64;
        let outputs = Tensor::from_slice(&[0.4, -0.9, 1.3, -7.0][..2 * c as usize]).view([1, 2, c]);
        let mut rng = rand::rngs::ChaCha12Rng::seed_from_u64(4);
        let drawn = likelihood
            .sampled_curvature_root(&outputs, 200_000, &mut rng)
            .unwrap();
        assert_eq!(drawn.size(), [1, 2, c, 200_000]);
        let exact = likelihood.curvature_root(&outputs).unwrap();
        let product = |root: &Tensor| root.matmul(&root.transpose(2, 3));
        let (found, expected) = (product(&drawn), product(&exact));
        let scale = expected.abs().max().double_value(&[]);
        let error = (found - expected).abs().max().double_value(&[]);
        assert!(error < 0.04 * scale, "{likelihood:?}: {error} of {scale}");
    }
}
