//! The density against finite differences, and against the posterior of the network that is trained.

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_models::Likelihood;
use svn_models::curvature::Activation;
use svn_models::likelihood::HeteroscedasticGaussian;
use svn_models::posterior::{CurvatureSettings, Posterior, PosteriorSettings};
use svn_models::stein::Score;

use super::*;

const INPUTS: usize = 2;
const HIDDEN: [usize; 2] = [4, 3];
const ROWS: usize = 9;
const FLOOR: f64 = 0.1;

fn normals(seed: u64, n: usize) -> Array1<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    Array1::from_shape_simple_fn(n, || StandardNormal.sample(&mut rng))
}

fn features(seed: u64, rows: usize) -> Array2<f64> {
    let values = normals(seed, rows * INPUTS);
    values.into_shape_with_order((rows, INPUTS)).unwrap()
}

fn settings() -> MlpSettings {
    MlpSettings {
        inputs: INPUTS,
        hidden: HIDDEN.to_vec(),
        outputs: 2,
        activation: Activation::Tanh,
    }
}

fn rows() -> Rows {
    Rows::new(features(1, ROWS), normals(2, ROWS)).unwrap()
}

fn marginal() -> Marginal {
    let link = VarianceLink::default().with_floor(FLOOR).unwrap();
    Marginal::new(&rows(), &settings(), link).unwrap()
}

/// Central differences with step 1e-5: truncation 1e-10 f''' and rounding 1e-16 |f| / 1e-5 with |f| up to a few hundred.
#[test]
fn the_gradient_is_the_finite_difference_of_the_density() {
    let (density, h) = (marginal(), 1e-5);
    for seed in 3..6 {
        let position = normals(seed, density.dim());
        let gradient = density.point(position.view()).unwrap().gradient;
        for j in 0..density.dim() {
            let at = |shift: f64| {
                let mut shifted = position.clone();
                shifted[j] += shift;
                density.point(shifted.view()).unwrap().log_density
            };
            let difference = (at(h) - at(-h)) / (2.0 * h);
            let error = (gradient[j] - difference).abs();
            assert!(error < 1e-6 * (1.0 + difference.abs()), "{j}: {error}");
        }
    }
}

/// All weights as the network has them: the output layer row by row, mean before noise, then its biases.
fn joined(density: &Marginal, position: &Array1<f64>, w: &Array1<f64>) -> Array1<f64> {
    let (layers, u) = position.view().split_at(Axis(0), density.hidden());
    let units = density.units;
    let parts = [
        layers.to_vec(),
        w.slice(s![..units]).to_vec(),
        u.slice(s![..units]).to_vec(),
        vec![w[units], u[units]],
    ];
    Array1::from(parts.concat())
}

/// `ln p(y, rest) + ln p(w | rest, y) = ln p(y, rest, w)` for any output of the mean, the right side by the networks that are trained.
#[test]
fn with_the_output_of_the_mean_it_is_the_posterior_of_the_network() {
    let density = marginal();
    let head = HeteroscedasticGaussian::default()
        .with_floor(FLOOR)
        .unwrap();
    let posterior_settings = PosteriorSettings {
        batch_size: ROWS,
        prior_precision: 1.0,
        curvature: CurvatureSettings::default(),
        learn_noise: false,
        seed: 0,
        backend: Backend::native(),
    };
    let mut posterior = Posterior::new(
        settings().build().unwrap(),
        Likelihood::Heteroscedastic(head),
        &rows(),
        posterior_settings,
    )
    .unwrap();
    for seed in 3..6 {
        let position = normals(seed, density.dim());
        let output = density.condition(position.view()).unwrap();
        let z = normals(seed + 10, density.units + 1);
        let w = output.draw(z.clone()).unwrap();
        // |z|² = (w − m)ᵀ A (w − m), and the constants of the prior, which the posterior leaves out.
        let log_det: f64 = 2.0 * output.factor.lower().diag().mapv(f64::ln).sum();
        let conditional = 0.5 * (log_det - z.dot(&z));
        let expected = density.point(position.view()).unwrap().log_density + conditional;
        let weights = joined(&density, &position, &w).insert_axis(Axis(0));
        let (mut found, mut score) = (Array1::zeros(1), Array2::zeros(weights.dim()));
        posterior
            .score_into(weights.view(), found.view_mut(), score.view_mut())
            .unwrap();
        let error = (found[0] - expected).abs();
        assert!(
            error < 1e-9 * (1.0 + expected.abs()),
            "{} {expected}",
            found[0]
        );
    }
}

/// Both outputs at new rows are those of the network with a drawn output of the mean, on average over the draws.
#[test]
fn predictions_are_those_of_the_network() {
    let density = marginal();
    let position = normals(7, density.dim());
    let x = features(8, 2);
    let output = density.condition(position.view()).unwrap();
    let samples = density.samples(x.view()).unwrap();
    let predicted = density
        .predict(samples.as_ref(), position.view(), &output)
        .unwrap();
    let network = settings().build().unwrap();
    let whole = Backend::native().samples(&network, x.view()).unwrap();
    let head = HeteroscedasticGaussian::default()
        .with_floor(FLOOR)
        .unwrap();
    let draws = 4000;
    let mut values = Array2::zeros((draws, 2));
    for (k, mut row) in values.rows_mut().into_iter().enumerate() {
        let w = output
            .draw(normals(100 + k as u64, density.units + 1))
            .unwrap();
        let weights = joined(&density, &position, &w).insert_axis(Axis(0));
        let outputs = whole.forward(&network, weights.view()).unwrap();
        row.assign(&outputs.slice(s![0, .., 0]));
        let noise = head.noise_variance(outputs.view()).unwrap();
        for i in 0..2 {
            let error = (noise[(0, i)] / predicted.noise[i] - 1.0).abs();
            assert!(error < 1e-12, "{error}");
            let drawn = predicted.features.column(i).dot(&w);
            assert!((outputs[(0, i, 0)] - drawn).abs() < 1e-12);
        }
    }
    for i in 0..2 {
        let column = values.column(i);
        let variance = predicted.variance[i];
        let error = (column.mean().unwrap() - predicted.mean[i]).abs();
        assert!(error < 4.0 * (variance / draws as f64).sqrt(), "{error}");
        let ratio = column.var(1.0) / variance;
        assert!(
            (ratio - 1.0).abs() < 4.0 * (2.0 / draws as f64).sqrt(),
            "{ratio}"
        );
    }
}

/// A path that left what numbers can hold is refused, not an error.
#[test]
fn where_numbers_end_the_density_is_zero() {
    let density = marginal();
    let position = Array1::from_elem(density.dim(), f64::INFINITY);
    let point = density.evaluate(position.view()).unwrap();
    assert_eq!(point.log_density, f64::NEG_INFINITY);
    assert!(point.gradient.iter().all(|g| *g == 0.0));
}
