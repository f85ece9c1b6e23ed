//! Classification: the posterior's derivatives, training by every method, and one logit against two.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, Axis, concatenate, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_models::curvature::Activation;
use svn_models::fit::{Fit, FitSettings, LikelihoodKind, Start, fit};
use svn_models::network::{MlpSettings, NetworkSettings, initial_particles, last_layer};
use svn_models::posterior::{
    CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings, Posterior, PosteriorSettings,
};
use svn_models::stein::{
    Coordinates, Coupling, Curved, Damping, FirstOrder, KernelSettings, Method, Metric, Newton,
    Rate, Score,
};
use svn_models::{Backend, Likelihood, Members, Rows};

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

/// Clouds of spread 0.5 around points on a circle of radius 1.5, one for each class.
fn clouds(rows: usize, classes: usize, seed: u64) -> Rows {
    let targets = Array1::from_shape_fn(rows, |i| (i % classes) as f64);
    let mut x = normal(rows, 2, seed) * 0.5;
    for (mut x, y) in x.rows_mut().into_iter().zip(&targets) {
        let angle = 2.0 * std::f64::consts::PI * y / classes as f64;
        x[0] += 1.5 * angle.cos();
        x[1] += 1.5 * angle.sin();
    }
    Rows::new(x, targets).unwrap()
}

fn posterior(likelihood: Likelihood, classes: usize, curvature: CurvatureSettings) -> Posterior {
    let network = MlpSettings {
        inputs: 2,
        hidden: vec![4],
        outputs: likelihood.outputs(),
        activation: Activation::Tanh,
    };
    let settings = PosteriorSettings {
        batch_size: 5,
        prior_precision: 0.7,
        curvature,
        learn_noise: true,
        seed: 3,
        backend: Backend::default(),
    };
    let data = clouds(12, classes, 1);
    Posterior::new(network.build().unwrap(), likelihood, &data, settings).unwrap()
}

fn evaluate(target: &mut Posterior, particles: &Array2<f64>) -> (Array1<f64>, Array2<f64>) {
    let mut density = Array1::zeros(particles.nrows());
    let mut score = Array2::zeros(particles.raw_dim());
    target
        .score_into(particles.view(), density.view_mut(), score.view_mut())
        .unwrap();
    (density, score)
}

/// Central differences with step 1e-5, as for regression.
#[test]
fn score_is_the_finite_difference_of_the_log_density() {
    for (likelihood, classes) in [
        (Likelihood::Bernoulli, 2),
        (Likelihood::Softmax { classes: 3 }, 3),
    ] {
        let mut target = posterior(likelihood, classes, CurvatureSettings::default());
        let particles = initial_particles(target.network(), 2, 5);
        target.next_batch().unwrap();
        let (_, score) = evaluate(&mut target, &particles);
        let h = 1e-5;
        for j in 0..target.dim() {
            let moved = |by: f64| {
                let mut particles = particles.clone();
                particles.slice_mut(s![.., j]).mapv_inplace(|v| v + by);
                particles
            };
            let (above, _) = evaluate(&mut target, &moved(h));
            let (below, _) = evaluate(&mut target, &moved(-h));
            for p in 0..2 {
                let expected = (above[p] - below[p]) / (2.0 * h);
                assert_relative_eq!(score[[p, j]], expected, epsilon = 1e-6);
            }
        }
    }
}

