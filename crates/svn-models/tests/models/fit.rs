//! Training: every method learns, the best epoch is what is given back, and a seed decides everything.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2};
use svn_models::curvature::Activation;
use svn_models::fit::{Ending, Fit, FitSettings, LikelihoodKind, Start, fit};
use svn_models::network::NetworkSettings;
use svn_models::posterior::{CurvatureFamily, CurvatureSettings};
use svn_models::stein::{
    Bandwidth, Coupling, Damping, DensityEstimator, FirstOrder, FunctionRepulsion, KernelSettings,
    KernelWarning, Method, Newton, NewtonEnsemble, Rate,
};
use svn_models::{ModelError, Rows};

fn rows(n: usize, shift: f64) -> Rows {
    let x = Array2::from_shape_fn((n, 1), |(i, _)| -1.5 + 3.0 * (i as f64 + shift) / n as f64);
    let y: Array1<f64> = x.column(0).mapv(|x| (2.0 * x).sin());
    Rows::new(x, y).unwrap()
}

fn newton(coupling: Coupling) -> Method {
    Method::Svn(Newton {
        coupling,
        ..steps()
    })
}

fn steps() -> Newton {
    Newton {
        rate: Rate::constant(0.3),
        damping: Damping::Constant(10.0),
        trust_region: Some(2.0),
        ..Newton::plain()
    }
}

fn methods() -> Vec<(&'static str, Method)> {
    let step = FirstOrder::adam(0.03);
    let kernel = KernelSettings::default();
    vec![
        ("ensemble", Method::Ensemble { step }),
        (
            "wgd",
            Method::Wgd {
                kernel: kernel.clone(),
                estimator: DensityEstimator::Kde,
                step,
            },
        ),
        ("svgd", Method::Svgd { kernel, step }),
        (
            "newton-ensemble",
            Method::NewtonEnsemble(NewtonEnsemble::from(steps())),
        ),
        (
            "f-wgd",
            Method::FunctionWgd {
                repulsion: FunctionRepulsion::default(),
                step,
            },
        ),
        (
            "f-svn",
            Method::FunctionSvn {
                repulsion: FunctionRepulsion::default(),
                newton: NewtonEnsemble::from(steps()),
            },
        ),
        ("svn gram", newton(Coupling::Gram)),
        ("svn block-diagonal", newton(Coupling::BlockDiagonal)),
        ("svn block-repulsion", newton(Coupling::BlockRepulsion)),
    ]
}

fn settings(method: Method, noise: LikelihoodKind) -> FitSettings {
    FitSettings {
        prior_precision: 0.5,
        particles: 3,
        epochs: 25,
        batch_size: 12,
        curvature: CurvatureSettings {
            ring: 3,
            ..CurvatureSettings::default()
        },
        seed: 4,
        ..FitSettings::new(
            method,
            NetworkSettings::Mlp {
                hidden: vec![15, 10],
                activation: Activation::Tanh,
            },
            noise,
        )
    }
}

fn train(settings: &FitSettings) -> Fit {
    fit(
        settings,
        &rows(40, 0.0),
        &rows(20, 0.25),
        Start::Seed,
        &mut (),
    )
    .unwrap()
}

/// Targets have variance near ½; the constant predictor's NLL is about ½ ln(2π e ½) = 1.07. A method that learns at all
/// is far below it after 100 steps.
#[test]
fn every_method_learns_a_sine_under_both_noise_models() {
    for noise in [LikelihoodKind::Gaussian, LikelihoodKind::Heteroscedastic] {
        for (name, method) in methods() {
            let fit = train(&settings(method, noise));
            let validation = rows(20, 0.25);
            let nll = fit
                .ensemble
                .predict(validation.features())
                .unwrap()
                .negative_log_likelihood(validation.targets());
            assert!(nll < 0.6, "{name} with {noise:?}: validation NLL {nll}");
        }
    }
}

#[test]
fn the_ensemble_given_back_is_that_of_the_best_validation_epoch() {
    for (name, method) in methods() {
        let fit = train(&settings(method, LikelihoodKind::Gaussian));
        let scores: Vec<f64> = fit
            .history
            .iter()
            .map(|epoch| epoch.validation_nll.unwrap())
            .collect();
        let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(scores[fit.best_epoch - 1], best, "{name}");
        let validation = rows(20, 0.25);
        let again = fit
            .ensemble
            .predict(validation.features())
            .unwrap()
            .negative_log_density(validation.targets())
            .unwrap();
        assert_relative_eq!(again, best, max_relative = 1e-12);
    }
}

#[test]
fn one_seed_gives_one_ensemble_and_another_seed_another() {
    let mut settings = settings(newton(Coupling::Gram), LikelihoodKind::Heteroscedastic);
    settings.epochs = 3;
    let first = train(&settings);
    assert_eq!(
        first.ensemble.particles(),
        train(&settings).ensemble.particles()
    );
    settings.seed += 1;
    assert_ne!(
        first.ensemble.particles(),
        train(&settings).ensemble.particles()
    );
}

