//! The case table of all tests, and the slow references: networks by libtorch's own layers, one particle at a time, with
//! autograd.
#![allow(dead_code)] // Each test binary uses its part.

use ndarray::Array2;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_curvature::{Activation, Conv2d, Layer, Loss, Pool2d, Sequential, convert};
use tch::{Device, Kind, Tensor};

/// Particles and samples of all cases: small, but neither is 1, and they differ.
pub const PARTICLES: i64 = 3;
pub const SAMPLES: i64 = 4;

/// One architecture with its data.
pub struct Case {
    pub name: &'static str,
    pub network: Sequential,
    pub params: Tensor,
    pub x: Tensor,
}

/// Standard normal numbers drawn in Rust, as a tensor of f64.
pub fn normal(shape: &[i64], scale: f64, seed: u64) -> Tensor {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let count = shape.iter().product::<i64>() as usize;
    let values: Vec<f64> = (0..count)
        .map(|_| scale * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng))
        .collect();
    Tensor::from_slice(&values).view(shape)
}

/// The architectures every family and every product is checked on; all with `outputs` outputs.
pub fn cases(outputs: usize) -> Vec<Case> {
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

/// One particle's outputs (`b × c`) by libtorch's own layers; `flat` may require gradients.
pub fn reference_forward(network: &Sequential, flat: &Tensor, x: &Tensor) -> Tensor {
    let blocks = network.layout().blocks();
    let parameter = |name: String| {
        let block = blocks.iter().find(|block| block.name() == name)?;
        let shape: Vec<i64> = block.shape().iter().map(|&s| s as i64).collect();
        Some(
            flat.narrow(0, block.range().start as i64, block.range().len() as i64)
                .reshape(shape),
        )
    };
    let pair = |v: [usize; 2]| [v[0] as i64, v[1] as i64];
    network
        .layers()
        .iter()
        .enumerate()
        .fold(x.shallow_clone(), |h, (index, layer)| {
            let weight =
                || parameter(format!("{index}.weight")).expect("affine layers have a weight");
            let bias = parameter(format!("{index}.bias"));
            match layer {
                Layer::Linear { .. } => h.linear(&weight(), bias.as_ref()),
                Layer::Conv2d(c) => h.conv2d(
                    &weight(),
                    bias.as_ref(),
                    pair(c.stride),
                    pair(c.padding),
                    pair(c.dilation),
                    1,
                ),
                Layer::Activation(Activation::Relu) => h.relu(),
                Layer::Activation(Activation::Tanh) => h.tanh(),
                Layer::Activation(Activation::Sigmoid) => h.sigmoid(),
                Layer::Activation(Activation::Gelu) => h.gelu("none"),
                Layer::Flatten => h.flatten(1, -1),
                Layer::MaxPool2d(p) => h.max_pool2d(
                    pair(p.kernel),
                    pair(p.stride),
                    pair(p.padding),
                    [1, 1],
                    false,
                ),
                Layer::AvgPool2d(p) => h.avg_pool2d(
                    pair(p.kernel),
                    pair(p.stride),
                    pair(p.padding),
                    false,
                    true,
                    None,
                ),
                other => panic!("no reference for {other}"),
            }
        })
}

/// Jacobians of all particles by autograd, one output at a time: `N × b × c × d`.
pub fn reference_jacobian(network: &Sequential, params: &Tensor, x: &Tensor) -> Tensor {
    let particles: Vec<Tensor> = (0..params.size()[0])
        .map(|p| {
            let flat = params.get(p).copy().set_requires_grad(true);
            let f = reference_forward(network, &flat, x);
            let (b, c) = f.size2().unwrap();
            let rows: Vec<Tensor> = (0..b * c)
                .map(|i| {
                    Tensor::run_backward(&[f.view([b * c]).get(i)], &[&flat], true, false).remove(0)
                })
                .collect();
            Tensor::stack(&rows, 0).view([b, c, -1])
        })
        .collect();
    Tensor::stack(&particles, 0)
}

/// `max |a − b| / max |b|`, with the shapes compared.
pub fn relative_error(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.size(), b.size());
    let scale = b.abs().max().double_value(&[]).max(f64::MIN_POSITIVE);
    (a - b).abs().max().double_value(&[]) / scale
}

pub const CPU_F64: (Kind, Device) = (Kind::Double, Device::Cpu);