/// In the last layer's parameters the logits are linear, so that Gauss-Newton is the exact Hessian there.
#[test]
fn last_layer_curvature_is_the_hessian_by_finite_differences_of_the_score() {
    for (likelihood, classes) in [
        (Likelihood::Bernoulli, 2),
        (Likelihood::Softmax { classes: 3 }, 3),
    ] {
        let settings = CurvatureSettings {
            part: CurvaturePart::LastLayer,
            ring: 1,
            ..CurvatureSettings::default()
        };
        let mut target = posterior(likelihood, classes, settings);
        let particles = initial_particles(target.network(), 1, 5);
        target.next_batch().unwrap();
        let (mut density, mut score) = evaluate(&mut target, &particles);
        let dense = target
            .curvature_into(particles.view(), density.view_mut(), score.view_mut())
            .unwrap()
            .operator(0)
            .to_dense();
        let indices = last_layer(target.network()).indices();
        assert_eq!(dense.dim(), (indices.len(), indices.len()));
        let h = 1e-5;
        for (column, &j) in indices.iter().enumerate() {
            let mut moved = particles.clone();
            moved[[0, j]] += h;
            let (_, above) = evaluate(&mut target, &moved);
            moved[[0, j]] -= 2.0 * h;
            let (_, below) = evaluate(&mut target, &moved);
            for (row, &i) in indices.iter().enumerate() {
                let expected = -(above[[0, i]] - below[[0, i]]) / (2.0 * h);
                assert_relative_eq!(dense[[row, column]], expected, epsilon = 1e-6);
            }
        }
    }
}

/// Two logits of weights `(w_0, w_1)` against one of weight `w_1 − w_0` over the same hidden layer.
#[test]
fn one_logit_predicts_as_two_with_that_difference() {
    let mlp = |outputs| MlpSettings {
        inputs: 2,
        hidden: vec![4],
        outputs,
        activation: Activation::Tanh,
    };
    let two = mlp(2).build().unwrap();
    let particles = initial_particles(&two, 3, 5);
    let hidden = particles.slice(s![.., ..12]);
    let weight = &particles.slice(s![.., 16..20]) - &particles.slice(s![.., 12..16]);
    let bias = &particles.slice(s![.., 21..22]) - &particles.slice(s![.., 20..21]);
    let difference = concatenate![Axis(1), hidden, weight, bias];
    let backend = Backend::default();
    let softmax = Likelihood::Softmax { classes: 2 };
    let two = Members::new(two, softmax, particles, backend).unwrap();
    let one = mlp(1).build().unwrap();
    let one = Members::new(one, Likelihood::Bernoulli, difference, backend).unwrap();
    let data = clouds(50, 2, 9);
    let (two, one) = (
        two.predict_classes(data.features()).unwrap(),
        one.predict_classes(data.features()).unwrap(),
    );
    assert_eq!(one.logits().dim(), (3, 50, 2));
    for (a, b) in one.probabilities().iter().zip(&two.probabilities()) {
        assert_relative_eq!(a, b, epsilon = 1e-14);
    }
    assert_relative_eq!(
        one.negative_log_likelihood(data.targets()).unwrap(),
        two.negative_log_likelihood(data.targets()).unwrap(),
        max_relative = 1e-13
    );
    assert_relative_eq!(
        one.negative_log_likelihood_of_mean_logit(data.targets())
            .unwrap(),
        two.negative_log_likelihood_of_mean_logit(data.targets())
            .unwrap(),
        max_relative = 1e-13
    );
}

#[test]
fn asking_for_the_other_task_is_an_error() {
    let network = || {
        MlpSettings {
            inputs: 2,
            hidden: vec![],
            outputs: 1,
            activation: Activation::Tanh,
        }
        .build()
        .unwrap()
    };
    let x = Array2::zeros((3, 2));
    let join = |task: LikelihoodKind| {
        let likelihood = task.build().unwrap();
        Members::new(
            network(),
            likelihood,
            Array2::zeros((1, 3)),
            Backend::default(),
        )
        .unwrap()
    };
    let classes = join(LikelihoodKind::Bernoulli)
        .predict(x.view())
        .unwrap_err();
    assert_eq!(
        classes.to_string(),
        "the likelihood is one of classes; call predict_classes"
    );
    let numbers = join(LikelihoodKind::Gaussian);
    assert_eq!(
        numbers.predict_classes(x.view()).unwrap_err().to_string(),
        "the likelihood is one of numbers; call predict"
    );
    assert_eq!(
        numbers
            .predict(Array2::zeros((3, 5)).view())
            .unwrap_err()
            .to_string(),
        "features has shape [3, 5]; expected [3, 2]"
    );
}

