//! Gradient, diagonal and Kronecker factors never hold a per-sample, per-output array of all parameters.

use svn_curvature::{
    Accumulate, Conv2d, DiagAccumulator, EkfacAccumulator, KfacAccumulator, Layer, Loss, Pool2d,
    Sequential,
};
use tch::{Device, Kind, Tensor};

/// Peak resident memory of this process in bytes, where the system tells it. The only test of this binary: others in the
/// same process would count.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

#[test]
fn lenet_needs_a_fraction_of_the_per_sample_jacobian() {
    tch::set_num_threads(1);
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
        Layer::linear(84, 10),
    ];
    let network = Sequential::new(&[1, 28, 28], layers).unwrap();
    let (n, b, c, d) = (2, 64, 10, 61_706);
    assert_eq!(network.layout().dim(), d);
    let waves = |shape: &[i64], scale: f64| {
        let count = shape.iter().product::<i64>();
        (Tensor::arange(count, (Kind::Double, Device::Cpu)) * 12.9898)
            .sin()
            .view(shape)
            * scale
    };
    let params = waves(&[n, d as i64], 0.1);
    let x = waves(&[b, 1, 28, 28], 1.0);
    let lin = network.linearize(&params, &x).unwrap();
    let root = Loss::Categorical.root(lin.outputs()).unwrap();
    // The first calls load and warm the libraries.
    let _ = lin.vjp(lin.outputs()).unwrap();
    let Some(before) = peak() else { return };

    let _ = lin.vjp(lin.outputs()).unwrap();
    let mut diag = DiagAccumulator::new(&lin).unwrap();
    diag.accumulate(&lin, &root).unwrap();
    let mut kfac = KfacAccumulator::new(&lin).unwrap();
    kfac.accumulate(&lin, &root).unwrap();
    let kfac = kfac.finish().unwrap();
    let mut ekfac = EkfacAccumulator::new(&kfac).unwrap();
    ekfac.accumulate(&lin, &root).unwrap();

    let grown = peak().unwrap() - before;
    let jacobian = (n * b * c) as usize * d * size_of::<f64>();
    assert!(
        grown < jacobian / 4,
        "{} MB, the per-sample Jacobian has {} MB",
        grown >> 20,
        jacobian >> 20
    );
}
