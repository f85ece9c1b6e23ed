//! Forward pass, and forward and backward, of five perceptrons in f64 on one thread, by each backend: the best of many
//! runs, taken in turn, for on a busy machine every other figure is one of its other work.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ndarray::{Array, Dimension, IntoDimension};
use svn_curvature::{Activation, Backend, Layer, Sequential, set_torch_threads};

const PARTICLES: usize = 5;
const BATCH: usize = 16;

/// Any numbers of size one: timings do not depend on them.
fn noise<D: IntoDimension>(shape: D, scale: f64) -> Array<f64, D::Dim> {
    let shape = shape.into_dimension();
    let values = (0..shape.size()).map(|i| scale * (i as f64 * 12.9898).sin());
    Array::from_shape_vec(shape.clone(), values.collect()).unwrap()
}

fn perceptron(widths: &[usize], activation: Activation) -> Sequential {
    let mut layers = Vec::new();
    for pair in widths.windows(2) {
        layers.push(Layer::linear(pair[0], pair[1]));
        layers.push(Layer::Activation(activation));
    }
    layers.pop();
    Sequential::new(&widths[..1], layers).unwrap()
}

fn backends() -> Vec<Backend> {
    match cfg!(feature = "torch") {
        true => vec![Backend::native(), Backend::torch()],
        false => vec![Backend::native()],
    }
}

fn main() {
    set_torch_threads(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.unwrap().install(measure);
}

fn measure() {
    let repetitions = if std::env::args().any(|arg| arg == "--test") {
        1
    } else {
        2000
    };
    for (name, widths) in [
        ("yacht 6-50-50-1", &[6, 50, 50, 1][..]),
        ("wide 50-200-200-1", &[50, 200, 200, 1]),
    ] {
        for activation in [
            Activation::Relu,
            Activation::Tanh,
            Activation::Sigmoid,
            Activation::Gelu,
        ] {
            let network = perceptron(widths, activation);
            let d = network.layout().dim();
            let (params, x) = (noise((PARTICLES, d), 0.3), noise((BATCH, widths[0]), 1.0));
            let r = noise((PARTICLES, BATCH, 1), 1.0);
            let mut gradient = noise((PARTICLES, d), 0.0);
            let backends = backends();
            let mut best = vec![[Duration::MAX; 2]; backends.len()];
            for _ in 0..repetitions {
                for (backend, best) in backends.iter().zip(&mut best) {
                    let samples = backend.samples(&network, x.view()).unwrap();
                    let start = Instant::now();
                    black_box(samples.forward(&network, params.view()).unwrap());
                    let forward = start.elapsed();
                    let start = Instant::now();
                    let linear = samples.linearize(&network, params.view()).unwrap();
                    linear.vjp_into(r.view(), gradient.view_mut()).unwrap();
                    black_box(&gradient);
                    let both = start.elapsed();
                    *best = [best[0].min(forward), best[1].min(both)];
                }
            }
            for (backend, [forward, both]) in backends.iter().zip(best) {
                println!(
                    "{name:<18} {:<8} {:<6}  forward {:8.1} µs  forward and vjp {:8.1} µs",
                    format!("{activation:?}"),
                    backend.kind.to_string(),
                    1e6 * forward.as_secs_f64(),
                    1e6 * both.as_secs_f64(),
                );
            }
        }
    }
}
