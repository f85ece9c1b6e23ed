//! Score and curvature of the posterior against finite differences of the very energy they belong to.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, ArrayView2, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_models::curvature::Activation;
use svn_models::likelihood::{Gaussian, HeteroscedasticGaussian, Likelihood, StudentT};
use svn_models::network::{MlpSettings, initial_particles};
use svn_models::posterior::{CurvatureSettings, Posterior, PosteriorSettings};
use svn_models::stein::{Curved, Score};
use svn_models::{Backend, Rows};

const PARTICLES: usize = 3;
const ROWS: usize = 12;

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

fn likelihoods() -> Vec<(&'static str, Likelihood)> {
    vec![
        (
            "gaussian",
            Likelihood::Gaussian(Gaussian::new(0.3).unwrap()),
        ),
        (
            "heteroscedastic",
            Likelihood::Heteroscedastic(HeteroscedasticGaussian::default()),
        ),
        (
            "heteroscedastic, mostly floor",
            Likelihood::Heteroscedastic(
                HeteroscedasticGaussian::default().with_floor(2.0).unwrap(),
            ),
        ),
        (
            "student-t",
            Likelihood::StudentT(StudentT::new(4.0).unwrap()),
        ),
    ]
}

fn posterior(likelihood: Likelihood, batch_size: usize, ring: usize) -> (Posterior, Array2<f64>) {
    let network = MlpSettings {
        inputs: 2,
        hidden: vec![4, 3],
        outputs: likelihood.outputs(),
        activation: Activation::Tanh,
    }
    .build()
    .unwrap();
    let particles = initial_particles(&network, PARTICLES, 5);
    let data = Rows::new(normal(ROWS, 2, 1), normal(ROWS, 1, 2).column(0).to_owned()).unwrap();
    let settings = PosteriorSettings {
        batch_size,
        prior_precision: 0.7,
        curvature: CurvatureSettings {
            ring,
            ..CurvatureSettings::default()
        },
        learn_noise: false,
        seed: 3,
        backend: Backend::default(),
    };
    (
        Posterior::new(network, likelihood, &data, settings).unwrap(),
        particles,
    )
}

fn log_density(target: &mut Posterior, particles: ArrayView2<'_, f64>) -> Array1<f64> {
    let mut density = Array1::zeros(particles.nrows());
    let mut score = Array2::zeros(particles.raw_dim());
    target
        .score_into(particles, density.view_mut(), score.view_mut())
        .unwrap();
    density
}

fn scores(target: &mut Posterior, particles: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut density = Array1::zeros(particles.nrows());
    let mut score = Array2::zeros(particles.raw_dim());
    target
        .score_into(particles, density.view_mut(), score.view_mut())
        .unwrap();
    score
}

/// `H_p` written out, from the operator that the target gives.
fn dense_curvature(
    target: &mut Posterior,
    particles: ArrayView2<'_, f64>,
    particle: usize,
) -> Array2<f64> {
    let mut density = Array1::zeros(particles.nrows());
    let mut score = Array2::zeros(particles.raw_dim());
    let curvature = target
        .curvature_into(particles, density.view_mut(), score.view_mut())
        .unwrap();
    curvature.operator(particle).to_dense()
}

/// Central differences with step 1e-5: truncation 1e-10 · f''' and rounding 1e-16 · |f| / 1e-5, so 1e-6 is safe.
#[test]
fn score_is_the_finite_difference_of_the_log_density_on_a_minibatch() {
    for (name, likelihood) in likelihoods() {
        let (mut target, particles) = posterior(likelihood, 5, 1);
        target.next_batch().unwrap();
        let score = scores(&mut target, particles.view());
        let h = 1e-5;
        for j in 0..target.dim() {
            let mut shifted = particles.clone();
            shifted.slice_mut(s![.., j]).mapv_inplace(|v| v + h);
            let above = log_density(&mut target, shifted.view());
            shifted.slice_mut(s![.., j]).mapv_inplace(|v| v - 2.0 * h);
            let below = log_density(&mut target, shifted.view());
            for p in 0..PARTICLES {
                let difference = (above[p] - below[p]) / (2.0 * h);
                assert_relative_eq!(
                    score[[p, j]],
                    difference,
                    epsilon = 1e-6,
                    max_relative = 1e-6
                );
                assert!(score[[p, j]].is_finite(), "{name}");
            }
        }
    }
}

