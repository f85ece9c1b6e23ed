//! The case table: every architecture and every likelihood the crate is checked on, with its data.

use ndarray::{Array, Array2, Dimension, IntoDimension, array, s};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::ops::Range;
use svn_curvature::{
    Activation, Backend, BackendKind, Conv2d, CurvatureError, Layer, Linearized, Loss, Pool2d,
    Precision, Samples, Sequential, set_torch_threads,
};

/// Particles and samples of all cases: small, but neither is 1, and they differ.
pub(crate) const PARTICLES: usize = 3;
pub(crate) const SAMPLES: usize = 4;

/// One architecture with its data on one backend.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Architecture and backend.
    pub name: String,
    pub backend: Backend,
    pub network: Sequential,
    /// `N × d`.
    pub params: Array2<f64>,
    /// `b × p`.
    pub x: Array2<f64>,
}

impl Case {
    pub(crate) fn samples(&self) -> Box<dyn Samples> {
        self.backend.samples(&self.network, self.x.view()).unwrap()
    }

    pub(crate) fn linearize(&self) -> Box<dyn Linearized> {
        let samples = self.samples();
        samples
            .linearize(&self.network, self.params.view())
            .unwrap()
    }

    /// On these samples only.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Self {
        let x = self.x.slice(s![rows, ..]).to_owned();
        Self { x, ..self.clone() }
    }

    /// In f32.
    pub(crate) fn single(&self) -> Self {
        let mut own = self.clone();
        own.backend.precision = Precision::Single;
        own
    }

    pub(crate) fn has_images(&self) -> bool {
        is_convolutional(&self.network)
    }
}

fn is_convolutional(network: &Sequential) -> bool {
    let is_vector = |layer: &Layer| {
        matches!(
            layer,
            Layer::Linear { .. } | Layer::Activation(_) | Layer::Scale(_) | Layer::Flatten
        )
    };
    !network.layers().iter().all(is_vector)
}

/// The backends built in.
pub(crate) fn backends() -> Vec<Backend> {
    // Tiny tensors, and the tests themselves run in parallel: more threads only wait for each other.
    set_torch_threads(1);
    match cfg!(feature = "torch") {
        true => vec![Backend::native(), Backend::torch()],
        false => vec![Backend::native()],
    }
}

/// Standard normal numbers.
pub(crate) fn normal<D: IntoDimension>(shape: D, scale: f64, seed: u64) -> Array<f64, D::Dim> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut next =
        || scale * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng);
    Array::from_shape_simple_fn(shape.into_dimension(), &mut next)
}

/// What everything is checked on: all architectures on all backends that have their layers, with `outputs` outputs.
pub(crate) fn cases(outputs: usize) -> Vec<Case> {
    let on = |backend: Backend| {
        let all = architectures(outputs).into_iter().zip(1u64..);
        all.filter_map(move |((name, input_shape, layers), seed)| {
            let network =
                Sequential::new(&input_shape, layers).unwrap_or_else(|e| panic!("{name}: {e}"));
            if backend.kind == BackendKind::Native && is_convolutional(&network) {
                return None;
            }
            Some(Case {
                name: format!("{name}, {}", backend.kind),
                backend,
                params: normal((PARTICLES, network.layout().dim()), 0.5, seed),
                x: normal((SAMPLES, network.inputs()), 1.0, 100 + seed),
                network,
            })
        })
    };
    backends().into_iter().flat_map(on).collect()
}

/// One architecture on all backends.
pub(crate) fn cases_of(architecture: &str, outputs: usize) -> Vec<Case> {
    let mut all = cases(outputs);
    all.retain(|case| case.name.starts_with(&format!("{architecture}, ")));
    assert!(!all.is_empty(), "no architecture {architecture}");
    all
}

