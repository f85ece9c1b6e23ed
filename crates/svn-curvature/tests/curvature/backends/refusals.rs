//! What a backend cannot do is an error that says what and why, the same on both.

use ndarray::{Array2, Array4};
use svn_curvature::{
    Backend, BackendKind, Conv2d, CurvatureError, Device, Layer, Precision, Sequential,
};

use crate::common::{backends, cases, normal};

fn convolution() -> Sequential {
    let layers = vec![
        Layer::Conv2d(Conv2d::new(1, 2, [2, 2])),
        Layer::Flatten,
        Layer::linear(8, 2),
    ];
    Sequential::new(&[1, 3, 3], layers).unwrap()
}

fn perceptron() -> Sequential {
    let layers = vec![
        Layer::linear(4, 5),
        Layer::relu(),
        Layer::linear(5, 5),
        Layer::relu(),
        Layer::linear(5, 2),
    ];
    Sequential::new(&[4], layers).unwrap()
}

fn refused(backend: Backend, network: &Sequential) -> CurvatureError {
    let x = Array2::zeros((2, network.inputs()));
    let error = backend.samples(network, x.view()).unwrap_err();
    assert_eq!(
        error.to_string(),
        backend.resolve(network).unwrap_err().to_string()
    );
    error
}

#[test]
fn the_native_backend_names_the_layer_it_does_not_have() {
    let error = refused(Backend::native(), &convolution());
    assert!(matches!(error, CurvatureError::NotNative { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "the native backend has no layer 0 (Conv2d); take the backend torch, or auto"
    );
}

#[test]
fn the_native_backend_is_on_the_cpu() {
    let backend = Backend {
        device: Device::Cuda(1),
        ..Backend::native()
    };
    let error = refused(backend, &perceptron());
    assert!(
        matches!(
            error,
            CurvatureError::NotOnCpu {
                found: Device::Cuda(1)
            }
        ),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "the native backend is on the CPU; for device cuda:1 take the backend torch, or auto"
    );
}

#[cfg(feature = "torch")]
#[test]
fn auto_is_native_where_it_can_and_libtorch_elsewhere() {
    let auto = Backend::default();
    assert_eq!(auto.resolve(&perceptron()).unwrap(), BackendKind::Native);
    assert_eq!(auto.resolve(&convolution()).unwrap(), BackendKind::Torch);
    assert_eq!(
        Backend::torch().resolve(&perceptron()).unwrap(),
        BackendKind::Torch
    );
    let (network, x) = (convolution(), normal((2, 9), 1.0, 1));
    let params = normal((1, network.layout().dim()), 1.0, 2);
    let forward = |backend: Backend| {
        let samples = backend.samples(&network, x.view()).unwrap();
        samples.forward(&network, params.view()).unwrap()
    };
    assert_eq!(forward(auto), forward(Backend::torch()));
}

#[cfg(not(feature = "torch"))]
#[test]
fn what_needs_libtorch_says_how_to_build_it() {
    let on_cuda = Backend {
        device: Device::Cuda(0),
        ..Backend::default()
    };
    for (backend, network, what) in [
        (Backend::torch(), perceptron(), "backend torch"),
        (Backend::default(), convolution(), "layer 0 (Conv2d)"),
        (Backend::torch(), convolution(), "layer 0 (Conv2d)"),
        (on_cuda, perceptron(), "device cuda:0"),
    ] {
        let error = refused(backend, &network);
        assert!(
            matches!(error, CurvatureError::TorchNotBuilt { .. }),
            "{error}"
        );
        assert_eq!(
            error.to_string(),
            format!("{what} needs libtorch, which is not built in; build with `--features torch`")
        );
    }
    assert_eq!(
        Backend::default().resolve(&perceptron()).unwrap(),
        BackendKind::Native
    );
}

#[test]
fn kinds_are_read_as_they_are_written() {
    for kind in [BackendKind::Auto, BackendKind::Native, BackendKind::Torch] {
        assert_eq!(kind.to_string().parse::<BackendKind>().unwrap(), kind);
    }
    assert_eq!(
        "cuda".parse::<BackendKind>().unwrap_err().to_string(),
        "backend is cuda; expected auto, native or torch"
    );
}

/// On each backend and in each precision; several particles are at fault, the first is named, and its first layer.
#[test]
fn numbers_that_are_not_finite_are_named_alike() {
    let network = perceptron();
    let x = normal((3, 4), 1.0, 1);
    let params = normal((4, network.layout().dim()), 1.0, 2);
    let (last, middle) = (network.layout().dim() - 1, 25 + 7);
    let with = |entries: &[(usize, usize, f64)]| {
        let mut params = params.clone();
        entries
            .iter()
            .for_each(|&(p, at, value)| params[[p, at]] = value);
        params
    };
    for backend in backends() {
        for precision in [Precision::Double, Precision::Single] {
            let backend = Backend {
                precision,
                ..backend
            };
            let samples = backend.samples(&network, x.view()).unwrap();
            let check = |params: &Array2<f64>, message: &str| {
                let forward = samples.forward(&network, params.view()).unwrap_err();
                let linearize = samples.linearize(&network, params.view()).unwrap_err();
                let through = samples.through(&network, params.view()).unwrap_err();
                for error in [forward, linearize, through] {
                    assert_eq!(error.to_string(), message, "{backend:?}");
                }
            };
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                check(
                    &with(&[(1, last, value), (2, middle, value), (3, middle, value)]),
                    "parameter of particle 2 not finite at layer 2 (Linear)",
                );
                let mut bad = x.clone();
                bad[[1, 2]] = value;
                bad[[2, 0]] = value;
                let error = backend.samples(&network, bad.view()).unwrap_err();
                assert_eq!(error.to_string(), "input row 1 of the batch is not finite");
            }
            // Finite parameters whose outputs are not: particle 1 at the second layer, particle 2 at the first. 3e38 is
            // below the largest f32.
            let large = match precision {
                Precision::Double => 1.7e308,
                Precision::Single => 3e38,
            };
            let mut bad = params.clone();
            for at in 25..50 {
                bad[[1, at]] = large;
            }
            for at in 0..20 {
                bad[[2, at]] = large;
            }
            check(&bad, "output of particle 1 not finite at layer 2 (Linear)");
            let linear = samples.linearize(&network, params.view()).unwrap();
            let mut root = Array4::from_elem((4, 3, 2, 1), 1.0);
            root[[2, 0, 1, 0]] = f64::NAN;
            root[[3, 0, 0, 0]] = f64::NAN;
            let r = root.index_axis(ndarray::Axis(3), 0);
            for error in [
                linear.vjp(r).unwrap_err(),
                linear.rows(root.view()).unwrap_err(),
            ] {
                let message = "gradient of particle 2 not finite at layer 0 (Linear)";
                assert_eq!(error.to_string(), message, "{backend:?}");
            }
        }
    }
}

#[test]
fn samples_of_each_particle_fit_that_many_particles_and_their_width() {
    for case in cases(3) {
        let features = case
            .samples()
            .through(&case.network, case.params.view())
            .unwrap();
        let network = Sequential::new(&[3], vec![Layer::linear(3, 1)]).unwrap();
        let error = features
            .forward(&network, Array2::zeros((2, 4)).view())
            .unwrap_err();
        assert!(
            error.to_string().contains("sets = 3"),
            "{}: {error}",
            case.name
        );
        let wide = Sequential::new(&[4], vec![Layer::linear(4, 1)]).unwrap();
        let error = features
            .forward(&wide, Array2::zeros((3, 5)).view())
            .unwrap_err();
        assert!(
            error.to_string().contains("= 4, found [3]"),
            "{}: {error}",
            case.name
        );
        let error = features.select(&[0, 4]).unwrap_err();
        assert!(
            matches!(error, CurvatureError::OutOfRange { .. }),
            "{error}"
        );
        let linear = features
            .linearize(&network, Array2::zeros((3, 4)).view())
            .unwrap();
        for count in [0, 5] {
            let error = linear.first_samples(count).unwrap_err();
            assert!(matches!(error, CurvatureError::Shape { .. }), "{error}");
        }
    }
}
