//! Rows and settings, a case for whatever carries something from step to step.

use ndarray::{Array1, Array2};
use svn_models::Rows;
use svn_models::curvature::Activation;
use svn_models::fit::{FitSettings, LikelihoodKind};
use svn_models::network::{NetworkSettings, last_layer};
use svn_models::posterior::{
    Context, ContextSettings, CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings,
};
use svn_models::stein::{
    Coupling, Damping, FirstOrder, FunctionRepulsion, KernelSettings, Method, Metric, Newton, Rate,
    Solver, StepRule,
};

pub(super) fn rows(n: usize, classes: usize, shift: f64) -> Rows {
    let x = Array2::from_shape_fn((n, 2), |(i, j)| {
        ((1 + j) as f64 * (0.7 * i as f64 + shift)).sin()
    });
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| x[0] * x[1] + 0.3 * x[0])
        .collect();
    let y = match classes {
        0 => y,
        c => y.mapv(|y| ((y + 1.0) * 50.0).floor().rem_euclid(c as f64)),
    };
    Rows::new(x, y).unwrap()
}

fn settings(method: Method, task: LikelihoodKind, curvature: CurvatureSettings) -> FitSettings {
    FitSettings {
        prior_precision: 0.5,
        particles: 3,
        epochs: 5,
        batch_size: 7,
        curvature,
        seed: 4,
        ..FitSettings::new(
            method,
            NetworkSettings::Mlp {
                hidden: vec![6, 5],
                activation: Activation::Tanh,
            },
            task,
        )
    }
}

fn newton(coupling: Coupling, damping: Damping) -> Newton {
    Newton {
        coupling,
        rate: Rate::cosine(0.3, 30),
        damping,
        trust_region: Some(2.0),
        ..Newton::plain()
    }
}

