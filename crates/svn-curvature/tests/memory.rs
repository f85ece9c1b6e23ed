//! Gradient, diagonal and Kronecker factors never hold a per-sample, per-output array of all parameters.

use ndarray::{Array, Array2, Dimension, IntoDimension};
use svn_curvature::{
    Accumulate, Backend, DiagAccumulator, EkfacAccumulator, KfacAccumulator, Layer, Loss,
    Sequential, set_torch_threads,
};

/// Peak resident memory of this process in bytes, where the system tells it. The only test of this binary: others in the
/// same process would count.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

const PARTICLES: usize = 2;
const SAMPLES: usize = 64;
const CLASSES: usize = 10;

fn perceptron() -> Sequential {
    let layers = vec![
        Layer::linear(100, 200),
        Layer::relu(),
        Layer::linear(200, 200),
        Layer::relu(),
        Layer::linear(200, CLASSES),
    ];
    Sequential::new(&[100], layers).unwrap()
}

#[cfg(feature = "torch")]
fn lenet() -> Sequential {
    use svn_curvature::{Conv2d, Pool2d};
    let layers = vec![
        Layer::Conv2d(Conv2d::new(1, 6, [5, 5]).padding([2, 2])),
        Layer::relu(),
        Layer::MaxPool2d(Pool2d::new([2, 2])),
        Layer::Conv2d(Conv2d::new(6, 16, [5, 5])),
        Layer::relu(),
        Layer::MaxPool2d(Pool2d::new([2, 2])),
        Layer::Flatten,
        Layer::linear(400, 120),
        Layer::relu(),
        Layer::linear(120, 84),
        Layer::relu(),
        Layer::linear(84, CLASSES),
    ];
    Sequential::new(&[1, 28, 28], layers).unwrap()
}

fn waves<D: IntoDimension>(shape: D, scale: f64) -> Array<f64, D::Dim> {
    let shape = shape.into_dimension();
    let values = (0..shape.size()).map(|i| scale * (i as f64 * 12.9898).sin());
    Array::from_shape_vec(shape, values.collect()).unwrap()
}

fn check(name: &str, backend: Backend, network: &Sequential) {
    let d = network.layout().dim();
    let params: Array2<f64> = waves((PARTICLES, d), 0.1);
    let x: Array2<f64> = waves((SAMPLES, network.inputs()), 1.0);
    let samples = backend.samples(network, x.view()).unwrap();
    let lin = samples.linearize(network, params.view()).unwrap();
    let root = Loss::Categorical.root(lin.outputs()).unwrap();
    // The first calls load and warm the libraries.
    let _ = lin.vjp(lin.outputs()).unwrap();
    let Some(before) = peak() else { return };

    let _ = lin.vjp(lin.outputs()).unwrap();
    let mut diag = DiagAccumulator::new(&*lin);
    diag.accumulate(&*lin, root.view()).unwrap();
    let mut kfac = KfacAccumulator::new(&*lin);
    kfac.accumulate(&*lin, root.view()).unwrap();
    let kfac = kfac.finish().unwrap();
    let mut ekfac = EkfacAccumulator::new(&kfac);
    ekfac.accumulate(&*lin, root.view()).unwrap();

    let grown = peak().unwrap() - before;
    let jacobian = PARTICLES * SAMPLES * CLASSES * d * size_of::<f64>();
    assert!(
        grown < jacobian / 4,
        "{name}: {} MB, the per-sample Jacobian has {} MB",
        grown >> 20,
        jacobian >> 20
    );
}

#[test]
fn networks_need_a_fraction_of_the_per_sample_jacobian() {
    set_torch_threads(1);
    check("perceptron", Backend::native(), &perceptron());
    #[cfg(feature = "torch")]
    {
        check("LeNet", Backend::torch(), &lenet());
        check("perceptron by libtorch", Backend::torch(), &perceptron());
    }
}
