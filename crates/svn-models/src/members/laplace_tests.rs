//! Laplace variances against Jacobians by finite differences and an explicit inverse.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, Array3, ArrayView1, Axis, array};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_curvature::Activation;
use svn_curvature::Backend;

use super::*;
use crate::Likelihood;
use crate::likelihood::{Gaussian, HeteroscedasticGaussian, StudentT, VarianceLink};
use crate::network::{MlpSettings, initial_particles};

pub(in crate::members) fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

/// Likelihoods with Laplace variances.
pub(in crate::members) fn heads() -> [Likelihood; 5] {
    [
        Likelihood::Gaussian(Gaussian::new(0.2).unwrap()),
        Likelihood::Heteroscedastic(HeteroscedasticGaussian::new(0.0, 4.0).unwrap()),
        Likelihood::StudentT(
            StudentT::new(5.0)
                .unwrap()
                .with_scale(VarianceLink::new(0.0, 4.0).unwrap()),
        ),
        Likelihood::Bernoulli,
        Likelihood::Softmax { classes: 3 },
    ]
}

/// Two members with 3 → 4 → c units: d = 21 for c = 1, 26 for c = 2.
pub(in crate::members) fn ensemble(likelihood: Likelihood) -> Members {
    let network = MlpSettings {
        inputs: 3,
        hidden: vec![4],
        outputs: likelihood.outputs(),
        activation: Activation::Tanh,
    }
    .build()
    .unwrap();
    let particles = initial_particles(&network, 2, 5);
    Members::new(network, likelihood, particles, Backend::default()).unwrap()
}

/// Outputs `(μ, s)` or `(μ)` by the formula of the network, written out.
pub(in crate::members) fn outputs(
    weights: ArrayView1<'_, f64>,
    x: ArrayView1<'_, f64>,
    count: usize,
) -> Vec<f64> {
    let hidden: Vec<f64> = (0..4)
        .map(|unit| {
            let sum: f64 = (0..3).map(|i| weights[3 * unit + i] * x[i]).sum();
            (sum + weights[12 + unit]).tanh()
        })
        .collect();
    (0..count)
        .map(|o| {
            let sum: f64 = (0..4).map(|h| weights[16 + 4 * o + h] * hidden[h]).sum();
            sum + weights[16 + 4 * count + o]
        })
        .collect()
}

/// `c × d` by central differences.
fn jacobian(weights: ArrayView1<'_, f64>, x: ArrayView1<'_, f64>, count: usize) -> Array2<f64> {
    let step = 1e-5;
    let mut jacobian = Array2::zeros((count, weights.len()));
    for k in 0..weights.len() {
        let moved = |by: f64| {
            let mut weights = weights.to_owned();
            weights[k] += by;
            outputs(weights.view(), x, count)
        };
        let (up, down) = (moved(step), moved(-step));
        for o in 0..count {
            jacobian[[o, k]] = (up[o] - down[o]) / (2.0 * step);
        }
    }
    jacobian
}

/// Gauss elimination with the identity beside the matrix.
pub(in crate::members) fn inverse(matrix: &Array2<f64>) -> Array2<f64> {
    let n = matrix.nrows();
    let (mut a, mut b) = (matrix.clone(), Array2::<f64>::eye(n));
    for k in 0..n {
        let pivot = a[[k, k]];
        a.row_mut(k).mapv_inplace(|v| v / pivot);
        b.row_mut(k).mapv_inplace(|v| v / pivot);
        for i in (0..n).filter(|i| *i != k) {
            let factor = a[[i, k]];
            for j in 0..n {
                a[[i, j]] -= factor * a[[k, j]];
                b[[i, j]] -= factor * b[[k, j]];
            }
        }
    }
    b
}

/// Fisher information of the outputs: 1/σ² of a mean μ, diag(e^(−s), ½) of (μ, s), π (1 − π) of a logit and
/// diag(π) − π πᵀ of several.
fn information(likelihood: Likelihood, outputs: &[f64]) -> Array2<f64> {
    match likelihood {
        Likelihood::Gaussian(gaussian) => array![[1.0 / gaussian.noise_variance()]],
        Likelihood::Heteroscedastic(_) => array![[(-outputs[1]).exp(), 0.0], [0.0, 0.5]],
        Likelihood::StudentT(head) => {
            let nu = head.degrees();
            let location = (nu + 1.0) / ((nu + 3.0) * outputs[1].exp());
            array![[location, 0.0], [0.0, nu / (2.0 * (nu + 3.0))]]
        }
        Likelihood::Bernoulli => {
            let p = 1.0 / (1.0 + (-outputs[0]).exp());
            array![[p * (1.0 - p)]]
        }
        _ => {
            let total: f64 = outputs.iter().map(|f| f.exp()).sum();
            let p: Array1<f64> = outputs.iter().map(|f| f.exp() / total).collect();
            let column = p.view().insert_axis(Axis(1));
            Array2::from_diag(&p) - column.dot(&column.t())
        }
    }
}