/// Where all residuals are zero the Gauss-Newton matrix is the exact Hessian of the loss.
#[test]
fn curvature_is_the_expected_hessian_by_finite_differences_of_the_score_at_zero_residual() {
    let likelihood = Likelihood::Gaussian(Gaussian::new(0.3).unwrap());
    let network = MlpSettings {
        inputs: 2,
        hidden: vec![4],
        outputs: 1,
        activation: Activation::Tanh,
    }
    .build()
    .unwrap();
    let particles = initial_particles(&network, 1, 9);
    let features = normal(ROWS, 2, 1);
    // Targets that the particle itself predicts: all residuals are zero, so Gauss-Newton is the exact Hessian.
    let ensemble = svn_models::Members::new(
        MlpSettings {
            inputs: 2,
            hidden: vec![4],
            outputs: 1,
            activation: Activation::Tanh,
        }
        .build()
        .unwrap(),
        likelihood,
        particles.clone(),
        Backend::default(),
    )
    .unwrap();
    let targets = ensemble
        .predict(features.view())
        .unwrap()
        .means()
        .to_owned()
        .row(0)
        .to_owned();
    let settings = PosteriorSettings {
        batch_size: ROWS,
        prior_precision: 0.7,
        curvature: CurvatureSettings {
            ring: 1,
            ..CurvatureSettings::default()
        },
        learn_noise: false,
        seed: 3,
        backend: Backend::default(),
    };
    let mut target = Posterior::new(
        network,
        likelihood,
        &Rows::new(features, targets).unwrap(),
        settings,
    )
    .unwrap();
    target.next_batch().unwrap();
    let d = target.dim();
    let dense = dense_curvature(&mut target, particles.view(), 0);
    let h = 1e-5;
    for j in 0..d {
        let mut shifted = particles.clone();
        shifted[[0, j]] += h;
        let above = scores(&mut target, shifted.view());
        shifted[[0, j]] -= 2.0 * h;
        let below = scores(&mut target, shifted.view());
        for i in 0..d {
            let difference = -(above[[0, i]] - below[[0, i]]) / (2.0 * h);
            assert_relative_eq!(
                dense[[i, j]],
                difference,
                epsilon = 1e-6,
                max_relative = 1e-6
            );
        }
    }
}

#[test]
fn the_ring_averages_batches_and_re_evaluation_does_not_count_twice() {
    for (name, likelihood) in likelihoods() {
        let (mut target, particles) = posterior(likelihood, ROWS, 3);
        let dense_of = |target: &mut Posterior| dense_curvature(target, particles.view(), 1);
        target.next_batch().unwrap();
        let first = dense_of(&mut target);
        let again = dense_of(&mut target);
        assert_eq!(first, again, "{name}");
        // Full batches at fixed particles: every slot holds the same sum, so does their mean.
        target.next_batch().unwrap();
        let second = dense_of(&mut target);
        for (a, b) in first.iter().zip(&second) {
            assert_relative_eq!(a, b, epsilon = 1e-9, max_relative = 1e-9);
        }
    }
}

#[test]
fn a_minibatch_is_an_unbiased_view_of_the_whole() {
    let (mut whole, particles) = posterior(likelihoods()[1].1, ROWS, 1);
    let (mut parts, _) = posterior(likelihoods()[1].1, 4, 1);
    whole.next_batch().unwrap();
    let expected = scores(&mut whole, particles.view());
    let mut mean = Array2::<f64>::zeros(expected.raw_dim());
    for _ in 0..3 {
        parts.next_batch().unwrap();
        mean += &(scores(&mut parts, particles.view()) / 3.0);
    }
    for (a, b) in expected.iter().zip(&mean) {
        assert_relative_eq!(a, b, epsilon = 1e-9, max_relative = 1e-9);
    }
}
