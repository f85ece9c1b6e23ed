//! Evidences against determinants of explicit matrices, and where they are exact against the density of the targets.

use std::f64::consts::PI;

use approx::assert_relative_eq;
use ndarray::{Array1, Array2};
use svn_curvature::{Activation, Backend};

use super::super::laplace::tests::{ensemble, heads, hessian, inverse, normal, outputs};
use super::*;
use crate::network::MlpSettings;

/// Elimination without pivots: the matrices are positive definite.
fn log_det(matrix: &Array2<f64>) -> f64 {
    let mut a = matrix.clone();
    let mut sum = 0.0;
    for k in 0..a.nrows() {
        sum += a[[k, k]].ln();
        for i in k + 1..a.nrows() {
            let factor = a[[i, k]] / a[[k, k]];
            for j in k..a.nrows() {
                a[[i, j]] -= factor * a[[k, j]];
            }
        }
    }
    sum
}

/// `ln p(y | f)` written out; the Student t is that of 5 degrees.
fn log_density(likelihood: Likelihood, f: &[f64], y: f64) -> f64 {
    match likelihood {
        Likelihood::Gaussian(noise) => {
            let variance = noise.noise_variance();
            -0.5 * ((y - f[0]).powi(2) / variance + (2.0 * PI * variance).ln())
        }
        Likelihood::Heteroscedastic(_) => {
            -0.5 * ((y - f[0]).powi(2) * (-f[1]).exp() + (2.0 * PI).ln() + f[1])
        }
        Likelihood::StudentT(_) => {
            // Γ(3) = 2, Γ(5/2) = 3 √π / 4
            let constant = 2.0 / (0.75 * PI.sqrt() * (5.0 * PI).sqrt());
            let square = (y - f[0]).powi(2) * (-f[1]).exp();
            constant.ln() - 0.5 * f[1] - 3.0 * (1.0 + square / 5.0).ln()
        }
        Likelihood::Bernoulli => y * f[0] - (1.0 + f[0].exp()).ln(),
        _ => f[y as usize] - f.iter().map(|f| f.exp()).sum::<f64>().ln(),
    }
}

#[test]
fn it_is_that_of_the_explicit_determinant_at_each_member() {
    for likelihood in heads() {
        let members = ensemble(likelihood);
        // 5 rows give fewer curvature rows than parameters, 40 more.
        for rows in [5, 40] {
            let x = normal(rows, 3, 7);
            let classes = likelihood.classes().unwrap_or(7);
            let y = Array1::from_shape_fn(rows, |i| ((i * i) % classes) as f64);
            let (count, precision) = (likelihood.outputs(), 0.7_f64);
            let of = |member: usize| {
                let weights = members.particles.row(member);
                let fit = x.rows().into_iter().zip(&y);
                let fit =
                    fit.map(|(x, &y)| log_density(likelihood, &outputs(weights, x, count), y));
                let squares: f64 = weights.iter().map(|w| w * w).sum();
                let dim = weights.len() as f64;
                let log_det = log_det(&hessian(&members, &x, precision, member));
                fit.sum::<f64>() - 0.5 * precision * squares + 0.5 * dim * precision.ln()
                    - 0.5 * log_det
            };
            let laplace = members.laplace(x.view()).unwrap();
            let training = Rows::new(x.clone(), y.clone()).unwrap();
            let found = laplace.log_evidence(&members, precision, &training);
            let expected = (of(0) + of(1)) / 2.0;
            // Differences of step 1e-5 are good to about 1e-10, the determinants to about 1e-7.
            assert_relative_eq!(found.unwrap(), expected, max_relative = 1e-6);
        }
    }
}

/// A linear network at the maximum of its posterior, its features being `x` and 1.
fn line(x: &Array2<f64>, y: &Array1<f64>, precision: f64, noise: f64) -> Members {
    let phi = ndarray::concatenate![ndarray::Axis(1), x.view(), Array2::ones((x.nrows(), 1))];
    let hessian = phi.t().dot(&phi) / noise + Array2::<f64>::eye(phi.ncols()) * precision;
    let factor = svn_linalg::Cholesky::factorize(hessian.view(), &Default::default()).unwrap();
    let right = phi.t().dot(y) / noise;
    let right = right.insert_axis(ndarray::Axis(1));
    let weights = svn_linalg::Factor::solve(&factor, right.view()).unwrap();
    let network = MlpSettings {
        inputs: x.ncols(),
        hidden: Vec::new(),
        outputs: 1,
        activation: Activation::Tanh,
    };
    let likelihood = Likelihood::Gaussian(Gaussian::new(noise).unwrap());
    let particles = weights.t().to_owned();
    Members::new(
        network.build().unwrap(),
        likelihood,
        particles,
        Backend::default(),
    )
    .unwrap()
}

