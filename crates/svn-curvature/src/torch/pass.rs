//! All particles' way through the layers.

use tch::Tensor;

use super::affine::Input;
use super::finite::{all_finite, first_non_finite};
use super::pair;
use super::tape::Record;
use crate::layer::Layer;
use crate::{Result, Sequential};

/// Outputs of all particles; `tape` collects what the way back needs.
///
/// `x`: `M × b × input_shape`, `M` = 1 or `N`, checked.
pub(super) fn run(
    network: &Sequential,
    params: &Tensor,
    x: &Tensor,
    tape: Option<&mut Vec<Record>>,
) -> Result<Tensor> {
    let outputs = apply_layers(network, params, x, tape, |_, _| Ok(()))?;
    if all_finite(&outputs)? {
        return Ok(outputs);
    }
    // A sum that overflows is no fault; a particle's outputs are one. Once more, to name the layer.
    if let Some(particle) = first_non_finite(&outputs)? {
        let own = |all: &Tensor| {
            let last = all.size()[0] - 1;
            all.f_narrow(0, last.min(particle as i64), 1)
        };
        let _ =
            apply_layers(
                network,
                &own(params)?,
                &own(x)?,
                None,
                |index, h| match first_non_finite(h)? {
                    Some(_) => Err(network.non_finite_output(particle, index)),
                    None => Ok(()),
                },
            )?;
        let last = network.layers().len() - 1;
        return Err(network.non_finite_output(particle, last));
    }
    Ok(outputs)
}

fn apply_layers(
    network: &Sequential,
    params: &Tensor,
    x: &Tensor,
    mut tape: Option<&mut Vec<Record>>,
    inspect: impl Fn(usize, &Tensor) -> Result<()>,
) -> Result<Tensor> {
    let mut affine = network.blocks().iter().enumerate();
    let mut h = x.shallow_clone();
    for (index, layer) in network.layers().iter().enumerate() {
        let per_sample = h.size().split_off(2);
        let (output, record) = match layer {
            Layer::Linear { .. } | Layer::Conv2d(_) => {
                let Some((block, affine)) = affine.next() else {
                    unreachable!("one block per affine layer")
                };
                let input = Input::new(h.shallow_clone());
                let output = match affine.convolve(params, &h)? {
                    Some(output) => output,
                    None => affine.forward(params, input.rows(affine)?)?,
                };
                let weight = affine.weight_of(params)?;
                let record = Record::Affine {
                    block,
                    input,
                    weight,
                };
                (output, Some(record))
            }
            Layer::Activation(function) => {
                let y = function.value(&h)?;
                let record = match tape {
                    Some(_) => Some(Record::Pointwise {
                        derivative: function.derivative(&h, &y)?,
                    }),
                    None => None,
                };
                (y, record)
            }
            Layer::Scale(factor) => (
                h.f_mul_scalar(*factor)?,
                Some(Record::Scale { factor: *factor }),
            ),
            Layer::Flatten => (
                h.f_flatten(2, -1)?,
                Some(Record::Flatten { input: per_sample }),
            ),
            Layer::MaxPool2d(pool) => {
                let (kernel, stride, padding) =
                    (pair(pool.kernel), pair(pool.stride), pair(pool.padding));
                let planes = Planes::new(&h)?;
                let (pooled, indices) = planes.images.f_max_pool2d_with_indices(
                    kernel,
                    stride,
                    padding,
                    [1, 1],
                    false,
                )?;
                let record = Record::MaxPool {
                    pool: pool.clone(),
                    indices: planes.back(&indices)?,
                    input: per_sample,
                };
                (planes.back(&pooled)?, Some(record))
            }
            Layer::AvgPool2d(pool) => {
                let (kernel, stride, padding) =
                    (pair(pool.kernel), pair(pool.stride), pair(pool.padding));
                let planes = Planes::new(&h)?;
                let pooled = planes
                    .images
                    .f_avg_pool2d(kernel, stride, padding, false, true, None)?;
                (
                    planes.back(&pooled)?,
                    Some(Record::AvgPool {
                        pool: pool.clone(),
                        input: per_sample,
                    }),
                )
            }
        };
        inspect(index, &output)?;
        if let (Some(tape), Some(record)) = (tape.as_mut(), record) {
            tape.push(record);
        }
        h = output;
    }
    Ok(h)
}

/// `M × b × C × H × W` as images `Mb × C × H × W`, or `bM × …` where that is how they lie in memory.
struct Planes {
    images: Tensor,
    samples_first: bool,
    sides: [i64; 2],
}

impl Planes {
    fn new(h: &Tensor) -> Result<Self> {
        let swapped = h.f_transpose(0, 1)?;
        let samples_first = !h.is_contiguous() && swapped.is_contiguous();
        let source = if samples_first { &swapped } else { h };
        Ok(Self {
            images: source.f_flatten(0, 1)?,
            samples_first,
            sides: [source.size()[0], source.size()[1]],
        })
    }

    /// What was made of the images, as `M × b × …`.
    fn back(&self, images: &Tensor) -> Result<Tensor> {
        let shape = [&self.sides[..], &images.size()[1..]].concat();
        let images = images.f_view(shape.as_slice())?;
        Ok(match self.samples_first {
            true => images.f_transpose(0, 1)?,
            false => images,
        })
    }
}
