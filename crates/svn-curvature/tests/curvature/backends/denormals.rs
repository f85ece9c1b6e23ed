//! Numbers too small to be normal cost no more than others: on some processors each operation on one takes a hundred times
//! as long.

use std::time::{Duration, Instant};

use ndarray::{Array2, Array3};
use svn_curvature::{Activation, Backend, Layer, Precision, Sequential};

use crate::common::normal;

struct Step {
    network: Sequential,
    backend: Backend,
    params: Array2<f64>,
    x: Array2<f64>,
    r: Array3<f64>,
}

impl Step {
    fn new(activation: Activation, precision: Precision) -> Self {
        let act = || Layer::Activation(activation);
        let layers = vec![
            Layer::linear(20, 60),
            act(),
            Layer::linear(60, 60),
            act(),
            Layer::linear(60, 1),
        ];
        let network = Sequential::new(&[20], layers).unwrap();
        Self {
            backend: Backend {
                precision,
                ..Backend::native()
            },
            params: normal((2, network.layout().dim()), 0.2, 1),
            x: normal((32, 20), 1.0, 2),
            r: normal((2, 32, 1), 1.0, 3),
            network,
        }
    }

    fn time(&self) -> Duration {
        let start = Instant::now();
        let samples = self.backend.samples(&self.network, self.x.view()).unwrap();
        let linear = samples
            .linearize(&self.network, self.params.view())
            .unwrap();
        std::hint::black_box(linear.vjp(self.r.view()).unwrap());
        start.elapsed()
    }
}

#[test]
fn a_step_on_tiny_numbers_takes_as_long_as_any() {
    for precision in [Precision::Double, Precision::Single] {
        // Not normal in f64, and in f32.
        let (tiny, saturated) = match precision {
            Precision::Double => (1e-310, 720.0),
            Precision::Single => (1e-40, 95.0),
        };
        for activation in [Activation::Relu, Activation::Tanh, Activation::Sigmoid] {
            let usual = Step::new(activation, precision);
            let step = || Step::new(activation, precision);
            let mut slow = [step(), step(), step()];
            slow[0].x *= tiny;
            slow[1].r *= tiny;
            // Biases of the first two layers that saturate the activation; without biases to bring it back, inputs
            // that stay tiny.
            for p in 0..2 {
                for at in (20 * 60..21 * 60).chain(21 * 60 + 60 * 60..21 * 60 + 61 * 60) {
                    slow[2].params[[p, at]] = -saturated;
                    slow[0].params[[p, at]] = 0.0;
                }
            }
            let best = |step: &Step| (0..300).map(|_| step.time()).min().unwrap();
            let limit = 3 * best(&usual);
            for (index, step) in slow.iter().enumerate() {
                let time = best(step);
                assert!(
                    time < limit,
                    "{activation:?}, {index}: {time:?} above {limit:?}"
                );
            }
        }
    }
}
