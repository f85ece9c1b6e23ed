//! The last layer alone, on frozen features: against the whole network with updates nowhere else, and never for the worse.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2, s};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt as _, SeedableRng};
use svn_models::curvature::Activation;
use svn_models::fit::{FitSettings, LikelihoodKind, Start, fit, fit_last_layer};
use svn_models::network::{NetworkSettings, last_layer};
use svn_models::posterior::{
    CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings, Posterior, PosteriorSettings,
};
use svn_models::stein::{
    Coupling, Curvature, Curved, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Rate,
    Sampler, Score, TargetError,
};
use svn_models::{Backend, Members, Rows};

const SIDE: usize = 28;

/// Blurred digits of strokes: class `c` has its own three strokes, at a random place, under noise.
fn digits(rows: usize, classes: usize, seed: u64) -> Rows {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let targets = Array1::from_shape_fn(rows, |i| (i % classes) as f64);
    let mut images = Array2::zeros((rows, SIDE * SIDE));
    for (mut image, class) in images.rows_mut().into_iter().zip(&targets) {
        let (top, left) = (rng.random_range(0..8), rng.random_range(0..8));
        for stroke in 0..3usize {
            let code = (*class as usize * 7 + stroke * 5) % 11;
            let (row, column) = (code % 4 * 5, code / 4 * 6);
            for step in 0..7 {
                let (i, j) = match code % 2 {
                    0 => (row + step, column),
                    _ => (row, column + step),
                };
                image[(top + i).min(SIDE - 1) * SIDE + (left + j).min(SIDE - 1)] = 1.0;
            }
        }
        image.mapv_inplace(|ink| ink + rng.random_range(-0.3..0.3));
    }
    Rows::new(images, targets).unwrap()
}

fn newton(coupling: Coupling, metric: Metric) -> Newton {
    Newton {
        kernel: KernelSettings {
            metric,
            ..KernelSettings::default()
        },
        coupling,
        rate: Rate::constant(0.3),
        damping: Damping::Constant(10.0),
        trust_region: Some(5.0),
        ..Newton::plain()
    }
}

fn settings(method: Method, network: NetworkSettings, task: LikelihoodKind) -> FitSettings {
    FitSettings {
        particles: 3,
        epochs: 2,
        batch_size: 20,
        curvature: CurvatureSettings {
            ring: 4,
            ..CurvatureSettings::default()
        },
        seed: 2,
        ..FitSettings::new(method, network, task)
    }
}

#[cfg(feature = "torch")]
fn lenet() -> NetworkSettings {
    NetworkSettings::LeNet {
        activation: Activation::Relu,
    }
}

fn ensemble_of(
    network: NetworkSettings,
    task: LikelihoodKind,
    train: &Rows,
    validation: &Rows,
) -> Members {
    let step = FirstOrder::adam(2e-3);
    let first = settings(Method::Ensemble { step }, network, task);
    fit(&first, train, validation, Start::Seed, &mut ())
        .unwrap()
        .ensemble
}

#[cfg(feature = "torch")]
fn validation_nll(ensemble: &Members, rows: &Rows) -> f64 {
    let prediction = ensemble.predict_classes(rows.features()).unwrap();
    prediction.negative_log_likelihood(rows.targets()).unwrap()
}

/// Ten classes: the last layer has 850 parameters and is kept as a matrix. Frozen weights keep their bits, and the score
/// that the ensemble has as a whole network is the one that was chosen by.
#[test]
#[cfg(feature = "torch")]
fn newton_steps_on_the_last_layer_of_lenet_improve_a_trained_ensemble() {
    let (train, validation) = (digits(400, 10, 1), digits(200, 10, 2));
    let given = ensemble_of(lenet(), LikelihoodKind::Softmax(10), &train, &validation);
    let before = validation_nll(&given, &validation);
    for family in [
        CurvatureFamily::Full,
        CurvatureFamily::Kfac,
        CurvatureFamily::Diag,
    ] {
        let mut second = settings(
            Method::Svn(newton(Coupling::BlockDiagonal, Metric::Curvature)),
            lenet(),
            LikelihoodKind::Softmax(10),
        );
        second.curvature.family = family;
        let fit = fit_last_layer(&second, &given, &train, &validation, &mut ()).unwrap();
        let after = validation_nll(&fit.ensemble, &validation);
        assert!(
            fit.best_epoch > 0 && after < 0.9 * before,
            "{family:?}: {before} to {after}"
        );
        let best = fit.history[fit.best_epoch - 1].validation_nll.unwrap();
        // Single precision, by two ways.
        assert_relative_eq!(after, best, max_relative = 1e-5);
        let frozen = 61_706 - 850;
        let part = |ensemble: &Members| ensemble.particles().slice(s![.., ..frozen]).to_owned();
        assert_eq!(part(&fit.ensemble), part(&given));
        let last = |ensemble: &Members| ensemble.particles().slice(s![.., frozen..]).to_owned();
        assert_ne!(last(&fit.ensemble), last(&given));
    }
}

