//! Every method in several settings, and helpers to run them on one Gaussian.
#![allow(dead_code, reason = "each test uses a part of it")]

use ndarray::{Array2, array};
use svn_stein::target::Curvature;
use svn_stein::{
    Annealing, Bandwidth, Coordinates, Coupling, Damping, DensityEstimator, FirstOrder, Flow,
    FunctionRepulsion, Info, Kernel, KernelSettings, Method, Metric, Newton, NewtonEnsemble, Rate,
    Sampler, Schedule, State, StepRule, Stop, run,
};

use super::{COUPLINGS, Gaussian, Kind};

pub(crate) fn newton(coupling: Coupling, metric: Metric) -> Newton {
    Newton {
        coupling,
        kernel: KernelSettings {
            metric,
            ..KernelSettings::default()
        },
        ..Newton::plain()
    }
}

/// Every method in several settings, with a rate at which it settles on a well-scaled Gaussian.
pub(crate) fn cases() -> Vec<(String, Method)> {
    let kernel = KernelSettings::default();
    let rms = FirstOrder {
        rule: StepRule::rms_prop(),
        rate: Rate::constant(0.05),
    };
    let adam = FirstOrder {
        rule: StepRule::adam(),
        rate: Rate {
            initial: 0.1,
            schedule: Schedule::Cosine {
                steps: 100,
                floor: 0.1,
            },
        },
    };
    let mut cases = vec![
        (
            "ensemble".to_owned(),
            Method::Ensemble {
                step: FirstOrder::plain(0.1),
            },
        ),
        ("ensemble adam".to_owned(), Method::Ensemble { step: adam }),
        (
            "svgd".to_owned(),
            Method::Svgd {
                kernel: kernel.clone(),
                step: FirstOrder::plain(0.2),
            },
        ),
        (
            "svgd rmsprop".to_owned(),
            Method::Svgd {
                kernel: kernel.clone(),
                step: rms,
            },
        ),
        (
            "svgd imq curvature".to_owned(),
            Method::Svgd {
                kernel: KernelSettings {
                    kernel: Kernel::Imq,
                    metric: Metric::Curvature,
                    bandwidth: Bandwidth::Dimension,
                },
                step: adam,
            },
        ),
        (
            "wgd kde".to_owned(),
            Method::Wgd {
                kernel: kernel.clone(),
                estimator: DensityEstimator::Kde,
                step: FirstOrder::plain(0.05),
            },
        ),
        (
            "wgd sge".to_owned(),
            Method::Wgd {
                kernel,
                estimator: DensityEstimator::Sge { ridge: 0.1 },
                step: FirstOrder::plain(0.05),
            },
        ),
    ];
    for coupling in COUPLINGS {
        let mut settings = newton(coupling, Metric::Curvature);
        settings.rate = Rate::constant(0.5);
        settings.trust_region = Some(1.0);
        settings.damping = Damping::Constant(0.1);
        cases.push((format!("svn {coupling:?}"), Method::Svn(settings.clone())));
        settings.damping = Damping::Adaptive {
            initial: 1.0,
            min: 1e-6,
            max: 1e6,
        };
        cases.push((format!("svn adaptive {coupling:?}"), Method::Svn(settings)));
    }
    for (name, settings) in [
        ("newton-ensemble", NewtonEnsemble::default()),
        ("newton-ensemble plain", NewtonEnsemble::plain()),
    ] {
        cases.push((name.to_owned(), Method::NewtonEnsemble(settings)));
    }
    let repulsion = FunctionRepulsion::default();
    cases.push((
        "f-svn".to_owned(),
        Method::FunctionSvn {
            repulsion: repulsion.clone(),
            newton: NewtonEnsemble::default(),
        },
    ));
    cases.push((
        "f-wgd".to_owned(),
        Method::FunctionWgd {
            repulsion,
            step: FirstOrder::plain(0.05),
        },
    ));
    let kernel = KernelSettings::default();
    let annealing = Annealing::Cyclical {
        steps: 8,
        cycles: 2,
        power: 2.0,
    };
    let step = FirstOrder::plain(0.2);
    cases.push((
        "annealed svgd".to_owned(),
        Method::AnnealedSvgd {
            kernel,
            annealing,
            step,
        },
    ));
    for coordinates in [
        Coordinates::Range { start: 1, end: 3 },
        Coordinates::Indices(vec![0, 2]),
    ] {
        let settings = newton(Coupling::Gram, Metric::Curvature);
        cases.push((
            format!("ll-svn {coordinates:?}"),
            Method::LlSvn {
                newton: Newton {
                    rate: Rate::constant(0.5),
                    ..settings
                },
                coordinates,
                rest: FirstOrder::adam(0.05),
            },
        ));
    }
    let settings = newton(Coupling::BlockRepulsion, Metric::Identity);
    cases.push((
        "ssvn".to_owned(),
        Method::Ssvn(Newton {
            rate: Rate::constant(0.2),
            ..settings
        }),
    ));
    cases.push((
        "svn none".to_owned(),
        Method::Svn(Newton {
            kernel: KernelSettings {
                kernel: Kernel::Delta,
                ..KernelSettings::default()
            },
            ..Newton::plain()
        }),
    ));
    cases
}

pub(crate) fn gaussian() -> Gaussian {
    Gaussian::new(
        array![1.0, -2.0, 0.5],
        array![[0.8, 0.1, 0.0], [0.0, 0.6, -0.3]],
        Kind::LowRank,
    )
}

pub(crate) fn collect(method: &Method, start: &Array2<f64>, steps: u64) -> (State, Vec<Info>) {
    let mut sampler = Sampler::new(method.clone()).unwrap();
    let mut state = sampler.init(start.clone(), 3).unwrap();
    let mut infos = Vec::new();
    let mut record = |_: &mut State, info: &Info| {
        infos.push(info.clone());
        Ok(Flow::Continue)
    };
    run(
        &mut sampler,
        &mut state,
        &mut gaussian(),
        Stop::after(steps),
        &mut [&mut record],
    )
    .unwrap();
    (state, infos)
}
