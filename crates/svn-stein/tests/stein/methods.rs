//! One case table, one protocol for all methods; settings, schedules and the driver.

use crate::common::cases::*;
use crate::common::*;
use ndarray::{Array2, array, s};
use svn_stein::{
    Annealing, Bandwidth, Damping, FirstOrder, Flow, Info, Kernel, KernelSettings, KernelWarning,
    Method, Newton, Rate, Sampler, Schedule, ScoreOnly, State, SteinError, Stop, StopReason, run,
};

#[test]
fn protocol_holds_for_every_method() {
    let start = normals(2, (6, 3)) * 2.0;
    for (name, method) in cases() {
        let (state, infos) = collect(&method, &start, 12);
        assert_eq!(state.step(), 12, "{name}");
        let (first, last) = (&infos[0], &infos[11]);
        assert!(
            last.mean_log_density > first.mean_log_density,
            "{name}: the log density does not rise"
        );
        assert_eq!(first.log_density.len(), 6, "{name}");
        assert!(
            infos
                .iter()
                .all(|i| i.rejected.is_empty() && i.spread.is_finite()),
            "{name}"
        );
        assert_eq!(
            first.kernel.is_some(),
            !matches!(method, Method::Ensemble { .. } | Method::NewtonEnsemble(_)),
            "{name}"
        );
        let newton = method.newton().is_some()
            || matches!(
                method,
                Method::NewtonEnsemble(_) | Method::FunctionSvn { .. }
            );
        assert_eq!(first.solve.is_some(), newton, "{name}");
        if let Some(kernel) = first.kernel {
            assert!(
                kernel.min <= kernel.mean && kernel.mean <= kernel.max && kernel.bandwidth > 0.0,
                "{name}"
            );
        }

        // The same again, and cut in two with the state written out and a fresh sampler: the same bytes.
        let (again, _) = collect(&method, &start, 12);
        assert_eq!(state, again, "{name}: not deterministic");
        let (half, _) = collect(&method, &start, 5);
        let text = serde_json::to_string(&half).unwrap();
        let mut resumed: State = serde_json::from_str(&text).unwrap();
        assert_eq!(half, resumed, "{name}: serialisation loses something");
        let mut sampler = Sampler::new(method.clone()).unwrap();
        run(
            &mut sampler,
            &mut resumed,
            &mut gaussian(),
            Stop::after(12),
            &mut [],
        )
        .unwrap();
        assert_eq!(state, resumed, "{name}: a resumed run differs");

        // Settings survive serialisation.
        let text = serde_json::to_string(&method).unwrap();
        assert_eq!(method, serde_json::from_str(&text).unwrap(), "{name}");

        // Any number of threads.
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let (threaded, _) = pool.install(|| collect(&method, &start, 12));
            assert_eq!(state, threaded, "{name}: {threads} threads differ");
        }
    }
}

#[test]
fn kernel_health_warns_of_kernels_that_do_nothing() {
    let start = normals(1, (4, 3));
    for (h, expected) in [
        (1e-2 * 0.01, Some(KernelWarning::Identity)),
        (1e4, Some(KernelWarning::Constant)),
        (5.0, None),
        (300.0, Some(KernelWarning::Negligible)),
    ] {
        let kernel = KernelSettings {
            bandwidth: Bandwidth::Fixed(h),
            ..KernelSettings::default()
        };
        let (_, infos) = collect(
            &Method::Svgd {
                kernel,
                step: FirstOrder::plain(0.01),
            },
            &start,
            1,
        );
        let health = infos[0].kernel.unwrap();
        assert_eq!(health.warning, expected, "{health:?}");
        assert_eq!(
            health.repulsion_ratio > 1e-12,
            expected != Some(KernelWarning::Identity),
            "{health:?}"
        );
    }
    let (_, infos) = collect(&cases()[2].1, &start.slice(s![..1, ..]).to_owned(), 1);
    assert_eq!(
        infos[0].kernel.unwrap().warning,
        None,
        "one particle has nothing to be warned of"
    );
}

#[test]
fn identical_particles_stay_finite_and_together() {
    let start = Array2::from_elem((4, 3), 1.5);
    for (name, method) in cases() {
        let (state, _) = collect(&method, &start, 3);
        assert!(state.particles().iter().all(|x| x.is_finite()), "{name}");
    }
}