fn newton(coupling: Coupling, metric: Metric) -> Newton {
    Newton {
        kernel: KernelSettings {
            metric,
            ..KernelSettings::default()
        },
        coupling,
        rate: Rate::constant(0.3),
        damping: Damping::Constant(5.0),
        trust_region: Some(5.0),
        ..Newton::plain()
    }
}

fn settings(task: LikelihoodKind, method: Method, curvature: CurvatureSettings) -> FitSettings {
    FitSettings {
        prior_precision: 0.5,
        particles: 3,
        epochs: 12,
        batch_size: 15,
        curvature,
        seed: 4,
        ..FitSettings::new(
            method,
            NetworkSettings::Mlp {
                hidden: vec![8],
                activation: Activation::Tanh,
            },
            task,
        )
    }
}

fn train(settings: &FitSettings, classes: usize) -> Fit {
    let (train, validation) = (clouds(90, classes, 1), clouds(60, classes, 2));
    fit(settings, &train, &validation, Start::Seed, &mut ()).unwrap()
}

/// The clouds overlap a little: a classifier that learns is far below the constant's `ln C` of 0.69 and 1.10 nats.
#[test]
fn every_family_and_part_learns_to_classify() {
    let first = FirstOrder::adam(0.05);
    let kernel = KernelSettings::default();
    for (task, classes) in [
        (LikelihoodKind::Bernoulli, 2),
        (LikelihoodKind::Softmax(3), 3),
    ] {
        let mut runs = vec![
            (
                "ensemble".to_owned(),
                settings(
                    task,
                    Method::Ensemble { step: first },
                    CurvatureSettings::default(),
                ),
            ),
            (
                "svgd".to_owned(),
                settings(
                    task,
                    Method::Svgd {
                        kernel: kernel.clone(),
                        step: first,
                    },
                    CurvatureSettings::default(),
                ),
            ),
        ];
        for family in [
            CurvatureFamily::Full,
            CurvatureFamily::Diag,
            CurvatureFamily::Kfac,
            CurvatureFamily::Ekfac,
        ] {
            for root in [CurvatureRoot::Exact, CurvatureRoot::Sampled(1)] {
                let whole = CurvatureSettings {
                    family,
                    root,
                    ring: 4,
                    ..CurvatureSettings::default()
                };
                let part = CurvatureSettings {
                    part: CurvaturePart::LastLayer,
                    ..whole
                };
                for coupling in [Coupling::BlockDiagonal, Coupling::Gram] {
                    let svn = Method::Svn(newton(coupling, Metric::Curvature));
                    runs.push((
                        format!("svn {family:?} {root:?} {coupling:?}"),
                        settings(task, svn, whole),
                    ));
                    let mut last = settings(task, Method::Ensemble { step: first }, part);
                    last.method = Method::LlSvn {
                        newton: newton(coupling, Metric::Identity),
                        coordinates: last_layer(&last.build_network(2).unwrap()),
                        rest: first,
                    };
                    runs.push((format!("ll-svn {family:?} {root:?} {coupling:?}"), last));
                }
            }
        }
        for (name, settings) in runs {
            let fit = train(&settings, classes);
            let validation = clouds(60, classes, 2);
            let prediction = fit.ensemble.predict_classes(validation.features()).unwrap();
            let nll = prediction
                .negative_log_likelihood(validation.targets())
                .unwrap();
            assert!(
                nll < 0.25,
                "{name}, {classes} classes: validation NLL {nll}"
            );
            let best = fit.history[fit.best_epoch - 1].validation_nll.unwrap();
            assert_relative_eq!(nll, best, max_relative = 1e-12);
        }
    }
}

