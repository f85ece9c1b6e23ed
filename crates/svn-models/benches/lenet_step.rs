//! What a Newton step on LeNet costs beside an SVGD step: five particles, batches of 128 images, one thread.
//!
//! | step | limit, in SVGD steps |
//! |---|---|
//! | SVN, block-diagonal, diagonal curvature | 3 |
//! | LL-SVN, Kronecker-factored last layer | 1.5 |
//!
//! Then the last layer alone on frozen features, [`fit_last_layer`]: features of 5000 images, and its steps.
//!
//! Whole steps of the sampler in f32, kernel, linear algebra and all, each method in turn; medians. A busy machine
//! changes the times, less the ratios.

use ndarray::{Array1, Array2};
use std::time::{Duration, Instant};
use svn_models::curvature::Activation;
use svn_models::fit::{FitSettings, LikelihoodKind, fit_last_layer};
use svn_models::network::{LeNetSettings, NetworkSettings, initial_particles, last_layer};
use svn_models::posterior::{
    CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings, Posterior, PosteriorSettings,
};
use svn_models::stein::{
    Coupling, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Rate, Sampler, State,
};
use svn_models::{Backend, Likelihood, Members, Precision, Rows};

const PARTICLES: usize = 5;
const BATCH: usize = 128;

fn main() {
    svn_models::set_library_threads(1);
    let mut runs = runs();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); runs.len()];
    let repetitions = if std::env::args().any(|arg| arg == "--test") {
        1
    } else {
        30
    };
    for _ in 0..repetitions {
        for (run, times) in runs.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run.step();
            times.push(1e3 * start.elapsed().as_secs_f64());
        }
    }
    let medians: Vec<f64> = times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect();
    for (run, median) in runs.iter().zip(&medians) {
        let ratio = median / medians[0];
        println!("{:<44} {median:8.1} ms {ratio:6.2}", run.name);
    }
    for family in [CurvatureFamily::Full, CurvatureFamily::Kfac] {
        for coupling in [Coupling::Gram, Coupling::BlockDiagonal] {
            last_layer_alone(family, coupling, if repetitions == 1 { 256 } else { 5000 });
        }
    }
}

fn images(rows: usize) -> Rows {
    let pixels = Array2::from_shape_fn((rows, 784), |(i, j)| ((i * 784 + j) as f64).sin());
    Rows::new(pixels, Array1::from_shape_fn(rows, |i| (i % 10) as f64)).unwrap()
}

/// One epoch on the last layer.
fn last_layer_alone(family: CurvatureFamily, coupling: Coupling, rows: usize) {
    let softmax = Likelihood::Softmax { classes: 10 };
    let particles = initial_particles(&network(), PARTICLES, 1);
    let ensemble = Members::new(network(), softmax, particles, Backend::default()).unwrap();
    let settings = FitSettings {
        particles: PARTICLES,
        epochs: 1,
        batch_size: BATCH,
        curvature: CurvatureSettings {
            family,
            ..CurvatureSettings::default()
        },
        seed: 1,
        ..FitSettings::new(
            Method::Svn(Newton {
                coupling,
                ..newton(Metric::Curvature)
            }),
            NetworkSettings::LeNet {
                activation: Activation::Sigmoid,
            },
            LikelihoodKind::Softmax(10),
        )
    };
    let (train, validation) = (images(rows), images(rows / 8));
    let start = Instant::now();
    let fit = fit_last_layer(&settings, &ensemble, &train, &validation, &mut ()).unwrap();
    let (all, steps) = (start.elapsed(), fit.step_times.iter().sum::<Duration>());
    let step = 1e3 * steps.as_secs_f64() / fit.step_times.len() as f64;
    println!(
        "last layer alone, {family:?}, {coupling:?}, {rows} rows: {step:.1} ms a step, all else {:.2} s",
        (all - steps).as_secs_f64()
    );
}

struct Run {
    name: &'static str,
    sampler: Sampler,
    state: State,
    target: Posterior,
}

impl Run {
    fn new(name: &'static str, method: Method, curvature: CurvatureSettings) -> Self {
        let network = network();
        let data = images(1280);
        let particles = initial_particles(&network, PARTICLES, 1);
        let settings = PosteriorSettings {
            batch_size: BATCH,
            prior_precision: 1.0,
            curvature,
            learn_noise: false,
            seed: 1,
            backend: Backend {
                precision: Precision::Single,
                ..Backend::default()
            },
        };
        let softmax = Likelihood::Softmax { classes: 10 };
        let sampler = Sampler::new(method).unwrap();
        Self {
            name,
            state: sampler.init(particles, 1).unwrap(),
            sampler,
            target: Posterior::new(network, softmax, &data, settings).unwrap(),
        }
    }

    fn step(&mut self) {
        let _info = self
            .sampler
            .step(&mut self.state, &mut self.target)
            .unwrap();
    }
}

fn network() -> svn_models::curvature::Sequential {
    let settings = LeNetSettings {
        outputs: 10,
        activation: Activation::Sigmoid,
    };
    settings.build().unwrap()
}

fn newton(metric: Metric) -> Newton {
    Newton {
        kernel: KernelSettings {
            metric,
            ..KernelSettings::default()
        },
        coupling: Coupling::BlockDiagonal,
        rate: Rate::constant(0.1),
        damping: Damping::Constant(100.0),
        trust_region: Some(50.0),
        ..Newton::plain()
    }
}

fn runs() -> Vec<Run> {
    let step = FirstOrder::adam(1e-3);
    let svn = || Method::Svn(newton(Metric::Curvature));
    let ll_svn = || Method::LlSvn {
        newton: newton(Metric::Identity),
        coordinates: last_layer(&network()),
        rest: step,
    };
    let diag = CurvatureSettings {
        family: CurvatureFamily::Diag,
        ..CurvatureSettings::default()
    };
    let kfac = CurvatureSettings {
        family: CurvatureFamily::Kfac,
        part: CurvaturePart::LastLayer,
        ..CurvatureSettings::default()
    };
    let full = CurvatureSettings {
        family: CurvatureFamily::Full,
        ..kfac
    };
    let sampled = |settings| CurvatureSettings {
        root: CurvatureRoot::Sampled(1),
        ..settings
    };
    let lazy = |settings| CurvatureSettings {
        every: 5,
        ..settings
    };
    let kernel = KernelSettings::default();
    vec![
        Run::new("svgd", Method::Svgd { kernel, step }, diag),
        Run::new("svn diag, exact root", svn(), diag),
        Run::new("svn diag, sampled root", svn(), sampled(diag)),
        Run::new(
            "svn diag, sampled root, every 5",
            svn(),
            lazy(sampled(diag)),
        ),
        Run::new("ll-svn kfac, exact root", ll_svn(), kfac),
        Run::new("ll-svn kfac, sampled root", ll_svn(), sampled(kfac)),
        Run::new("ll-svn full, exact root, 6 batches", ll_svn(), full),
    ]
}
