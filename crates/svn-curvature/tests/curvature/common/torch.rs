//! Networks by libtorch's own layers, one particle at a time, differentiated by autograd.

use ndarray::{Array, Array2, Array4, ArrayView, Dimension, IxDyn};
use svn_curvature::{Activation, Layer, Sequential};
use tch::Tensor;

use super::Case;

/// An array as a tensor of f64.
pub(crate) fn tensor<D: Dimension>(array: ArrayView<'_, f64, D>) -> Tensor {
    let shape: Vec<i64> = array.shape().iter().map(|&side| side as i64).collect();
    let values: Vec<f64> = array.iter().copied().collect();
    Tensor::from_slice(&values).view(shape.as_slice())
}

/// A tensor as an array.
pub(crate) fn array<D: Dimension>(tensor: &Tensor) -> Array<f64, D> {
    let shape: Vec<usize> = tensor.size().iter().map(|&side| side as usize).collect();
    let values = Vec::<f64>::try_from(tensor.contiguous().view([-1])).unwrap();
    let array = Array::from_shape_vec(IxDyn(&shape), values).unwrap();
    array.into_dimensionality().unwrap()
}

/// Samples of a case as the network takes them.
fn samples(case: &Case) -> Tensor {
    let sample = case.network.input_shape().iter().map(|&side| side as i64);
    tensor(case.x.view()).view(&std::iter::once(-1).chain(sample).collect::<Vec<_>>()[..])
}

/// Outputs of one particle, `b × c`.
pub(crate) fn outputs(case: &Case, particle: usize) -> Array2<f64> {
    let flat = tensor(case.params.row(particle));
    array(&forward(&case.network, &flat, &samples(case)))
}

/// Jacobians of all particles by autograd, one output at a time: `N × b × c × d`.
pub(crate) fn jacobian(case: &Case) -> Array4<f64> {
    let particles: Vec<Tensor> = case
        .params
        .outer_iter()
        .map(|params| {
            let flat = tensor(params).set_requires_grad(true);
            let f = forward(&case.network, &flat, &samples(case));
            let (b, c) = f.size2().unwrap();
            let rows: Vec<Tensor> = (0..b * c)
                .map(|i| {
                    Tensor::run_backward(&[f.view([b * c]).get(i)], &[&flat], true, false).remove(0)
                })
                .collect();
            Tensor::stack(&rows, 0).view([b, c, -1])
        })
        .collect();
    array(&Tensor::stack(&particles, 0))
}

fn forward(network: &Sequential, flat: &Tensor, x: &Tensor) -> Tensor {
    let blocks = network.layout().blocks();
    let parameter = |name: String| {
        let block = blocks.iter().find(|block| block.name() == name)?;
        let shape: Vec<i64> = block.shape().iter().map(|&s| s as i64).collect();
        let part = flat.narrow(0, block.range().start as i64, block.range().len() as i64);
        Some(part.reshape(shape))
    };
    let pair = |v: [usize; 2]| [v[0] as i64, v[1] as i64];
    let layers = network.layers().iter().enumerate();
    layers.fold(x.shallow_clone(), |h, (index, layer)| {
        let weight = || parameter(format!("{index}.weight")).expect("affine layers have a weight");
        let bias = parameter(format!("{index}.bias"));
        match layer {
            Layer::Linear { .. } => h.linear(&weight(), bias.as_ref()),
            Layer::Conv2d(c) => {
                let (stride, padding) = (pair(c.stride), pair(c.padding));
                h.conv2d(
                    &weight(),
                    bias.as_ref(),
                    stride,
                    padding,
                    pair(c.dilation),
                    1,
                )
            }
            Layer::Activation(Activation::Relu) => h.relu(),
            Layer::Activation(Activation::Tanh) => h.tanh(),
            Layer::Activation(Activation::Sigmoid) => h.sigmoid(),
            Layer::Activation(Activation::Gelu) => h.gelu("none"),
            Layer::Scale(factor) => h * *factor,
            Layer::Flatten => h.flatten(1, -1),
            Layer::MaxPool2d(p) => {
                let (kernel, stride) = (pair(p.kernel), pair(p.stride));
                h.max_pool2d(kernel, stride, pair(p.padding), [1, 1], false)
            }
            Layer::AvgPool2d(p) => {
                let (kernel, stride) = (pair(p.kernel), pair(p.stride));
                h.avg_pool2d(kernel, stride, pair(p.padding), false, true, None)
            }
            other => panic!("no reference for {other}"),
        }
    })
}