/// The likelihoods, each with a number of outputs it can take and targets for [`SAMPLES`] samples.
pub fn likelihoods() -> Vec<(&'static str, Loss, usize, Tensor)> {
    let labels = Tensor::from_slice(&[2i64, 0, 1, 2]);
    let binary = Tensor::from_slice(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]).view([SAMPLES, 2]);
    vec![
        ("gaussian", Loss::Gaussian { noise: 0.7 }, 2, normal(&[SAMPLES, 2], 1.0, 201)),
        ("heteroscedastic", Loss::HeteroscedasticGaussian, 2, normal(&[SAMPLES, 1], 1.0, 202)),
        ("categorical", Loss::Categorical, 3, labels),
        ("bernoulli", Loss::Bernoulli, 2, binary),
    ]
}

/// `Σ_i ℓ(f_i, y_i)` by libtorch's elementary functions, differentiable; `f`: `b × c`.
pub fn reference_loss(loss: Loss, f: &Tensor, y: &Tensor) -> Tensor {
    match loss {
        Loss::Gaussian { noise } => ((f - y) / noise).square().sum(Kind::Double) * 0.5,
        Loss::HeteroscedasticGaussian => {
            let m = f.size()[1] / 2;
            let (mean, log_variance) = (f.narrow(1, 0, m), f.narrow(1, m, m));
            (&log_variance + (y - mean).square() / log_variance.exp()).sum(Kind::Double) * 0.5
        }
        Loss::Categorical => -f.log_softmax(1, Kind::Double).gather(1, &y.unsqueeze(1), false).sum(Kind::Double),
        Loss::Bernoulli => (f.softplus() - f * y).sum(Kind::Double),
        other => panic!("no reference for {other:?}"),
    }
}

/// Fisher information of the outputs of all samples, `b × c × c`, by double backward through [`reference_loss`].
///
/// For the heteroscedastic Gaussian the expectation over targets is the mean over `y = μ ± σ`, which has the right first
/// two moments, and the Hessian is quadratic in `y`.
pub fn reference_output_fisher(loss: Loss, outputs: &Tensor, y: &Tensor) -> Tensor {
    let (b, c) = outputs.size2().unwrap();
    let hessian = |y: &Tensor| {
        let f = outputs.detach().copy().set_requires_grad(true);
        let value = reference_loss(loss, &f, y);
        let gradient = Tensor::run_backward(&[value], &[&f], true, true).remove(0);
        let rows: Vec<Tensor> = (0..c)
            .map(|j| {
                let total = gradient.select(1, j).sum(Kind::Double);
                Tensor::run_backward(&[total], &[&f], true, false).remove(0)
            })
            .collect();
        Tensor::stack(&rows, 1).view([b, c, c])
    };
    match loss {
        Loss::HeteroscedasticGaussian => {
            let (mean, log_variance) = (outputs.narrow(1, 0, c / 2), outputs.narrow(1, c / 2, c / 2));
            let spread = (log_variance * 0.5).exp();
            (hessian(&(&mean + &spread)) + hessian(&(&mean - &spread))) * 0.5
        }
        _ => hessian(y),
    }
}

/// Dense `H_p = Σ_i J_iᵀ F_i J_i` of all particles, `N × d × d`, by autograd alone.
pub fn reference_curvature(loss: Loss, case: &Case, y: &Tensor) -> Tensor {
    let jacobian = reference_jacobian(&case.network, &case.params, &case.x);
    let matrices: Vec<Tensor> = (0..case.params.size()[0])
        .map(|p| {
            let outputs = reference_forward(&case.network, &case.params.get(p), &case.x);
            let fisher = reference_output_fisher(loss, &outputs, y);
            Tensor::einsum("bcd,bce,bef->df", &[&jacobian.get(p), &fisher, &jacobian.get(p)], None::<i64>)
        })
        .collect();
    Tensor::stack(&matrices, 0)
}

/// One particle's matrix as an array.
pub fn matrix(tensor: &Tensor, particle: usize) -> Array2<f64> {
    convert::array(&tensor.get(particle as i64)).unwrap()
}

/// `d × d` with the layers' diagonal blocks kept and the rest zero.
pub fn layer_blocks(network: &Sequential, full: &Array2<f64>) -> Array2<f64> {
    let layer_of: Vec<&str> = network
        .layout()
        .blocks()
        .iter()
        .flat_map(|block| std::iter::repeat_n(block.name().split('.').next().unwrap(), block.len()))
        .collect();
    Array2::from_shape_fn(full.raw_dim(), |(i, j)| if layer_of[i] == layer_of[j] { full[[i, j]] } else { 0.0 })
}