/// One batch an epoch, so that runs of 1 to 6 epochs that end best at their last give the weights of every step. The
/// reference weighs them all at once: of `ρ = 1/2` the step `s` has weight `2/t` of what later steps leave.
#[test]
fn averaged_weights_are_the_weighted_sum_of_all_steps() {
    let mut settings = settings(newton(Coupling::Gram), LikelihoodKind::Heteroscedastic);
    settings.batch_size = 40;
    let last = |settings: &FitSettings| {
        let fit = train(settings);
        assert_eq!(
            fit.best_epoch, settings.epochs,
            "validation rows chose an earlier step"
        );
        fit.ensemble.particles().to_owned()
    };
    let steps: Vec<_> = (1..=6)
        .map(|epochs| {
            last(&FitSettings {
                epochs,
                ..settings.clone()
            })
        })
        .collect();
    settings.epochs = 6;
    for share in [1.0, 0.5, 0.1] {
        let weight = |t: usize| (1.0 / (share * t as f64)).min(1.0);
        let mut expected = ndarray::Array2::<f64>::zeros(steps[0].dim());
        for (step, particles) in (1..).zip(&steps) {
            let left: f64 = (step + 1..=6).map(|t| 1.0 - weight(t)).product();
            expected.scaled_add(weight(step) * left, particles);
        }
        settings.averaging = Some(share);
        let averaged = last(&settings);
        for (found, expected) in averaged.iter().zip(&expected) {
            assert_relative_eq!(found, expected, max_relative = 1e-10, epsilon = 1e-12);
        }
        assert_eq!(averaged == steps[5], share == 0.1, "share {share}");
    }
}

#[test]
fn a_share_to_average_over_is_above_0_and_at_most_1() {
    for share in [0.0, -0.5, 1.1, f64::NAN] {
        let mut settings = settings(newton(Coupling::Gram), LikelihoodKind::Heteroscedastic);
        settings.averaging = Some(share);
        let error = fit(
            &settings,
            &rows(40, 0.0),
            &rows(20, 0.25),
            Start::Seed,
            &mut (),
        )
        .unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("averaging") && message.contains("above 0 and at most 1"),
            "{message}"
        );
    }
}

#[test]
fn particles_start_and_stay_different() {
    for (name, method) in methods() {
        let fit = train(&settings(method, LikelihoodKind::Gaussian));
        let particles = fit.ensemble.particles();
        let distance = (&particles.row(0) - &particles.row(1)).mapv(f64::abs).sum();
        assert!(distance > 1.0, "{name}: {distance}");
    }
}