/// `H_p` by the explicit sum.
pub(in crate::members) fn hessian(
    ensemble: &Members,
    training: &Array2<f64>,
    precision: f64,
    member: usize,
) -> Array2<f64> {
    let count = ensemble.likelihood.outputs();
    let weights = ensemble.particles.row(member);
    let mut hessian = Array2::<f64>::eye(weights.len()) * precision;
    for x in training.rows() {
        let j = jacobian(weights, x, count);
        let information = information(ensemble.likelihood, &outputs(weights, x, count));
        hessian = hessian + j.t().dot(&information).dot(&j);
    }
    hessian
}

fn reference(
    ensemble: &Members,
    training: &Array2<f64>,
    precision: f64,
    at: &Array2<f64>,
    variances_of: usize,
) -> Array3<f64> {
    let count = ensemble.likelihood.outputs();
    Array3::from_shape_fn((2, at.nrows(), variances_of), |(member, row, output)| {
        let weights = ensemble.particles.row(member);
        let hessian = hessian(ensemble, training, precision, member);
        let j = jacobian(weights, at.row(row), count).row(output).to_owned();
        j.dot(&inverse(&hessian).dot(&j))
    })
}

#[test]
fn both_routes_are_the_quadratic_form_of_the_explicit_inverse() {
    for likelihood in heads() {
        let ensemble = ensemble(likelihood);
        let variances_of = match likelihood {
            Likelihood::Softmax { classes } => classes,
            _ => 1,
        };
        let at = normal(6, 3, 9);
        // 5 rows give fewer curvature rows than parameters, 40 more.
        for rows in [5, 40] {
            let training = normal(rows, 3, 7);
            let found = ensemble
                .laplace(training.view())
                .unwrap()
                .variances(&ensemble, 0.7, &[at.view(), training.view()])
                .unwrap();
            for (found, at) in found.iter().zip([&at, &training]) {
                let expected = reference(&ensemble, &training, 0.7, at, variances_of);
                assert_eq!(found.dim(), expected.dim());
                for (a, b) in found.iter().zip(&expected) {
                    // Differences of step 1e-5 are good to about 1e-10; the condition is below 1e3.
                    assert_relative_eq!(a, b, max_relative = 1e-6);
                }
            }
        }
    }
}

#[test]
fn directions_that_the_data_determine_are_those_of_the_explicit_trace() {
    for likelihood in [
        Likelihood::Gaussian(Gaussian::new(0.2).unwrap()),
        Likelihood::Heteroscedastic(HeteroscedasticGaussian::new(0.0, 4.0).unwrap()),
    ] {
        let ensemble = ensemble(likelihood);
        for rows in [5, 40] {
            let training = normal(rows, 3, 7);
            let laplace = ensemble.laplace(training.view()).unwrap();
            let found = laplace.effective_dimension(0.7).unwrap();
            let of = |member| {
                let hessian = hessian(&ensemble, &training, 0.7, member);
                hessian.nrows() as f64 - 0.7 * inverse(&hessian).diag().sum()
            };
            assert_relative_eq!(found, (of(0) + of(1)) / 2.0, max_relative = 1e-6);
            let most = (rows * likelihood.outputs()).min(ensemble.particles.ncols());
            assert!(found < most as f64);
            assert!(laplace.effective_dimension(0.0).is_err());
        }
    }
}