/// `‖a − b‖ / ‖b‖` in the Frobenius norm.
pub fn frobenius_error(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    let norm = |m: &Array2<f64>| m.iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(&(a - b)) / norm(b).max(f64::MIN_POSITIVE)
}

/// Inputs in homogeneous coordinates, `(b L) × K'`, and cotangents, `(k b L) × O`, of every affine layer of one particle:
/// libtorch's layers and im2col forward, autograd with respect to the layers' outputs backward; `root`: `b × c × k`.
pub fn reference_layer_io(network: &Sequential, flat: &Tensor, x: &Tensor, root: &Tensor) -> Vec<(Tensor, Tensor)> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut h = x.shallow_clone();
    let mut start = 0;
    for layer in network.layers() {
        // One layer at a time, through a network of that layer alone.
        let shape: Vec<usize> = h.size()[1..].iter().map(|&s| s as usize).collect();
        let (o, k, bias) = match layer {
            Layer::Linear { inputs, outputs, bias } => (*outputs, *inputs, *bias),
            Layer::Conv2d(c) => (c.outputs, c.inputs * c.kernel[0] * c.kernel[1], c.bias),
            other => {
                h = reference_other_layer(other, &h);
                continue;
            }
        };
        let mut rows = match layer {
            Layer::Conv2d(c) => {
                let pair = |v: [usize; 2]| [v[0] as i64, v[1] as i64];
                h.im2col(pair(c.kernel), pair(c.dilation), pair(c.padding), pair(c.stride)).transpose(1, 2).flatten(0, 1)
            }
            _ => h.shallow_clone(),
        };
        if bias {
            rows = Tensor::cat(&[&rows, &rows.narrow(1, 0, 1).ones_like()], 1);
        }
        inputs.push(rows.detach());
        let count = o * k + if bias { o } else { 0 };
        let part = flat.narrow(0, start as i64, count as i64);
        start += count;
        let single = if shape.len() == 1 {
            vec![layer.clone()]
        } else {
            vec![layer.clone(), Layer::Flatten]
        };
        let single = Sequential::new(&shape, single).unwrap();
        let flat_output = reference_forward(&single, &part, &h);
        let z = if let Layer::Conv2d(_) = layer {
            let size = layer_output_size(layer, &shape);
            flat_output.view([x.size()[0], o as i64, size[0], size[1]])
        } else {
            flat_output
        };
        h = if z.requires_grad() { z } else { z.detach().set_requires_grad(true) };
        outputs.push(h.shallow_clone());
    }
    let columns: Vec<Vec<Tensor>> = (0..root.size()[2])
        .map(|j| Tensor::run_backward(&[(&h * root.select(2, j)).sum(Kind::Double)], &outputs, true, false))
        .collect();
    inputs
        .into_iter()
        .enumerate()
        .map(|(index, rows)| {
            let cotangents: Vec<Tensor> = columns
                .iter()
                .map(|column| match column[index].size().len() {
                    2 => column[index].shallow_clone(),
                    _ => column[index].permute([0, 2, 3, 1]).flatten(0, 2),
                })
                .collect();
            (rows, Tensor::cat(&cotangents, 0))
        })
        .collect()
}

fn reference_other_layer(layer: &Layer, h: &Tensor) -> Tensor {
    let pair = |v: [usize; 2]| [v[0] as i64, v[1] as i64];
    match layer {
        Layer::Activation(Activation::Relu) => h.relu(),
        Layer::Activation(Activation::Tanh) => h.tanh(),
        Layer::Activation(Activation::Sigmoid) => h.sigmoid(),
        Layer::Activation(Activation::Gelu) => h.gelu("none"),
        Layer::Flatten => h.flatten(1, -1),
        Layer::MaxPool2d(p) => h.max_pool2d(pair(p.kernel), pair(p.stride), pair(p.padding), [1, 1], false),
        Layer::AvgPool2d(p) => h.avg_pool2d(pair(p.kernel), pair(p.stride), pair(p.padding), false, true, None),
        other => panic!("no reference for {other}"),
    }
}

fn layer_output_size(layer: &Layer, shape: &[usize]) -> [i64; 2] {
    let Layer::Conv2d(c) = layer else { panic!("not a convolution: {layer}") };
    [0, 1].map(|axis| {
        let room = shape[axis + 1] + 2 * c.padding[axis] - c.dilation[axis] * (c.kernel[axis] - 1) - 1;
        (room / c.stride[axis] + 1) as i64
    })
}