#[test]
fn one_particle_is_enough() {
    for (name, method) in methods() {
        let mut settings = settings(method, LikelihoodKind::Heteroscedastic);
        settings.particles = 1;
        let fit = train(&settings);
        assert!(
            fit.history
                .iter()
                .all(|epoch| epoch.validation_nll.is_some()),
            "{name}"
        );
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let message = |change: fn(&mut FitSettings)| {
        let mut settings = settings(newton(Coupling::Gram), LikelihoodKind::Gaussian);
        change(&mut settings);
        fit(
            &settings,
            &rows(40, 0.0),
            &rows(20, 0.25),
            Start::Seed,
            &mut (),
        )
        .unwrap_err()
        .to_string()
    };
    assert_eq!(
        message(|s| s.particles = 0),
        "particles is 0; expected at least 1"
    );
    assert_eq!(
        message(|s| s.batch_size = 41),
        "batch size is 41; expected at most the number of training rows, 40"
    );
    assert_eq!(
        message(|s| s.prior_precision = -1.0),
        "prior precision is -1; expected a positive number"
    );
    assert_eq!(
        message(|s| {
            s.network = NetworkSettings::Mlp {
                hidden: vec![0],
                activation: Activation::Tanh,
            }
        }),
        "width of layer 1 is 0; expected at least 1"
    );
}

#[test]
fn data_that_are_not_finite_are_refused_with_their_row() {
    let mut x = Array2::zeros((3, 2));
    x[[2, 1]] = f64::NAN;
    let error = Rows::new(x, Array1::zeros(3)).unwrap_err().to_string();
    assert_eq!(
        error,
        "row 2 of the features is not finite; drop or impute it before training"
    );
}

/// Three batches are kept, so the oldest rows were written two steps ago.
#[test]
fn the_age_of_accumulated_curvature_is_reported() {
    for (name, method) in methods() {
        let newton = method.needs_curvature();
        let mut settings = settings(method, LikelihoodKind::Gaussian);
        settings.epochs = 2;
        assert_eq!(
            train(&settings).curvature_age,
            newton.then_some(2),
            "{name}"
        );
    }
}

/// A kernel so narrow that it is the identity, for every family and with minibatches: the weights are the same to rounding,
/// which grows along the way.
#[test]
fn newton_ensemble_is_svn_with_the_identity_kernel() {
    for family in [
        CurvatureFamily::Full,
        CurvatureFamily::Diag,
        CurvatureFamily::Kfac,
        CurvatureFamily::Ekfac,
    ] {
        let run = |method| {
            let mut settings = settings(method, LikelihoodKind::Heteroscedastic);
            settings.curvature.family = family;
            settings.epochs = 3;
            train(&settings)
        };
        let apart = run(Method::NewtonEnsemble(steps().into()));
        for coupling in [
            Coupling::Exact,
            Coupling::Gram,
            Coupling::BlockRepulsion,
            Coupling::BlockDiagonal,
        ] {
            let svn = run(Method::Svn(Newton {
                kernel: KernelSettings {
                    bandwidth: Bandwidth::Fixed(1e-9),
                    ..KernelSettings::default()
                },
                coupling,
                ..steps()
            }));
            let pairs = svn.ensemble.particles();
            let pairs = pairs.iter().zip(apart.ensemble.particles());
            for (found, expected) in pairs {
                assert_relative_eq!(found, expected, max_relative = 1e-9, epsilon = 1e-9);
            }
            for (epoch, own) in svn.history.iter().zip(&apart.history) {
                assert_eq!(epoch.kernel_warning, Some(KernelWarning::Identity));
                assert_eq!(
                    (own.mean_kernel, own.kernel_warning, own.repulsion_ratio),
                    (None, None, None)
                );
            }
        }
    }
}

#[test]
fn a_kernel_that_does_nothing_is_reported() {
    for (bandwidth, expected) in [
        (Bandwidth::Fixed(1e-9), Some(KernelWarning::Identity)),
        (Bandwidth::Fixed(1e9), Some(KernelWarning::Constant)),
        // Two hundred weights: their kernel repels by far less than their score drives.
        (Bandwidth::Median, Some(KernelWarning::Negligible)),
    ] {
        let kernel = KernelSettings {
            bandwidth,
            ..KernelSettings::default()
        };
        let method = Method::Svgd {
            kernel,
            step: FirstOrder::adam(0.03),
        };
        let mut settings = settings(method, LikelihoodKind::Gaussian);
        settings.epochs = 2;
        let fit = train(&settings);
        assert!(
            fit.history
                .iter()
                .all(|epoch| epoch.kernel_warning == expected),
            "{bandwidth:?}"
        );
    }
}

/// A million times the Newton step: after the first the weights are still within bounds, after the second they are not.
#[test]
fn an_error_after_a_good_epoch_ends_the_fit_as_what_it_is() {
    let method = Method::Svn(Newton {
        rate: Rate::constant(1e6),
        damping: Damping::Constant(1e-9),
        ..Newton::plain()
    });
    let mut settings = settings(method, LikelihoodKind::Gaussian);
    settings.batch_size = 40;
    let broken = train(&settings);
    let Ending::Failed { after, error } = broken.ending else {
        panic!("{:?}", broken.ending)
    };
    assert!(matches!(error, ModelError::Stein(_)), "{error:?}");
    assert_eq!((after, broken.best_epoch, broken.history.len()), (1, 1, 1));
    settings.epochs = 1;
    let whole = train(&settings);
    assert!(matches!(whole.ending, Ending::Completed));
    assert_eq!(broken.ensemble.particles(), whole.ensemble.particles());
}

/// The step size falls to where the measured noise is the bound, and stays where nothing is asked for or no batch is drawn.
#[test]
fn the_last_newton_steps_hold_as_much_noise_as_the_bound() {
    let apart = Method::NewtonEnsemble(NewtonEnsemble::from(Newton {
        rate: Rate::constant(0.9),
        ..steps()
    }));
    let noise = |bound: Option<f64>, batch_size: usize| {
        let settings = FitSettings {
            minibatch_noise: bound,
            batch_size,
            epochs: 12,
            ..settings(apart.clone(), LikelihoodKind::Gaussian)
        };
        let history = train(&settings).history;
        let noise = |epoch: usize| history[epoch].stationary_noise.unwrap();
        (noise(0), noise(11))
    };
    let bound = 0.004;
    let (_, free) = noise(None, 5);
    assert!(free > 10.0 * bound, "{free}");
    let (first, last) = noise(Some(bound), 5);
    assert!(first > 10.0 * bound, "{first}");
    // By the parameters of the epoch before, of which six random vectors tell.
    assert!((0.5..2.0).contains(&(last / bound)), "{last}");
    // All rows a step: no noise, no decay.
    let whole = |bound: Option<f64>| {
        train(&FitSettings {
            minibatch_noise: bound,
            batch_size: 40,
            epochs: 3,
            ..settings(apart.clone(), LikelihoodKind::Gaussian)
        })
    };
    let (bounded, free) = (whole(Some(1e-9)), whole(None));
    assert_eq!(bounded.ensemble.particles(), free.ensemble.particles());
}