/// The features of the last layer are the units below it, held as they are.
#[test]
fn networks_too_large_have_the_variance_of_their_last_layer() {
    // As a matrix of the layer's parameters, and as fewer rows than those.
    for (likelihood, rows) in heads().into_iter().flat_map(|head| [(head, 40), (head, 2)]) {
        let ensemble = ensemble(likelihood);
        let count = likelihood.outputs();
        let variances_of = if likelihood.classes().is_some() {
            count
        } else {
            1
        };
        let at = normal(6, 3, 9);
        let training = normal(rows, 3, 7);
        // Rows of the whole network would take more than the square of the largest side.
        let largest = if rows == 2 { 4 } else { 5 * count };
        let laplace = ensemble.laplace_within(training.view(), largest).unwrap();
        assert_eq!(laplace.members[0].dim(), 5 * count, "{likelihood:?} {rows}");
        let found = laplace.variances(&ensemble, 0.7, &[at.view()]).unwrap();
        let last = |weights: ArrayView1<'_, f64>, x| {
            let jacobian = jacobian(weights, x, count);
            jacobian.slice(s![.., 16..]).to_owned()
        };
        for member in 0..2 {
            let weights = ensemble.particles.row(member);
            let mut hessian = Array2::<f64>::eye(5 * count) * 0.7;
            for x in training.rows() {
                let j = last(weights, x);
                let information = information(likelihood, &outputs(weights, x, count));
                hessian = hessian + j.t().dot(&information).dot(&j);
            }
            let inverse = inverse(&hessian);
            for (row, x) in at.rows().into_iter().enumerate() {
                for output in 0..variances_of {
                    let j = last(weights, x).row(output).to_owned();
                    let expected = j.dot(&inverse.dot(&j));
                    let found = found[0][(member, row, output)];
                    assert_relative_eq!(found, expected, max_relative = 1e-6);
                }
            }
        }
    }
}

/// As a file might hold that is not of these members.
#[test]
fn a_curvature_of_other_parameters_is_refused() {
    let ensemble = ensemble(Likelihood::Gaussian(Gaussian::new(0.2).unwrap()));
    let other = || MemberCurvature::Dense(Array2::eye(7));
    let laplace = Laplace::of(vec![other(), other()]);
    let at = normal(1, 3, 9);
    let error = laplace.variances(&ensemble, 1.0, &[at.view()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameters of a Laplace approximation has shape [7]; expected [21]"
    );
}

#[test]
fn chunks_do_not_matter() {
    let ensemble = ensemble(Likelihood::Gaussian(Gaussian::new(0.2).unwrap()));
    let (training, at) = (normal(2 * CHUNK + 3, 3, 1), normal(CHUNK + 5, 3, 2));
    let whole = ensemble
        .laplace(training.view())
        .unwrap()
        .variances(&ensemble, 1.0, &[at.view()])
        .unwrap();
    let last = at.slice(s![CHUNK + 1.., ..]);
    let part = ensemble
        .laplace(training.view())
        .unwrap()
        .variances(&ensemble, 1.0, &[last])
        .unwrap();
    for (a, b) in whole[0].slice(s![.., CHUNK + 1.., ..]).iter().zip(&part[0]) {
        assert_relative_eq!(a, b, max_relative = 1e-10);
    }
}

#[test]
fn data_of_no_weight_leave_the_priors_variance_and_more_data_lower_it() {
    let at = normal(4, 3, 3);
    let variances = |noise: f64, rows: usize| {
        let ensemble = ensemble(Likelihood::Gaussian(Gaussian::new(noise).unwrap()));
        let training = normal(rows, 3, 4);
        let mut found = ensemble
            .laplace(training.view())
            .unwrap()
            .variances(&ensemble, 2.0, &[at.view()])
            .unwrap();
        (ensemble, found.remove(0))
    };
    // Information of 1e-12 a row moves the variance by about 1e-11 of itself.
    let (ensemble, prior) = variances(1e12, 3);
    let (some, many) = (variances(0.2, 3).1, variances(0.2, 300).1);
    for ((member, row, _), variance) in prior.indexed_iter() {
        let j = jacobian(ensemble.particles.row(member), at.row(row), 1);
        let squares: f64 = j.iter().map(|v| v * v).sum();
        assert_relative_eq!(*variance, squares / 2.0, max_relative = 1e-7);
        assert!(some[[member, row, 0]] < *variance);
        assert!(many[[member, row, 0]] < some[[member, row, 0]]);
    }
}

#[test]
fn what_cannot_be_computed_is_said() {
    let ensemble = ensemble(Likelihood::Gaussian(Gaussian::new(0.2).unwrap()));
    let at = array![[0.0, 0.0, 0.0]];
    let message = |training: Array2<f64>, precision| {
        ensemble
            .laplace(training.view())
            .and_then(|laplace| laplace.variances(&ensemble, precision, &[at.view()]))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(normal(3, 3, 0), 0.0),
        "prior precision is 0; expected a positive number"
    );
    assert_eq!(
        message(normal(3, 2, 0), 1.0),
        "features of Laplace variances has shape [3, 2]; expected [3, 3]"
    );
    let error = ensemble
        .laplace_within(normal(6, 3, 0).view(), 4)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "number of parameters for Laplace variances is 5; expected at most 4 of the last layer, or fewer curvature rows (found 6); \
         take a smaller network"
    );
}
