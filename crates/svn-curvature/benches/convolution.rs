//! LeNet for five particles at once, 128 images, f32, one thread: forward pass and gradient of all parameters, by
//! `Linearized` and by libtorch's autograd on the same grouped convolutions. Both are checked to give the same gradient.
//! Then the diagonal curvature, ten exact root columns, beside the first. The best of many runs, taken in turn.

use std::time::Instant;

use ndarray::{Array, Array2, Dimension, IntoDimension};
use svn_curvature::{
    Activation, Backend, Conv2d, Layer, Loss, Pool2d, Precision, Sequential, set_torch_threads,
};
use tch::{Kind, Tensor};

const PARTICLES: i64 = 5;
const BATCH: i64 = 128;

fn lenet(activation: Activation) -> Sequential {
    let act = || Layer::Activation(activation);
    let pool = || Layer::MaxPool2d(Pool2d::new([2, 2]));
    let layers = vec![
        Layer::Conv2d(Conv2d::new(1, 6, [5, 5]).padding([2, 2])),
        act(),
        pool(),
        Layer::Conv2d(Conv2d::new(6, 16, [5, 5])),
        act(),
        pool(),
        Layer::Flatten,
        Layer::linear(400, 120),
        act(),
        Layer::linear(120, 84),
        act(),
        Layer::linear(84, 10),
    ];
    Sequential::new(&[1, 28, 28], layers).unwrap()
}

/// The same network on convolutions with the particles as groups.
fn grouped(activation: Activation, params: &Tensor, x: &Tensor) -> Tensor {
    let mut start = 0;
    let mut take = |shape: &[i64]| {
        let count: i64 = shape.iter().product();
        start += count;
        let shape = [&[PARTICLES], shape].concat();
        params.narrow(1, start - count, count).reshape(shape)
    };
    let act = |h: Tensor| match activation {
        Activation::Relu => h.relu(),
        _ => h.sigmoid(),
    };
    let n = PARTICLES;
    let mut convolution = |h: Tensor, inputs: i64, outputs: i64, padding: i64, groups: i64| {
        let weight = take(&[outputs, inputs, 5, 5]).reshape([n * outputs, inputs, 5, 5]);
        let bias = take(&[outputs]).reshape([n * outputs]);
        let z = h.conv2d(
            &weight,
            Some(bias),
            [1, 1],
            [padding, padding],
            [1, 1],
            groups,
        );
        act(z).max_pool2d([2, 2], [2, 2], [0, 0], [1, 1], false)
    };
    // All particles see the same images, so the first layer is one convolution with all channels.
    let h = convolution(x.shallow_clone(), 1, 6, 2, 1);
    let h = convolution(h, 6, 16, 0, n);
    let mut h = h.view([BATCH, n, 400]).transpose(0, 1);
    for (inputs, outputs) in [(400, 120), (120, 84), (84, 10)] {
        let weight = take(&[outputs, inputs]);
        let bias = take(&[outputs]).unsqueeze(1);
        let z = bias.baddbmm(&h, &weight.transpose(1, 2), 1.0, 1.0);
        h = if outputs == 10 { z } else { act(z) };
    }
    h
}

/// Numbers of size one, rounded to f32.
fn waves<D: IntoDimension>(shape: D, frequency: f64, scale: f64) -> Array<f64, D::Dim> {
    let shape = shape.into_dimension();
    let wave = |i| f64::from((scale * (i as f64 * frequency).sin()) as f32);
    Array::from_shape_vec(shape.clone(), (0..shape.size()).map(wave).collect()).unwrap()
}

fn tensor<D: Dimension>(array: &Array<f64, D>, shape: &[i64]) -> Tensor {
    let values: Vec<f64> = array.iter().copied().collect();
    Tensor::from_slice(&values).view(shape).to_kind(Kind::Float)
}

fn main() {
    set_torch_threads(1);
    let backend = Backend {
        precision: Precision::Single,
        ..Backend::torch()
    };
    let repetitions = if std::env::args().any(|arg| arg == "--test") {
        1
    } else {
        25
    };
    let (n, b) = (PARTICLES as usize, BATCH as usize);
    for activation in [Activation::Sigmoid, Activation::Relu] {
        let network = lenet(activation);
        let d = network.layout().dim();
        let params = waves((n, d), 1.7, 0.1);
        let x = waves((b, 784), 0.37, 1.0);
        let r = waves((n, b, 10), 0.91, 1.0);
        let leaf = tensor(&params, &[PARTICLES, d as i64]);
        let images = tensor(&x, &[BATCH, 1, 28, 28]);
        let cotangents = tensor(&r, &[PARTICLES, BATCH, 10]);
        let samples = backend.samples(&network, x.view()).unwrap();
        let by_hand = || {
            let start = Instant::now();
            let linear = samples.linearize(&network, params.view()).unwrap();
            let forward = start.elapsed();
            let gradient = linear.vjp(r.view()).unwrap();
            (gradient, forward, start.elapsed())
        };
        let by_autograd = || {
            let start = Instant::now();
            let leaf = leaf.detach().set_requires_grad(true);
            let outputs = grouped(activation, &leaf, &images);
            let forward = start.elapsed();
            let product = (&outputs * &cotangents).sum(None);
            let gradient = Tensor::run_backward(&[product], &[leaf], false, false);
            (gradient[0].shallow_clone(), forward, start.elapsed())
        };
        let (a, b) = (by_hand().0, by_autograd().0);
        let a = tensor(&a, &[PARTICLES, d as i64]);
        let error = (&a - &b).abs().max().double_value(&[]) / b.abs().max().double_value(&[]);
        assert!(error < 1e-5, "the two gradients differ by {error}");
        let linear = samples.linearize(&network, params.view()).unwrap();
        let root = Loss::Categorical.root(linear.outputs()).unwrap();
        let mut squares = Array2::zeros((n, d));
        let mut diagonal = || {
            let start = Instant::now();
            linear.add_squares(root.view(), squares.view_mut()).unwrap();
            start.elapsed()
        };
        let mut times = [f64::INFINITY; 5];
        for _ in 0..repetitions {
            let ((_, f, t), (_, gf, gt)) = (by_hand(), by_autograd());
            for (best, time) in times.iter_mut().zip([f, t, gf, gt, diagonal()]) {
                *best = best.min(1e3 * time.as_secs_f64());
            }
        }
        let [f, t, gf, gt, diagonal] = times;
        println!(
            "{activation:?}: Linearized {t:.1} ms (forward {f:.1}), autograd {gt:.1} ms (forward {gf:.1}), \
             diagonal {diagonal:.1} ms: {:.2}",
            diagonal / t
        );
    }
}