/// Whatever carries something from step to step: moments of three step rules, adaptive damping, noise of ssvn and of the
/// likelihood, averaged weights and fields, the four forms of curvature, drawn roots, batches and decompositions that are left out, iterative solvers.
pub(super) fn cases() -> Vec<(&'static str, FitSettings)> {
    let numbers = LikelihoodKind::Gaussian;
    let spread = LikelihoodKind::Heteroscedastic;
    let adaptive = Damping::Adaptive {
        initial: 10.0,
        min: 1e-3,
        max: 1e6,
    };
    let constant = Damping::Constant(10.0);
    let family = |family| CurvatureSettings {
        family,
        ring: 3,
        ..CurvatureSettings::default()
    };
    let kfac = CurvatureSettings {
        every: 2,
        refresh: 4,
        root: CurvatureRoot::Sampled(2),
        ..family(CurvatureFamily::Kfac)
    };
    let ekfac = CurvatureSettings {
        family: CurvatureFamily::Ekfac,
        ..kfac
    };
    let full = family(CurvatureFamily::Full);
    let plain = CurvatureSettings::default();
    let kernel = KernelSettings::default();
    let rms = FirstOrder {
        rule: StepRule::rms_prop(),
        rate: Rate::constant(0.01),
    };
    let adam = FirstOrder::adam(0.01);
    let svn = |coupling, damping| Method::Svn(newton(coupling, damping));
    let last = CurvatureSettings {
        part: CurvaturePart::LastLayer,
        ..full
    };
    // 4 × 3 × 64 rows are more than the last layer's parameters and more than are kept as rows.
    let matrix = CurvatureSettings { ring: 4, ..last };
    let ll = |task| {
        let any = settings(Method::Ensemble { step: adam }, task, plain);
        Method::LlSvn {
            newton: Newton {
                kernel: KernelSettings {
                    metric: Metric::Identity,
                    ..KernelSettings::default()
                },
                ..newton(Coupling::BlockDiagonal, constant)
            },
            coordinates: last_layer(&any.build_network(2).unwrap()),
            rest: adam,
        }
    };
    let cg = Method::Svn(Newton {
        solver: Solver::Cg {
            tolerance: 1e-8,
            max_iterations: 9,
        },
        ..newton(Coupling::Gram, constant)
    });
    let mut big = settings(
        ll(LikelihoodKind::Softmax(3)),
        LikelihoodKind::Softmax(3),
        matrix,
    );
    big.batch_size = 64;
    let mut averaged = settings(svn(Coupling::Gram, constant), spread, full);
    averaged.averaging = Some(0.5);
    vec![
        (
            "ensemble",
            settings(Method::Ensemble { step: adam }, numbers, plain),
        ),
        (
            "svgd",
            settings(Method::Svgd { kernel, step: rms }, spread, plain),
        ),
        (
            "svn rows",
            settings(svn(Coupling::Gram, adaptive), numbers, full),
        ),
        ("svn rows cg", settings(cg, spread, full)),
        ("svn averaged", averaged),
        (
            "svn student-t",
            settings(
                svn(Coupling::Gram, adaptive),
                LikelihoodKind::StudentT(4.0),
                full,
            ),
        ),
        (
            "svn ordinal",
            settings(svn(Coupling::Gram, constant), LikelihoodKind::Ordinal, full),
        ),
        (
            "svn mixture",
            settings(
                svn(Coupling::Gram, constant),
                LikelihoodKind::Mixture(3),
                CurvatureSettings {
                    root: CurvatureRoot::Sampled(1),
                    ..full
                },
            ),
        ),
        (
            "svn diag",
            settings(
                svn(Coupling::BlockDiagonal, adaptive),
                numbers,
                family(CurvatureFamily::Diag),
            ),
        ),
        (
            "svn kfac",
            settings(
                svn(Coupling::BlockRepulsion, constant),
                LikelihoodKind::Softmax(3),
                kfac,
            ),
        ),
        (
            "svn ekfac",
            settings(
                svn(Coupling::Gram, constant),
                LikelihoodKind::Softmax(3),
                ekfac,
            ),
        ),
        (
            "newton-ensemble, kept curvature",
            settings(
                Method::NewtonEnsemble(newton(Coupling::Gram, constant).into()),
                numbers,
                CurvatureSettings { every: 4, ..full },
            ),
        ),
        (
            "svn, kept curvature",
            settings(
                svn(Coupling::Gram, constant),
                numbers,
                CurvatureSettings { every: 4, ..full },
            ),
        ),
        (
            "newton-ensemble",
            settings(
                Method::NewtonEnsemble(newton(Coupling::Gram, adaptive).into()),
                numbers,
                full,
            ),
        ),
        (
            "newton-ensemble kfac",
            settings(
                Method::NewtonEnsemble(newton(Coupling::Gram, constant).into()),
                LikelihoodKind::Softmax(3),
                kfac,
            ),
        ),
        (
            "f-svn",
            settings(
                Method::FunctionSvn {
                    repulsion: FunctionRepulsion::default(),
                    newton: newton(Coupling::Gram, constant).into(),
                },
                spread,
                full,
            ),
        ),
        (
            "f-wgd perturbed",
            FitSettings {
                context: ContextSettings {
                    rows: 20,
                    kind: Context::Perturbed(0.5),
                },
                ..settings(
                    Method::FunctionWgd {
                        repulsion: FunctionRepulsion::default(),
                        step: FirstOrder::adam(0.02),
                    },
                    LikelihoodKind::Softmax(3),
                    full,
                )
            },
        ),
        (
            "ssvn",
            settings(Method::Ssvn(newton(Coupling::Gram, constant)), spread, full),
        ),
        (
            "svn with momentum",
            settings(
                Method::Svn(Newton {
                    momentum: 0.5,
                    ..newton(Coupling::Gram, constant)
                }),
                spread,
                ekfac,
            ),
        ),
        (
            "newton-ensemble noise bound",
            FitSettings {
                minibatch_noise: Some(1e-3),
                ..settings(
                    Method::NewtonEnsemble(
                        Newton {
                            rate: Rate::constant(0.3),
                            ..newton(Coupling::Gram, constant)
                        }
                        .into(),
                    ),
                    spread,
                    full,
                )
            },
        ),
        ("ll-svn rows", settings(ll(numbers), numbers, last)),
        ("ll-svn matrix", big),
    ]
}