#[test]
fn whole_network_rows_serve_ll_svn_too() {
    let first = FirstOrder::adam(0.05);
    let curvature = CurvatureSettings {
        ring: 4,
        ..CurvatureSettings::default()
    };
    let mut settings = settings(
        LikelihoodKind::Softmax(3),
        Method::Ensemble { step: first },
        curvature,
    );
    settings.method = Method::LlSvn {
        newton: newton(Coupling::BlockDiagonal, Metric::Curvature),
        coordinates: last_layer(&settings.build_network(2).unwrap()),
        rest: first,
    };
    let nll = train(&settings, 3).history.last().unwrap().validation_nll;
    assert!(nll.unwrap() < 0.25, "{nll:?}");
}

#[test]
fn settings_that_do_not_fit_are_named() {
    let message = |change: &dyn Fn(&mut FitSettings)| {
        let mut settings = settings(
            LikelihoodKind::Softmax(3),
            Method::Svn(newton(Coupling::Gram, Metric::Curvature)),
            CurvatureSettings::default(),
        );
        change(&mut settings);
        let (train, validation) = (clouds(90, 3, 1), clouds(60, 3, 2));
        fit(&settings, &train, &validation, Start::Seed, &mut ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&|s| s.likelihood = LikelihoodKind::Softmax(1)),
        "classes is 1; expected at least 2"
    );
    assert_eq!(
        message(&|s| s.likelihood = LikelihoodKind::Bernoulli),
        "target 2 of row 2 is no class index; expected a whole number from 0 to 1"
    );
    assert_eq!(
        message(&|s| s.curvature.part = CurvaturePart::LastLayer),
        "curvature part is last-layer; expected whole-network for method svn"
    );
    assert_eq!(
        message(&|s| {
            s.curvature.part = CurvaturePart::LastLayer;
            s.method = Method::LlSvn {
                newton: newton(Coupling::Gram, Metric::Identity),
                coordinates: Coordinates::Range { start: 0, end: 24 },
                rest: FirstOrder::adam(0.05),
            };
        }),
        "coordinates of ll-svn is Range { start: 0, end: 24 }; expected those of the last layer, \
         Range { start: 24, end: 51 }"
    );
    assert_eq!(
        message(&|s| s.network = NetworkSettings::LeNet {
            activation: Activation::Sigmoid
        }),
        "a row of features for LeNet has shape [2]; expected [784]"
    );
}

#[test]
fn settings_keep_their_form() {
    let settings = settings(
        LikelihoodKind::Softmax(3),
        Method::Ensemble {
            step: FirstOrder::adam(0.05),
        },
        CurvatureSettings {
            family: CurvatureFamily::Kfac,
            part: CurvaturePart::LastLayer,
            root: CurvatureRoot::Sampled(1),
            ..CurvatureSettings::default()
        },
    );
    let json = serde_json::to_value(&settings).unwrap();
    assert_eq!(
        json["network"],
        serde_json::json!({"kind": "mlp", "hidden": [8], "activation": "tanh"})
    );
    assert_eq!(json["likelihood"], serde_json::json!({"softmax": 3}));
    assert_eq!(
        json["curvature"],
        serde_json::json!({
            "family": "kfac", "part": "last-layer", "root": "sampled",
            "ring": 6, "every": 1, "refresh": 10,
        })
    );
    let back: FitSettings = serde_json::from_value(json).unwrap();
    assert_eq!(back, settings);
    let task = |text: &str| serde_json::from_str::<LikelihoodKind>(text).unwrap();
    assert_eq!(task(r#""bernoulli""#), LikelihoodKind::Bernoulli);
    assert_eq!(task(r#""gaussian""#), LikelihoodKind::Gaussian);
    let network: NetworkSettings =
        serde_json::from_str(r#"{"kind": "lenet", "activation": "sigmoid"}"#).unwrap();
    assert_eq!(
        network,
        NetworkSettings::LeNet {
            activation: Activation::Sigmoid
        }
    );
}
