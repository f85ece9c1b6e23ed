//! LeNet on images made here: it trains by first-order and Newton methods, in f32 as in f64.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, Axis, s, stack};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt as _, SeedableRng};
use svn_models::curvature::{Activation, Sequential};
use svn_models::fit::{Ending, Fit, FitSettings, LikelihoodKind, Start, fit};
use svn_models::network::{LeNetSettings, NetworkSettings, initial_particles, last_layer};
use svn_models::posterior::{
    CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings, Posterior, PosteriorSettings,
};
use svn_models::stein::{
    Coupling, Curved, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Rate,
};
use svn_models::{Backend, Likelihood, Members, Precision, Rows};

const SIDE: usize = 28;

/// Bars: upright, flat, and along the two diagonals, at random places, under noise.
fn bars(rows: usize, seed: u64) -> Rows {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let targets = Array1::from_shape_fn(rows, |i| (i % 4) as f64);
    let mut images = Array2::zeros((rows, SIDE * SIDE));
    for (mut image, class) in images.rows_mut().into_iter().zip(&targets) {
        let place = rng.random_range(8..20) as i64;
        for i in 0..SIDE as i64 {
            for j in 0..SIDE as i64 {
                let distance = match *class as usize {
                    0 => j - place,
                    1 => i - place,
                    2 => i - j + place - 14,
                    _ => i + j - place - 14,
                };
                let ink = if distance.abs() <= 1 { 1.0 } else { 0.0 };
                image[(i * SIDE as i64 + j) as usize] = ink + rng.random_range(-0.2..0.2);
            }
        }
    }
    Rows::new(images, targets).unwrap()
}

fn newton(metric: Metric) -> Newton {
    Newton {
        kernel: KernelSettings {
            metric,
            ..KernelSettings::default()
        },
        coupling: Coupling::BlockDiagonal,
        rate: Rate::constant(0.3),
        damping: Damping::Constant(10.0),
        trust_region: Some(5.0),
        ..Newton::plain()
    }
}

fn settings(method: Method, activation: Activation, curvature: CurvatureSettings) -> FitSettings {
    FitSettings {
        particles: 2,
        epochs: 2,
        batch_size: 10,
        curvature,
        seed: 1,
        ..FitSettings::new(
            method,
            NetworkSettings::LeNet { activation },
            LikelihoodKind::Softmax(4),
        )
    }
}

/// The methods of the benchmark, block-diagonal SVN with a diagonal and LL-SVN with Kronecker factors.
fn methods(activation: Activation) -> Vec<(&'static str, FitSettings)> {
    let rate = match activation {
        Activation::Relu => 2e-3,
        _ => 5e-3,
    };
    let step = FirstOrder::adam(rate);
    let curvature = |family, part| CurvatureSettings {
        family,
        part,
        root: CurvatureRoot::Sampled(1),
        ring: 10,
        ..CurvatureSettings::default()
    };
    let diag = curvature(CurvatureFamily::Diag, CurvaturePart::WholeNetwork);
    let kfac = curvature(CurvatureFamily::Kfac, CurvaturePart::LastLayer);
    let ensemble = settings(Method::Ensemble { step }, activation, diag);
    let coordinates = last_layer(&ensemble.build_network(SIDE * SIDE).unwrap());
    let kernel = KernelSettings::default();
    vec![
        ("ensemble", ensemble),
        (
            "svgd",
            settings(Method::Svgd { kernel, step }, activation, diag),
        ),
        (
            "svn diag",
            settings(Method::Svn(newton(Metric::Curvature)), activation, diag),
        ),
        (
            "ll-svn kfac",
            settings(
                Method::LlSvn {
                    newton: newton(Metric::Identity),
                    coordinates,
                    rest: step,
                },
                activation,
                kfac,
            ),
        ),
    ]
}

fn train(settings: &FitSettings) -> Fit {
    fit(settings, &bars(600, 1), &bars(100, 2), Start::Seed, &mut ()).unwrap()
}

