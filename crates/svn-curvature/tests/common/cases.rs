//! The case table: every architecture and every likelihood the crate is checked on, with its data.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_curvature::{Activation, Conv2d, Layer, Loss, Pool2d, Sequential};
use tch::Tensor;

/// Particles and samples of all cases: small, but neither is 1, and they differ.
pub(crate) const PARTICLES: i64 = 3;
pub(crate) const SAMPLES: i64 = 4;

/// One architecture with its data.
pub(crate) struct Case {
    pub name: &'static str,
    pub network: Sequential,
    pub params: Tensor,
    pub x: Tensor,
}

/// Standard normal numbers drawn in Rust, as a tensor of f64.
pub(crate) fn normal(shape: &[i64], scale: f64, seed: u64) -> Tensor {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let count = shape.iter().product::<i64>() as usize;
    let values: Vec<f64> = (0..count)
        .map(|_| scale * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng))
        .collect();
    Tensor::from_slice(&values).view(shape)
}

/// The architectures every family and every product is checked on; all with `outputs` outputs.
pub(crate) fn cases(outputs: usize) -> Vec<Case> {
    // Tiny tensors, and the tests themselves run in parallel: more threads only wait for each other.
    tch::set_num_threads(1);
    let act = Layer::Activation;
    let no_bias = |inputs, outputs| Layer::Linear {
        inputs,
        outputs,
        bias: false,
    };
    let table: Vec<(&'static str, Vec<usize>, Vec<Layer>)> = vec![
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
                Layer::MaxPool2d(Pool2d::new([3, 3]).stride([1, 2]).padding([1, 1])),
                act(Activation::Sigmoid),
                Layer::Conv2d(Conv2d::new(2, 2, [3, 3]).stride([2, 1])),
                Layer::Flatten,
                Layer::linear(4, outputs),
            ],
        ),
    ];
    table
        .into_iter()
        .zip(1u64..)
        .map(|((name, input_shape, layers), seed)| {
            let network =
                Sequential::new(&input_shape, layers).unwrap_or_else(|e| panic!("{name}: {e}"));
            let params = normal(&[PARTICLES, network.layout().dim() as i64], 0.5, seed);
            let sample = input_shape.iter().map(|&s| s as i64);
            let x = normal(
                &std::iter::once(SAMPLES).chain(sample).collect::<Vec<_>>(),
                1.0,
                100 + seed,
            );
            Case {
                name,
                network,
                params,
                x,
            }
        })
        .collect()
}

/// The likelihoods, each with a number of outputs it can take and targets for [`SAMPLES`] samples.
pub(crate) fn likelihoods() -> Vec<(&'static str, Loss, usize, Tensor)> {
    let labels = Tensor::from_slice(&[2i64, 0, 1, 2]);
    let binary = Tensor::from_slice(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]).view([SAMPLES, 2]);
    vec![
        (
            "gaussian",
            Loss::Gaussian { noise: 0.7 },
            2,
            normal(&[SAMPLES, 2], 1.0, 201),
        ),
        (
            "heteroscedastic",
            Loss::HeteroscedasticGaussian,
            2,
            normal(&[SAMPLES, 1], 1.0, 202),
        ),
        ("categorical", Loss::Categorical, 3, labels),
        ("bernoulli", Loss::Bernoulli, 2, binary),
    ]
}