/// The architectures that everything is checked on, by name, sample shape and layers.
fn architectures(outputs: usize) -> Vec<(&'static str, Vec<usize>, Vec<Layer>)> {
    let act = Layer::Activation;
    let no_bias = |inputs, outputs| Layer::Linear {
        inputs,
        outputs,
        bias: false,
    };
    vec![
        (
            "single linear layer",
            vec![4],
            vec![Layer::linear(4, outputs)],
        ),
        (
            "deep linear",
            vec![4],
            vec![
                Layer::linear(4, 5),
                Layer::linear(5, 3),
                Layer::linear(3, outputs),
            ],
        ),
        (
            "relu mlp",
            vec![4],
            vec![
                Layer::linear(4, 6),
                Layer::relu(),
                Layer::linear(6, outputs),
            ],
        ),
        (
            "tanh mlp",
            vec![4],
            vec![
                Layer::linear(4, 5),
                act(Activation::Tanh),
                Layer::linear(5, 5),
                act(Activation::Tanh),
                Layer::linear(5, outputs),
            ],
        ),
        (
            "sigmoid mlp without bias",
            vec![4],
            vec![no_bias(4, 6), act(Activation::Sigmoid), no_bias(6, outputs)],
        ),
        (
            "gelu mlp, bias in part",
            vec![4],
            vec![
                no_bias(4, 5),
                act(Activation::Gelu),
                Layer::linear(5, 4),
                act(Activation::Gelu),
                no_bias(4, outputs),
            ],
        ),
        (
            "activation first and last, flatten of an image",
            vec![2, 2, 3],
            vec![
                act(Activation::Tanh),
                Layer::Flatten,
                Layer::linear(12, outputs),
                act(Activation::Tanh),
            ],
        ),
        (
            "scaled layers",
            vec![4],
            vec![
                Layer::Scale(0.8),
                Layer::linear(4, 5),
                Layer::Scale(-1.7),
                act(Activation::Gelu),
                no_bias(5, outputs),
                Layer::Scale(0.3),
            ],
        ),
        (
            "small lenet",
            vec![1, 12, 12],
            vec![
                Layer::Conv2d(Conv2d::new(1, 2, [5, 5]).padding([2, 2])),
                Layer::relu(),
                Layer::MaxPool2d(Pool2d::new([2, 2])),
                Layer::Conv2d(Conv2d::new(2, 3, [3, 3])),
                Layer::relu(),
                Layer::MaxPool2d(Pool2d::new([2, 2])),
                Layer::Flatten,
                Layer::linear(12, 6),
                Layer::relu(),
                Layer::linear(6, outputs),
            ],
        ),
        (
            "strided, padded, dilated conv; average pooling",
            vec![2, 9, 8],
            vec![
                Layer::Conv2d(
                    Conv2d::new(2, 3, [3, 2])
                        .stride([2, 1])
                        .padding([1, 2])
                        .dilation([1, 2])
                        .bias(false),
                ),
                act(Activation::Tanh),
                Layer::AvgPool2d(Pool2d::new([2, 3]).stride([1, 2]).padding([1, 0])),
                Layer::Conv2d(Conv2d::new(3, 2, [2, 2]).dilation([2, 2]).stride([2, 2])),
                act(Activation::Gelu),
                Layer::Flatten,
                Layer::linear(4, outputs),
            ],
        ),
        (
            "overlapping max pooling between convolutions",
            vec![1, 7, 7],
            vec![
                Layer::Conv2d(Conv2d::new(1, 2, [2, 2])),
                Layer::Scale(1.5),
                Layer::MaxPool2d(Pool2d::new([3, 3]).stride([1, 2]).padding([1, 1])),
                act(Activation::Sigmoid),
                Layer::Conv2d(Conv2d::new(2, 2, [3, 3]).stride([2, 1])),
                Layer::Flatten,
                Layer::linear(4, outputs),
            ],
        ),
    ]
}

/// The likelihoods, each with a number of outputs it can take and targets for [`SAMPLES`] samples.
pub(crate) fn likelihoods() -> Vec<(&'static str, Loss, usize, Array2<f64>)> {
    let labels = array![[2.0], [0.0], [1.0], [2.0]];
    let binary = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]];
    vec![
        (
            "gaussian",
            Loss::Gaussian { noise: 0.7 },
            2,
            normal((SAMPLES, 2), 1.0, 201),
        ),
        (
            "heteroscedastic",
            Loss::HeteroscedasticGaussian,
            2,
            normal((SAMPLES, 1), 1.0, 202),
        ),
        ("categorical", Loss::Categorical, 3, labels),
        ("bernoulli", Loss::Bernoulli, 2, binary),
    ]
}
