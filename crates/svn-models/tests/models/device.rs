//! The device of the settings is the one that is used; where there is CUDA, it agrees with the CPU.

use ndarray::{Array1, Array2};
use svn_linalg::multiply_each_into;
use svn_models::curvature::Activation;
use svn_models::fit::{FitSettings, LikelihoodKind, Start, fit};
use svn_models::network::{NetworkSettings, initial_particles};
use svn_models::posterior::{
    CurvatureFamily, CurvatureRoot, CurvatureSettings, Posterior, PosteriorSettings,
};
use svn_models::stein::{
    Coupling, Curved, Damping, KernelSettings, Method, Metric, Newton, Rate, Sampler,
};
use svn_models::{Device, Likelihood, Members, Rows};

const CLASSES: usize = 3;

fn images(rows: usize, shift: f64) -> Rows {
    let x = Array2::from_shape_fn((rows, 784), |(i, j)| {
        let (class, pixel) = ((i % CLASSES) as f64, j as f64);
        ((1.0 + class) * 0.11 * pixel + shift * i as f64).sin()
    });
    Rows::new(x, Array1::from_shape_fn(rows, |i| (i % CLASSES) as f64)).unwrap()
}

fn curvature(family: CurvatureFamily) -> CurvatureSettings {
    CurvatureSettings {
        family,
        root: CurvatureRoot::Sampled(1),
        ring: 2,
        ..CurvatureSettings::default()
    }
}

fn method() -> Method {
    Method::Svn(Newton {
        kernel: KernelSettings {
            metric: Metric::Curvature,
            ..KernelSettings::default()
        },
        coupling: Coupling::BlockDiagonal,
        rate: Rate::constant(0.3),
        damping: Damping::Constant(10.0),
        trust_region: Some(5.0),
        ..Newton::plain()
    })
}

fn settings(device: Device) -> FitSettings {
    FitSettings {
        particles: 2,
        epochs: 1,
        batch_size: 8,
        curvature: curvature(CurvatureFamily::Diag),
        device,
        seed: 1,
        ..FitSettings::new(
            method(),
            NetworkSettings::LeNet {
                activation: Activation::Relu,
            },
            LikelihoodKind::Softmax(CLASSES),
        )
    }
}

/// Scores, curvature products with a fixed vector, the particles after a step, and logits; all of one network on `device`.
fn one_step(device: Device, family: CurvatureFamily) -> Vec<(&'static str, Array2<f64>)> {
    let fitted = settings(device);
    let backend = fitted.backend();
    let network = fitted.build_network(784).unwrap();
    let softmax = Likelihood::Softmax { classes: CLASSES };
    let data = images(24, 0.3);
    let particles = initial_particles(&network, 2, 1);
    let posterior = || {
        let settings = PosteriorSettings {
            batch_size: 8,
            prior_precision: 1.0,
            curvature: curvature(family),
            learn_noise: false,
            seed: 3,
            backend,
        };
        Posterior::new(network.clone(), softmax, &data, settings).unwrap()
    };
    let mut target = posterior();
    let (mut density, mut score) = (Array1::zeros(2), Array2::zeros(particles.raw_dim()));
    let curvature = target
        .curvature_into(particles.view(), density.view_mut(), score.view_mut())
        .unwrap();
    let u = Array2::from_shape_fn(particles.raw_dim(), |(p, i)| ((p + i) as f64 * 0.37).sin());
    let mut product = Array2::zeros(particles.raw_dim());
    multiply_each_into(&*curvature, 0.0, u.view(), product.view_mut());
    assert_eq!(
        curvature.low_rank().is_some(),
        family == CurvatureFamily::Full
    );
    drop(curvature);
    let mut sampler = Sampler::new(method()).unwrap();
    let mut state = sampler.init(particles.clone(), 1).unwrap();
    let _info = sampler.step(&mut state, &mut posterior()).unwrap();
    let ensemble = Members::new(network, softmax, particles, backend).unwrap();
    let logits = ensemble
        .predict_classes(data.features())
        .unwrap()
        .mean_logit();
    vec![
        ("score", score),
        ("curvature product", product),
        ("particles", state.particles().to_owned()),
        ("logits", logits),
    ]
}

/// Single precision carries 6e-8; sums of up to 10⁴ terms in another order over six layers keep four digits of the largest.
fn assert_close(found: &[(&str, Array2<f64>)], expected: &[(&str, Array2<f64>)], what: &str) {
    for ((name, a), (_, b)) in found.iter().zip(expected) {
        let largest = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (a, b) in a.iter().zip(b) {
            assert!(
                (a - b).abs() <= 1e-4 * largest,
                "{what}, {name}: {a} {b} of {largest}"
            );
        }
    }
}

const FAMILIES: [CurvatureFamily; 3] = [
    CurvatureFamily::Diag,
    CurvatureFamily::Kfac,
    CurvatureFamily::Full,
];

/// Everything that runs on a device, asked for by name; and the second time it is the same.
#[test]
fn a_step_runs_on_the_device_that_is_named() {
    let device: Device = "cpu".parse().unwrap();
    for family in FAMILIES {
        let found = one_step(device, family);
        assert!(
            found
                .iter()
                .all(|(_, values)| values.iter().all(|v| v.is_finite()))
        );
        assert_eq!(found, one_step(Device::Cpu, family));
    }
}

#[test]
fn cuda_agrees_with_the_cpu_where_it_is_there() {
    let Device::Cuda(index) = Device::auto() else {
        // Printed past the capture of the test harness.
        use std::io::Write as _;
        let _ = writeln!(
            std::io::stderr(),
            "skipped: no CUDA device here to compare the CPU with"
        );
        return;
    };
    for family in FAMILIES {
        let cuda = one_step(Device::Cuda(index), family);
        assert_close(
            &cuda,
            &one_step(Device::Cpu, family),
            &format!("{family:?}"),
        );
    }
    let data = (images(48, 0.3), images(24, 0.7));
    let train = |device| fit(&settings(device), &data.0, &data.1, Start::Seed, &mut ()).unwrap();
    let (cuda, cpu) = (train(Device::Cuda(index)), train(Device::Cpu));
    let (a, b) = (
        cuda.history[0].validation_nll.unwrap(),
        cpu.history[0].validation_nll.unwrap(),
    );
    assert!((a - b).abs() < 1e-2, "{a} {b} after six steps");
}

#[test]
fn a_device_that_is_not_there_is_refused_before_any_work() {
    let absent = Device::Cuda(1_000);
    let (train, validation) = (images(24, 0.3), images(9, 0.7));
    let error = fit(&settings(absent), &train, &validation, Start::Seed, &mut ()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("device cuda:1000 was asked for; libtorch finds "),
        "{message}"
    );
}

/// The CPU is not written down: settings of before read and look the same.
#[test]
fn settings_hold_the_device_by_name() {
    let cpu = serde_json::to_value(settings(Device::Cpu)).unwrap();
    assert!(cpu.get("device").is_none());
    assert_eq!(
        serde_json::from_value::<FitSettings>(cpu).unwrap(),
        settings(Device::Cpu)
    );
    let mut cuda = serde_json::to_value(settings(Device::Cuda(2))).unwrap();
    assert_eq!(cuda["device"], "cuda:2");
    cuda["device"] = "auto".into();
    let auto = serde_json::from_value::<FitSettings>(cuda.clone()).unwrap();
    assert_eq!(auto.device, Device::auto());
    cuda["device"] = "tpu".into();
    let error = serde_json::from_value::<FitSettings>(cuda)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("device is tpu; expected cpu, cuda, cuda:INDEX or auto"),
        "{error}"
    );
}
