//! Slow references: networks by libtorch's own layers, one particle at a time, differentiated by autograd.

use svn_curvature::{Activation, Layer, Loss, Sequential};
use tch::{Kind, Tensor};

use super::Case;

/// One particle's outputs (`b × c`) by libtorch's own layers; `flat` may require gradients.
pub(crate) fn reference_forward(network: &Sequential, flat: &Tensor, x: &Tensor) -> Tensor {
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
                other => reference_other_layer(other, &h),
            }
        })
}

/// Jacobians of all particles by autograd, one output at a time: `N × b × c × d`.
pub(crate) fn reference_jacobian(network: &Sequential, params: &Tensor, x: &Tensor) -> Tensor {
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

/// `Σ_i ℓ(f_i, y_i)` by libtorch's elementary functions, differentiable; `f`: `b × c`.
pub(crate) fn reference_loss(loss: Loss, f: &Tensor, y: &Tensor) -> Tensor {
    match loss {
        Loss::Gaussian { noise } => ((f - y) / noise).square().sum(Kind::Double) * 0.5,
        Loss::HeteroscedasticGaussian => {
            let m = f.size()[1] / 2;
            let (mean, log_variance) = (f.narrow(1, 0, m), f.narrow(1, m, m));
            (&log_variance + (y - mean).square() / log_variance.exp()).sum(Kind::Double) * 0.5
        }
        Loss::Categorical => -f
            .log_softmax(1, Kind::Double)
            .gather(1, &y.unsqueeze(1), false)
            .sum(Kind::Double),
        Loss::Bernoulli => (f.softplus() - f * y).sum(Kind::Double),
        other => panic!("no reference for {other:?}"),
    }
}

/// Fisher information of the outputs of all samples, `b × c × c`, by double backward through [`reference_loss`].
///
/// For the heteroscedastic Gaussian the expectation over targets is the mean over `y = μ ± σ`, which has the right first
/// two moments, and the Hessian is quadratic in `y`.
pub(crate) fn reference_output_fisher(loss: Loss, outputs: &Tensor, y: &Tensor) -> Tensor {
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
            let (mean, log_variance) =
                (outputs.narrow(1, 0, c / 2), outputs.narrow(1, c / 2, c / 2));
            let spread = (log_variance * 0.5).exp();
            (hessian(&(&mean + &spread)) + hessian(&(&mean - &spread))) * 0.5
        }
        _ => hessian(y),
    }
}

/// Dense `H_p = Σ_i J_iᵀ F_i J_i` of all particles, `N × d × d`, by autograd alone.
pub(crate) fn reference_curvature(loss: Loss, case: &Case, y: &Tensor) -> Tensor {
    let jacobian = reference_jacobian(&case.network, &case.params, &case.x);
    let matrices: Vec<Tensor> = (0..case.params.size()[0])
        .map(|p| {
            let outputs = reference_forward(&case.network, &case.params.get(p), &case.x);
            let fisher = reference_output_fisher(loss, &outputs, y);
            Tensor::einsum(
                "bcd,bce,bef->df",
                &[&jacobian.get(p), &fisher, &jacobian.get(p)],
                None::<i64>,
            )
        })
        .collect();
    Tensor::stack(&matrices, 0)
}

/// Inputs in homogeneous coordinates, `(b L) × K'`, and cotangents, `(k b L) × O`, of every affine layer of one particle:
/// libtorch's layers and im2col forward, autograd with respect to the layers' outputs backward; `root`: `b × c × k`.
pub(crate) fn reference_layer_io(
    network: &Sequential,
    flat: &Tensor,
    x: &Tensor,
    root: &Tensor,
) -> Vec<(Tensor, Tensor)> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut h = x.shallow_clone();
    let mut start = 0;
    for layer in network.layers() {
        // One layer at a time, through a network of that layer alone.
        let shape: Vec<usize> = h.size()[1..].iter().map(|&s| s as usize).collect();
        let (o, k, bias) = match layer {
            Layer::Linear {
                inputs,
                outputs,
                bias,
            } => (*outputs, *inputs, *bias),
            Layer::Conv2d(c) => (c.outputs, c.inputs * c.kernel[0] * c.kernel[1], c.bias),
            other => {
                h = reference_other_layer(other, &h);
                continue;
            }
        };
        let mut rows = match layer {
            Layer::Conv2d(c) => {
                let pair = |v: [usize; 2]| [v[0] as i64, v[1] as i64];
                h.im2col(
                    pair(c.kernel),
                    pair(c.dilation),
                    pair(c.padding),
                    pair(c.stride),
                )
                .transpose(1, 2)
                .flatten(0, 1)
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
        h = if z.requires_grad() {
            z
        } else {
            z.detach().set_requires_grad(true)
        };
        outputs.push(h.shallow_clone());
    }
    let columns: Vec<Vec<Tensor>> = (0..root.size()[2])
        .map(|j| {
            Tensor::run_backward(
                &[(&h * root.select(2, j)).sum(Kind::Double)],
                &outputs,
                true,
                false,
            )
        })
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
}

fn layer_output_size(layer: &Layer, shape: &[usize]) -> [i64; 2] {
    let Layer::Conv2d(c) = layer else {
        panic!("not a convolution: {layer}")
    };
    [0, 1].map(|axis| {
        let room =
            shape[axis + 1] + 2 * c.padding[axis] - c.dilation[axis] * (c.kernel[axis] - 1) - 1;
        (room / c.stride[axis] + 1) as i64
    })
}
