//! Plain Rust against libtorch, on the whole way from rows to trained weights.

use ndarray::{Array1, Array2};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_models::curvature::Activation;
use svn_models::fit::{FitSettings, LikelihoodKind, Start, fit};
use svn_models::likelihood::{Gaussian, HeteroscedasticGaussian, Likelihood, StudentT};
use svn_models::network::{MlpSettings, NetworkSettings, initial_particles, last_layer};
use svn_models::posterior::{
    CurvatureFamily, CurvaturePart, CurvatureSettings, Posterior, PosteriorSettings,
};
use svn_models::stein::{
    Coupling, Curved, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Score,
};
use svn_models::{Backend, BackendKind, Precision, Rows};

const PARTICLES: usize = 3;
const ROWS: usize = 24;

const ACTIVATIONS: [Activation; 4] = [
    Activation::Relu,
    Activation::Tanh,
    Activation::Sigmoid,
    Activation::Gelu,
];

const FAMILIES: [CurvatureFamily; 4] = [
    CurvatureFamily::Full,
    CurvatureFamily::Diag,
    CurvatureFamily::Kfac,
    CurvatureFamily::Ekfac,
];

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

/// Rows whose targets are labels of `classes`, or numbers.
fn rows(classes: Option<usize>) -> Rows {
    let targets = normal(ROWS, 1, 2).column(0).mapv(|y| match classes {
        Some(classes) => (y.abs() * 2.0).floor().min(classes as f64 - 1.0),
        None => y,
    });
    Rows::new(normal(ROWS, 2, 1), targets).unwrap()
}

fn likelihoods() -> [(Likelihood, Rows); 5] {
    let gaussian = Likelihood::Gaussian(Gaussian::new(0.3).unwrap());
    let heteroscedastic = Likelihood::Heteroscedastic(HeteroscedasticGaussian::default());
    [
        (gaussian, rows(None)),
        (heteroscedastic, rows(None)),
        (
            Likelihood::StudentT(StudentT::new(4.0).unwrap()),
            rows(None),
        ),
        (Likelihood::Bernoulli, rows(Some(2))),
        (Likelihood::Softmax { classes: 3 }, rows(Some(3))),
    ]
}

/// `‖a − b‖_max / ‖b‖_max`.
fn difference(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let largest = |x: &Array2<f64>| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    largest(&(a - b)) / largest(b)
}

/// Log density, score, and curvature times some vectors, of two batches.
fn evaluated(
    kind: BackendKind,
    activation: Activation,
    (likelihood, rows): &(Likelihood, Rows),
    curvature: CurvatureSettings,
) -> [Array2<f64>; 3] {
    let network = MlpSettings {
        inputs: 2,
        hidden: vec![5, 4],
        outputs: likelihood.outputs(),
        activation,
    };
    let network = network.build().unwrap();
    let particles = initial_particles(&network, PARTICLES, 5);
    let settings = PosteriorSettings {
        batch_size: 9,
        prior_precision: 0.7,
        curvature,
        learn_noise: false,
        seed: 3,
        backend: Backend {
            kind,
            ..Backend::default()
        },
    };
    let mut target = Posterior::new(network, *likelihood, rows, settings).unwrap();
    let mut density = Array1::zeros(PARTICLES);
    let mut score = Array2::zeros(particles.raw_dim());
    let d = particles.ncols();
    let vectors = normal(4, d, 7);
    let mut products = Array2::zeros((PARTICLES * 4, d));
    for _ in 0..2 {
        target.next_batch().unwrap();
        let view = (density.view_mut(), score.view_mut());
        let found = target.curvature_into(particles.view(), view.0, view.1);
        let found = found.unwrap();
        for (p, out) in products
            .axis_chunks_iter_mut(ndarray::Axis(0), 4)
            .enumerate()
        {
            found.multiply_into(p, 0.0, vectors.view(), out);
        }
    }
    [density.insert_axis(ndarray::Axis(1)), score, products]
}

#[test]
fn posteriors_agree_for_every_likelihood_activation_and_family() {
    for problem in &likelihoods() {
        for activation in ACTIVATIONS {
            for family in FAMILIES {
                let curvature = CurvatureSettings {
                    family,
                    ring: 2,
                    ..CurvatureSettings::default()
                };
                let [native, torch] = [BackendKind::Native, BackendKind::Torch]
                    .map(|kind| evaluated(kind, activation, problem, curvature));
                for (what, (native, torch)) in ["density", "score", "curvature"]
                    .iter()
                    .zip(native.iter().zip(&torch))
                {
                    let found = difference(native, torch);
                    assert!(
                        found <= 1e-12,
                        "{what}, {:?}, {activation:?}, {family:?}: {found:e}",
                        problem.0
                    );
                }
            }
        }
    }
}

fn methods(network: &NetworkSettings) -> Vec<(&'static str, Method)> {
    let step = FirstOrder::adam(0.03);
    let newton = |coupling, metric| Newton {
        coupling,
        kernel: KernelSettings {
            metric,
            ..KernelSettings::default()
        },
        damping: Damping::Constant(10.0),
        trust_region: Some(2.0),
        ..Newton::plain()
    };
    let coordinates = last_layer(&network.build(2, 1).unwrap());
    vec![
        ("ensemble", Method::Ensemble { step }),
        (
            "svgd",
            Method::Svgd {
                kernel: KernelSettings::default(),
                step,
            },
        ),
        (
            "svn",
            Method::Svn(newton(Coupling::Gram, Metric::Curvature)),
        ),
        (
            "block-diagonal",
            Method::Svn(newton(Coupling::BlockDiagonal, Metric::Curvature)),
        ),
        (
            "ll-svn",
            Method::LlSvn {
                newton: newton(Coupling::Gram, Metric::Identity),
                coordinates,
                rest: step,
            },
        ),
    ]
}

/// Ten steps, over which rounding has not grown: 1e-9 of the weights in f64, 1e-3 in f32.
#[test]
fn short_trainings_end_at_the_same_weights() {
    let network = NetworkSettings::Mlp {
        hidden: vec![6, 5],
        activation: Activation::Tanh,
    };
    for (precision, tolerance) in [(Precision::Double, 1e-9), (Precision::Single, 1e-3)] {
        for (name, method) in methods(&network) {
            let part = match method {
                Method::LlSvn { .. } => CurvaturePart::LastLayer,
                _ => CurvaturePart::WholeNetwork,
            };
            let [native, torch] = [BackendKind::Native, BackendKind::Torch].map(|backend| {
                let settings = FitSettings {
                    prior_precision: 0.5,
                    particles: PARTICLES,
                    epochs: 5,
                    batch_size: ROWS / 2,
                    curvature: CurvatureSettings {
                        ring: 2,
                        part,
                        ..CurvatureSettings::default()
                    },
                    precision: Some(precision),
                    backend,
                    seed: 4,
                    ..FitSettings::new(method.clone(), network.clone(), LikelihoodKind::Gaussian)
                };
                let fit = fit(&settings, &rows(None), &rows(None), Start::Seed, &mut ()).unwrap();
                fit.ensemble.particles().to_owned()
            });
            let found = difference(&native, &torch);
            assert!(found <= tolerance, "{name}, {precision:?}: {found:e}");
        }
    }
}