#[test]
fn of_a_linear_model_it_is_the_density_of_the_targets() {
    for (rows, columns) in [(4, 6), (30, 3)] {
        let x = normal(rows, columns, 1);
        let y = normal(rows, 1, 2).column(0).to_owned();
        for (precision, noise) in [(0.3, 0.5), (20.0, 0.05)] {
            let members = line(&x, &y, precision, noise);
            let laplace = members.laplace(x.view()).unwrap();
            let training = Rows::new(x.clone(), y.clone()).unwrap();
            let found = laplace
                .log_evidence(&members, precision, &training)
                .unwrap();
            // ln N(y; 0, Φ Φᵀ/δ + σ² I)
            let covariance = Array2::from_shape_fn((rows, rows), |(i, j)| {
                let same = x.row(i).dot(&x.row(j)) + 1.0;
                same / precision + if i == j { noise } else { 0.0 }
            });
            let quadratic = y.dot(&inverse(&covariance).dot(&y));
            let constant = rows as f64 * (2.0 * PI).ln();
            let expected = -0.5 * (quadratic + log_det(&covariance) + constant);
            assert_relative_eq!(found, expected, max_relative = 1e-9);
        }
    }
}

#[test]
fn a_common_noise_leaves_out_the_directions_that_were_fitted() {
    let x = normal(30, 8, 1);
    let y = x.column(0).to_owned() + normal(30, 1, 2).column(0);
    let training = Rows::new(x.clone(), y.clone()).unwrap();
    let precision = 0.3;
    // Whatever noise it begins with.
    for noise in [0.1, 3.0] {
        let members = line(&x, &y, precision, 0.5);
        let likelihood = Likelihood::Gaussian(Gaussian::new(noise).unwrap());
        let members = Members {
            likelihood,
            ..members
        };
        let (members, log) = members.with_evidence(precision, &training).unwrap();
        let Likelihood::Gaussian(found) = members.likelihood else {
            panic!("a common noise")
        };
        let laplace = members.laplace(x.view()).unwrap();
        let parameters = laplace.effective_dimension(precision).unwrap();
        assert!((7.0..9.0).contains(&parameters), "{parameters}");
        let residuals = members.predict(x.view()).unwrap().mean() - &y;
        let expected = residuals.dot(&residuals) / (30.0 - parameters);
        assert_relative_eq!(found.noise_variance(), expected, max_relative = 0.01);
        let again = laplace.log_evidence(&members, precision, &training);
        assert_eq!(log, again.unwrap());
    }
}

#[test]
fn what_has_no_evidence_is_said() {
    let likelihood = Likelihood::Gaussian(Gaussian::new(1.0).unwrap());
    let members = ensemble(likelihood);
    let x = normal(40, 3, 7);
    let training = Rows::new(x.clone(), Array1::zeros(40)).unwrap();
    let message = |laplace: &Laplace, precision| {
        let found = laplace.log_evidence(&members, precision, &training);
        found.unwrap_err().to_string()
    };
    let laplace = members.laplace(x.view()).unwrap();
    assert_eq!(
        message(&laplace, 0.0),
        "prior precision is 0; expected a positive number"
    );
    let last = members.laplace_within(x.view(), 5).unwrap();
    assert_eq!(
        message(&last, 1.0),
        "parameters of an evidence has shape [5]; expected [21]"
    );
    let wide = MlpSettings {
        inputs: 3,
        hidden: vec![2000],
        outputs: 1,
        activation: Activation::Tanh,
    };
    let wide = wide.build().unwrap();
    // 10001 · 2499 is the last below 5000².
    assert!(check_evidence(&wide, likelihood, 2499).is_ok());
    let error = check_evidence(&wide, likelihood, 2500).unwrap_err();
    assert_eq!(
        error.to_string(),
        "number of parameters for the evidence is 10001; expected at most 5000, or fewer curvature rows (found 2500); take a \
         smaller network"
    );
}