/// Steps so small and wrong that they can only do harm: prior precision 10⁹ pulls all weights to nothing.
#[test]
#[cfg(feature = "torch")]
fn an_ensemble_that_gets_no_better_is_given_back() {
    let (train, validation) = (digits(200, 4, 1), digits(100, 4, 2));
    let given = ensemble_of(lenet(), LikelihoodKind::Softmax(4), &train, &validation);
    let step = FirstOrder::adam(0.5);
    let mut second = settings(
        Method::Ensemble { step },
        lenet(),
        LikelihoodKind::Softmax(4),
    );
    second.prior_precision = 1e9;
    let fit = fit_last_layer(&second, &given, &train, &validation, &mut ()).unwrap();
    assert_eq!((fit.best_epoch, fit.history.len()), (0, 2));
    assert_eq!(fit.ensemble.particles(), given.particles());
}

/// The whole network's posterior as one of the last layer's weights, the others put in from the frozen particles.
struct Embedded {
    whole: Posterior,
    frozen: Array2<f64>,
    start: usize,
}

impl Embedded {
    fn embed(&self, last: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut particles = self.frozen.clone();
        particles.slice_mut(s![.., self.start..]).assign(&last);
        particles
    }
}

impl Score for Embedded {
    fn dim(&self) -> usize {
        self.frozen.ncols() - self.start
    }

    fn next_batch(&mut self) -> Result<(), TargetError> {
        self.whole.next_batch()
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        let mut all = Array2::zeros(self.frozen.raw_dim());
        let particles = self.embed(particles);
        self.whole
            .score_into(particles.view(), log_density, all.view_mut())?;
        score.assign(&all.slice(s![.., self.start..]));
        Ok(())
    }
}

impl Curved for Embedded {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        let mut all = Array2::zeros(self.frozen.raw_dim());
        let (particles, start) = (self.embed(particles), self.start);
        let curvature = self
            .whole
            .curvature_into(particles.view(), log_density, all.view_mut())?;
        score.assign(&all.slice(s![.., start..]));
        Ok(curvature)
    }
}