/// The constant predictor's loss is ln 4 = 1.386 nats, and that is about where all start; 120 steps bring each method
/// to 0.2 or below. Both epochs are scored by the mean probability on images not trained on.
#[test]
fn the_loss_falls_in_two_epochs_by_each_method() {
    for activation in [Activation::Relu, Activation::Sigmoid] {
        for (name, settings) in methods(activation) {
            let fit = train(&settings);
            let validation = bars(100, 2);
            let prediction = fit.ensemble.predict_classes(validation.features()).unwrap();
            let nll = prediction
                .negative_log_likelihood(validation.targets())
                .unwrap();
            assert!(nll < 0.35, "{name} {activation:?}: {nll}");
            assert!(
                matches!(fit.ending, Ending::Completed),
                "{name}: {:?}",
                fit.ending
            );
            let right = prediction
                .most_probable()
                .iter()
                .zip(validation.targets())
                .filter(|(class, target)| **class as f64 == **target)
                .count();
            assert!(right >= 85, "{name} {activation:?}: {right} of 100 right");
        }
    }
}

fn posterior(precision: Precision, curvature: CurvatureSettings) -> Posterior {
    let settings = PosteriorSettings {
        batch_size: 12,
        prior_precision: 1.0,
        curvature,
        learn_noise: false,
        seed: 3,
        backend: Backend {
            precision,
            ..Backend::default()
        },
    };
    let softmax = Likelihood::Softmax { classes: 4 };
    Posterior::new(lenet(), softmax, &bars(40, 1), settings).unwrap()
}

fn lenet() -> Sequential {
    let settings = LeNetSettings {
        outputs: 4,
        activation: Activation::Sigmoid,
    };
    settings.build().unwrap()
}

/// f32 has 6e-8 of rounding; sums of up to 10⁴ terms of mixed signs over six layers keep five digits of the largest.
#[test]
fn single_precision_gives_the_scores_and_diagonals_of_double() {
    let curvature = CurvatureSettings {
        family: CurvatureFamily::Diag,
        ..CurvatureSettings::default()
    };
    let particles = initial_particles(&lenet(), 2, 1);
    let evaluate = |precision| {
        let mut target = posterior(precision, curvature);
        let mut density = Array1::zeros(2);
        let mut score = Array2::zeros(particles.raw_dim());
        let curvature = target
            .curvature_into(particles.view(), density.view_mut(), score.view_mut())
            .unwrap();
        let diagonal = stack![Axis(0), curvature.diagonal(0), curvature.diagonal(1)];
        drop(curvature);
        (density, score, diagonal)
    };
    let (single, double) = (evaluate(Precision::Single), evaluate(Precision::Double));
    assert_relative_eq!(single.0[1], double.0[1], max_relative = 1e-6);
    for (a, b) in [(&single.1, &double.1), (&single.2, &double.2)] {
        let largest = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert_ne!(a, b);
        for (a, b) in a.iter().zip(b) {
            assert_relative_eq!(a, b, epsilon = 1e-5 * largest);
        }
    }
}

/// Images go through in chunks or alone.
#[test]
fn chunks_of_images_do_not_matter() {
    let data = bars(300, 5);
    let particles = initial_particles(&lenet(), 2, 1);
    let softmax = Likelihood::Softmax { classes: 4 };
    let backend = Backend::default();
    let ensemble = Members::new(lenet(), softmax, particles.clone(), backend).unwrap();
    let all = ensemble.predict_classes(data.features()).unwrap();
    for i in [0, 255, 256, 299] {
        let image = data.features().slice_move(s![i..i + 1, ..]);
        let samples = backend.samples(&lenet(), image).unwrap();
        let outputs = samples.forward(&lenet(), particles.view()).unwrap();
        for p in 0..2 {
            for c in 0..4 {
                assert_relative_eq!(
                    all.logits()[[p, i, c]],
                    outputs[[p, 0, c]],
                    max_relative = 1e-12
                );
            }
        }
    }
}

/// Whole-network rows of a LeNet are long: what cannot fit is said before it is allocated.
#[test]
fn rows_that_would_fill_the_memory_are_refused() {
    let particles = initial_particles(&lenet(), 2, 1);
    let mut target = posterior(
        Precision::Single,
        CurvatureSettings {
            ring: 10_000,
            ..CurvatureSettings::default()
        },
    );
    let mut density = Array1::zeros(2);
    let mut score = Array2::zeros(particles.raw_dim());
    let error = target
        .curvature_into(particles.view(), density.view_mut(), score.view_mut())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "curvature family is full, whose 2 particles × 360000 rows × 61196 parameters take 328 GiB; expected diag, kfac or ekfac, \
         a sampled root, the last layer or fewer accumulated batches: rows of at most 8 GiB"
    );
}
