//! The native backend and libtorch on random perceptrons.

use ndarray::{Array2, ArrayD};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_curvature::{Activation, Backend, Layer, Precision, Samples, Sequential};

use super::products::products;
use crate::common::{backends, normal, relative_error};

/// A perceptron with or without layers before it that are frozen: samples of each particle's own.
#[derive(Debug, Clone)]
struct Shape {
    frozen: Option<(usize, Activation)>,
    inputs: usize,
    hidden: Vec<(usize, bool, Activation)>,
    outputs: usize,
    bias: bool,
    first: Option<Activation>,
    last: Option<Activation>,
    particles: usize,
    samples: usize,
    columns: usize,
    seed: u64,
}

fn activation() -> impl Strategy<Value = Activation> {
    prop_oneof![
        Just(Activation::Relu),
        Just(Activation::Tanh),
        Just(Activation::Sigmoid),
        Just(Activation::Gelu),
    ]
}

fn shapes() -> impl Strategy<Value = Shape> {
    let hidden = (1_usize..20, any::<bool>(), activation());
    let ends = (
        prop::option::weighted(0.2, activation()),
        prop::option::weighted(0.2, activation()),
        prop::option::weighted(0.4, (1_usize..8, activation())),
    );
    let network = (
        1_usize..8,
        prop::collection::vec(hidden, 0..=3),
        1_usize..5,
        any::<bool>(),
    );
    let data = (1_usize..5, 2_usize..12, 1_usize..4, any::<u32>());
    (network, ends, data).prop_map(|(network, ends, data)| Shape {
        inputs: network.0,
        hidden: network.1,
        outputs: network.2,
        bias: network.3,
        first: ends.0,
        last: ends.1,
        frozen: ends.2,
        particles: data.0,
        samples: data.1,
        columns: data.2,
        seed: data.3.into(),
    })
}

impl Shape {
    fn network(&self) -> Sequential {
        let inputs = self.frozen.map_or(self.inputs, |(width, _)| width);
        let mut layers: Vec<Layer> = self.first.map(Layer::Activation).into_iter().collect();
        let mut width = inputs;
        let mut linear = |outputs, bias| {
            let inputs = std::mem::replace(&mut width, outputs);
            Layer::Linear {
                inputs,
                outputs,
                bias,
            }
        };
        for &(outputs, bias, activation) in &self.hidden {
            layers.extend([linear(outputs, bias), Layer::Activation(activation)]);
        }
        layers.push(linear(self.outputs, self.bias));
        layers.extend(self.last.map(Layer::Activation));
        Sequential::new(&[inputs], layers).unwrap()
    }

    fn params(&self, network: &Sequential, seed: u64) -> Array2<f64> {
        normal(
            (self.particles, network.layout().dim()),
            0.6,
            self.seed + seed,
        )
    }

    fn samples(&self, backend: Backend) -> Box<dyn Samples> {
        let x = normal((self.samples, self.inputs), 1.0, self.seed);
        let Some((width, activation)) = self.frozen else {
            return backend.samples(&self.network(), x.view()).unwrap();
        };
        let layers = vec![
            Layer::linear(self.inputs, width),
            Layer::Activation(activation),
        ];
        let frozen = Sequential::new(&[self.inputs], layers).unwrap();
        let samples = backend.samples(&frozen, x.view()).unwrap();
        let params = self.params(&frozen, 1);
        samples.through(&frozen, params.view()).unwrap()
    }

    /// All that a backend computes.
    fn results(&self, backend: Backend) -> Vec<(&'static str, ArrayD<f64>)> {
        let (network, samples) = (self.network(), self.samples(backend));
        let params = self.params(&network, 2);
        let forward = samples.forward(&network, params.view()).unwrap();
        let mut all = vec![("forward", forward.into_dyn())];
        let some = samples.select(&[self.samples - 1, 0, 0]).unwrap();
        let forward = some.forward(&network, params.view()).unwrap();
        all.push(("forward of some", forward.into_dyn()));
        let linear = samples.linearize(&network, params.view()).unwrap();
        let first = linear.first_samples(self.samples - 1).unwrap();
        for linear in [&*linear, &*first] {
            all.extend(products(&network, linear, self.columns, self.seed + 3));
        }
        for linear in [linear.last_layer(), first.last_layer()] {
            all.extend(products(&network, &*linear, self.columns, self.seed + 3));
        }
        all
    }

    fn compare(&self, precision: Precision, tolerance: f64) {
        let on = |backend: Backend| {
            self.results(Backend {
                precision,
                ..backend
            })
        };
        let (native, torch) = (on(Backend::native()), on(Backend::torch()));
        assert_eq!(native.len(), torch.len());
        for ((name, native), (_, torch)) in native.iter().zip(&torch) {
            let error = relative_error(native, torch);
            assert!(error < tolerance, "{name}: {error:e}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn both_backends_give_the_same_numbers_in_double_precision(shape in shapes()) {
        assert_eq!(backends().len(), 2);
        shape.compare(Precision::Double, 1e-12);
    }

    #[test]
    fn both_backends_give_the_same_numbers_in_single_precision(shape in shapes()) {
        assert_eq!(backends().len(), 2);
        shape.compare(Precision::Single, 1e-5);
    }
}