/// In double precision the two ways differ by the order of sums: 1e-16 a step, grown by the condition of a few systems.
#[test]
fn it_is_the_whole_network_with_updates_nowhere_else() {
    let network = NetworkSettings::Mlp {
        hidden: vec![9, 6],
        activation: Activation::Tanh,
    };
    let cases = [
        (
            LikelihoodKind::Softmax(3),
            CurvatureFamily::Full,
            Coupling::Gram,
            20,
        ),
        (
            LikelihoodKind::Softmax(3),
            CurvatureFamily::Full,
            Coupling::BlockDiagonal,
            60,
        ),
        (
            LikelihoodKind::Bernoulli,
            CurvatureFamily::Diag,
            Coupling::Gram,
            20,
        ),
        (
            LikelihoodKind::Softmax(3),
            CurvatureFamily::Kfac,
            Coupling::BlockDiagonal,
            20,
        ),
        (
            LikelihoodKind::Gaussian,
            CurvatureFamily::Full,
            Coupling::Gram,
            20,
        ),
        (
            LikelihoodKind::Heteroscedastic,
            CurvatureFamily::Kfac,
            Coupling::Gram,
            20,
        ),
    ];
    for (task, family, coupling, batch) in cases {
        let classes = match task {
            LikelihoodKind::Softmax(classes) => classes,
            _ => 2,
        };
        let rows = |n, seed| {
            let digits = digits(n, classes, seed);
            let x = digits.features().slice(s![.., 300..312]).to_owned();
            Rows::new(x, digits.targets().to_owned()).unwrap()
        };
        let (train, validation) = (rows(120, 1), rows(40, 2));
        let given = ensemble_of(network.clone(), task, &train, &validation);
        let svn = newton(coupling, Metric::Curvature);
        for method in [Method::NewtonEnsemble(svn.clone().into()), Method::Svn(svn)] {
            let mut second = settings(method.clone(), network.clone(), task);
            second.curvature.family = family;
            second.batch_size = batch;
            second.curvature.root = CurvatureRoot::Exact;
            second.epochs = 1;
            let fit = fit_last_layer(&second, &given, &train, &validation, &mut ()).unwrap();

            let start = last_layer(given.network()).indices()[0];
            let whole = PosteriorSettings {
                batch_size: batch,
                prior_precision: second.prior_precision,
                curvature: CurvatureSettings {
                    part: CurvaturePart::LastLayer,
                    ..second.curvature
                },
                learn_noise: true,
                seed: second.seed,
                backend: Backend::default(),
            };
            let mut target = Embedded {
                whole: Posterior::new(given.network().clone(), given.likelihood(), &train, whole)
                    .unwrap(),
                frozen: given.particles().to_owned(),
                start,
            };
            let mut sampler = Sampler::new(method.clone()).unwrap();
            let last = given.particles().slice(s![.., start..]).to_owned();
            let mut state = sampler.init(last, second.seed).unwrap();
            for _ in 0..fit.step_times.len() {
                let _info = sampler.step(&mut state, &mut target).unwrap();
            }
            let what = format!("{} {task:?} {family:?} {coupling:?}", method.name());
            assert_eq!(
                (fit.history.len(), fit.best_epoch),
                (1, 1),
                "{what}: {:?}",
                fit.history
            );
            let found = fit.ensemble.particles();
            for (a, b) in found.slice(s![.., start..]).iter().zip(state.particles()) {
                assert_relative_eq!(a, b, epsilon = 1e-9);
            }
        }
    }
}

#[test]
fn what_does_not_fit_the_ensemble_is_named() {
    let network = NetworkSettings::Mlp {
        hidden: vec![5],
        activation: Activation::Tanh,
    };
    let (train, validation) = (digits(60, 2, 1), digits(20, 2, 2));
    let given = ensemble_of(
        network.clone(),
        LikelihoodKind::Bernoulli,
        &train,
        &validation,
    );
    let message = |change: &dyn Fn(&mut FitSettings)| {
        let method = Method::Svn(newton(Coupling::Gram, Metric::Identity));
        let mut second = settings(method, network.clone(), LikelihoodKind::Bernoulli);
        change(&mut second);
        let fit = fit_last_layer(&second, &given, &train, &validation, &mut ());
        fit.map(|fit| fit.history.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        message(&|s| s.curvature.part = CurvaturePart::LastLayer),
        Ok(2)
    );
    assert_eq!(
        message(&|s| s.particles = 4).unwrap_err(),
        "particles of a last-layer fit is 4; expected the ensemble's, 3"
    );
    let is_about = |change: &dyn Fn(&mut FitSettings), start: &str| {
        let message = message(change).unwrap_err();
        assert!(message.starts_with(start), "{message}");
    };
    is_about(
        &|s| s.likelihood = LikelihoodKind::Gaussian,
        "likelihood of a last-layer fit is Gaussian; expected the ensemble's, Bernoulli",
    );
    is_about(
        &|s| {
            s.network = NetworkSettings::Mlp {
                hidden: vec![6],
                activation: Activation::Tanh,
            }
        },
        "network of a last-layer fit is [Linear { inputs: 784, outputs: 6,",
    );
    is_about(
        &|s| {
            s.method = Method::LlSvn {
                newton: newton(Coupling::Gram, Metric::Identity),
                coordinates: last_layer(given.network()),
                rest: FirstOrder::adam(0.1),
            }
        },
        "method of a last-layer fit is ll-svn; expected one that moves all coordinates",
    );
}