#[test]
fn bad_settings_and_inputs_are_typed_errors() {
    let setting = |method: Method| match Sampler::new(method).unwrap_err() {
        SteinError::Setting { name, .. } => name,
        other => panic!("{other}"),
    };
    assert_eq!(
        setting(Method::Ensemble {
            step: FirstOrder::plain(-1.0)
        }),
        "rate.initial"
    );
    let bad = Newton {
        trust_region: Some(0.0),
        ..Newton::plain()
    };
    assert_eq!(setting(Method::Svn(bad)), "trust_region");
    let bad = Newton {
        damping: Damping::Adaptive {
            initial: 1.0,
            min: 2.0,
            max: 3.0,
        },
        ..Newton::plain()
    };
    assert_eq!(setting(Method::Svn(bad)), "damping.adaptive.initial");

    let mut sampler = Sampler::new(Method::Svn(Newton::plain())).unwrap();
    assert!(matches!(
        sampler.init(Array2::zeros((0, 3)), 0),
        Err(SteinError::Empty { .. })
    ));
    let error = sampler.init(array![[0.0], [f64::NAN]], 0).unwrap_err();
    assert!(
        matches!(error, SteinError::NonFinite { particle: 1, .. }),
        "{error}"
    );
    let mut state = sampler.init(Array2::zeros((2, 5)), 0).unwrap();
    assert!(matches!(
        sampler.step(&mut state, &mut gaussian()),
        Err(SteinError::Shape { .. })
    ));
    let mut state = sampler.init(Array2::zeros((2, 3)), 0).unwrap();
    let error = sampler
        .step(&mut state, &mut ScoreOnly(gaussian()))
        .unwrap_err();
    assert!(error.to_string().contains("curvature"), "{error}");
}

#[test]
fn the_driver_stops_for_each_of_its_reasons() {
    let method = Method::Svn(Newton {
        kernel: KernelSettings {
            kernel: Kernel::Delta,
            ..KernelSettings::default()
        },
        ..Newton::plain()
    });
    let mut sampler = Sampler::new(method).unwrap();
    let start = normals(1, (3, 3));
    let mut state = sampler.init(start.clone(), 0).unwrap();
    let reason = run(
        &mut sampler,
        &mut state,
        &mut gaussian(),
        Stop::after(50).or_step_below(1e-9),
        &mut [],
    )
    .unwrap();
    assert_eq!((reason, state.step() < 10), (StopReason::StepSize, true));
    let mut state = sampler.init(start, 0).unwrap();
    let mut stop = |_: &mut State, info: &Info| {
        Ok(if info.step == 2 {
            Flow::Stop
        } else {
            Flow::Continue
        })
    };
    let reason = run(
        &mut sampler,
        &mut state,
        &mut gaussian(),
        Stop::after(50),
        &mut [&mut stop],
    )
    .unwrap();
    assert_eq!((reason, state.step()), (StopReason::Observer, 2));
}

#[test]
fn annealing_rises_to_one() {
    let cyclical = Annealing::Cyclical {
        steps: 100,
        cycles: 4,
        power: 2.0,
    };
    assert_eq!(
        (cyclical.at(0), cyclical.at(25), cyclical.at(100)),
        (0.0, 0.0, 1.0)
    );
    assert!((cyclical.at(20) - 0.64).abs() < 1e-12);
    let hyperbolic = Annealing::Hyperbolic {
        steps: 10,
        power: 1.0,
    };
    assert_eq!((hyperbolic.at(0), hyperbolic.at(10)), (0.0, 1.0));
    assert!((hyperbolic.at(5) - 0.65_f64.tanh()).abs() < 1e-12);
}

#[test]
fn schedules_and_rules_follow_their_formulas() {
    let cosine = Rate {
        initial: 2.0,
        schedule: Schedule::Cosine {
            steps: 10,
            floor: 0.1,
        },
    };
    assert!((cosine.at(0) - 2.0).abs() < 1e-15);
    assert!((cosine.at(5) - 2.0 * 0.55).abs() < 1e-15);
    assert!((cosine.at(50) - 0.2).abs() < 1e-15);
    let decay = Rate {
        initial: 1.0,
        schedule: Schedule::Decay {
            every: 3,
            factor: 0.5,
        },
    };
    assert_eq!([decay.at(2), decay.at(3), decay.at(8)], [1.0, 0.5, 0.25]);

    // Adam by hand on the score of a one-dimensional Gaussian, three steps.
    let mut target = Gaussian::new(array![0.0], array![[0.5_f64.sqrt()]], Kind::LowRank);
    let mut sampler = Sampler::new(Method::Ensemble {
        step: FirstOrder::adam(0.1),
    })
    .unwrap();
    let mut state = sampler.init(array![[3.0]], 0).unwrap();
    let (mut x, mut m, mut s) = (3.0_f64, 0.0, 0.0);
    for t in 1..=3 {
        sampler.step(&mut state, &mut target).unwrap();
        let v = -x;
        m = 0.9 * m + 0.1 * v;
        s = 0.999 * s + 0.001 * v * v;
        let (mh, sh) = (m / (1.0 - 0.9_f64.powi(t)), s / (1.0 - 0.999_f64.powi(t)));
        x += 0.1 * mh / (sh.sqrt() + 1e-8);
        assert!((state.particles()[(0, 0)] - x).abs() < 1e-12);
    }
}
