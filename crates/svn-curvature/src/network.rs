//! Feed-forward networks for many particles at once: the parameters have a leading particle dimension.
//!
//! ```text
//! f(φ_p, x_i) ∈ R^c,   p = 1..N, i = 1..b
//! ```
//!
//! The flat parameter vector holds, layer by layer, the weight (`out × in` row-major; `out × C × kernel × kernel` for
//! convolutions) and then the bias: PyTorch's order and PyTorch's names, `0.weight`, `0.bias`, `2.weight`, …, where the
//! number is the layer's index among *all* layers.

use std::sync::Arc;

use tch::{Kind, Tensor};

use crate::affine::{AffineBlock, ConvGeometry, Input};
use crate::error::{CurvatureError, check_shape};
use crate::layer::{Layer, pair};
use crate::shape::saturating_product;
use crate::subject::{Subject, all_finite, first_non_finite};
use crate::tape::Record;
use crate::{Linearization, ParameterLayout, Result};

/// Layers applied one after the other.
///
/// # Examples
/// ```
/// use svn_curvature::{Layer, Sequential};
/// use tch::{Device, Kind, Tensor};
///
/// let network = Sequential::new(&[6], vec![Layer::linear(6, 50), Layer::relu(), Layer::linear(50, 1)])?;
/// assert_eq!(network.layout().dim(), 6 * 50 + 50 + 50 + 1);
/// let params = Tensor::zeros([5, network.layout().dim() as i64], (Kind::Double, Device::Cpu));
/// let x = Tensor::ones([16, 6], (Kind::Double, Device::Cpu));
/// assert_eq!(network.forward(&params, &x)?.size(), [5, 16, 1]);
/// # Ok::<(), svn_curvature::CurvatureError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sequential {
    layers: Vec<Layer>,
    input_shape: Vec<usize>,
    outputs: usize,
    layout: ParameterLayout,
    blocks: Arc<[AffineBlock]>,
}

impl Sequential {
    /// A network on samples of shape `input_shape` (`[features]`, or `[channels, height, width]`).
    ///
    /// # Errors
    /// Names the first layer whose settings make no sense or that does not fit the one before it; the network must have
    /// parameters and end in one vector per sample.
    pub fn new(input_shape: &[usize], layers: Vec<Layer>) -> Result<Self> {
        if input_shape.is_empty() || input_shape.contains(&0) {
            let expected = "take samples with at least one dimension and no side of length 0";
            return Err(CurvatureError::Network {
                expected,
                found: input_shape.to_vec(),
            });
        }
        let mut shape = input_shape.to_vec();
        let mut parameters = Vec::new();
        let mut dim = 0;
        let mut blocks = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            let output = layer.output_shape(index, &shape)?;
            let affine = match layer {
                Layer::Linear {
                    inputs,
                    outputs,
                    bias,
                } => Some((vec![*outputs, *inputs], *bias, None)),
                Layer::Conv2d(conv) => {
                    let weight = vec![conv.outputs, conv.inputs, conv.kernel[0], conv.kernel[1]];
                    let (input, output) = ([shape[1], shape[2]], [output[1], output[2]]);
                    Some((
                        weight,
                        conv.bias,
                        Some(ConvGeometry {
                            conv: conv.clone(),
                            input,
                            output,
                        }),
                    ))
                }
                _ => None,
            };
            if let Some((shape, has_bias, conv)) = affine {
                let (outputs, fan_in) = (shape[0], saturating_product(&shape[1..]));
                let weight = dim..outputs.saturating_mul(fan_in).saturating_add(dim);
                let bias =
                    weight.end
                        ..weight
                            .end
                            .saturating_add(if has_bias { outputs } else { 0 });
                dim = bias.end;
                parameters.push((format!("{index}.weight"), shape));
                if has_bias {
                    parameters.push((format!("{index}.bias"), vec![outputs]));
                }
                blocks.push(AffineBlock {
                    label: label(index, layer),
                    weight,
                    bias,
                    outputs,
                    fan_in,
                    conv,
                });
            }
            shape = output;
        }
        if blocks.is_empty() {
            return Err(CurvatureError::Network {
                expected: "have at least one Linear or Conv2d layer",
                found: shape,
            });
        }
        let [outputs] = shape[..] else {
            return Err(CurvatureError::Network {
                expected: "end in one vector of outputs",
                found: shape,
            });
        };
        let layout = ParameterLayout::new(parameters)?;
        Ok(Self {
            layers,
            input_shape: input_shape.to_vec(),
            outputs,
            layout,
            blocks: blocks.into(),
        })
    }

    /// The layers in order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Shape of one sample.
    pub fn input_shape(&self) -> &[usize] {
        &self.input_shape
    }

    /// `c`, the number of outputs per sample.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Names, shapes and places of the parameters; its `dim()` is `d`.
    pub fn layout(&self) -> &ParameterLayout {
        &self.layout
    }

    /// Outputs of all particles on the same samples. No gradient is recorded.
    ///
    /// # Shapes
    /// `params`: `N × d`, f64 or f32, on any device; `x`: `b × input_shape`, of the same kind, on the same device;
    /// result: `N × b × c`.
    ///
    /// # Errors
    /// Wrong shapes, kinds or devices; NaN or infinity in the parameters (particle and layer), the inputs (row) or
    /// what the layers give (particle and layer).
    pub fn forward(&self, params: &Tensor, x: &Tensor) -> Result<Tensor> {
        tch::no_grad(|| {
            self.check(params, x)?;
            self.run(params, &x.f_unsqueeze(0)?, None)
        })
    }

    /// Outputs, and what is needed for products with the Jacobians `J_i = ∂f(φ_p, x_i)/∂φ_p`.
    ///
    /// Shapes and errors as for [`Sequential::forward`].
    pub fn linearize(&self, params: &Tensor, x: &Tensor) -> Result<Linearization> {
        tch::no_grad(|| {
            self.check(params, x)?;
            self.record(params, &x.f_unsqueeze(0)?)
        })
    }

    /// [`Sequential::forward`] of samples that each particle has for itself.
    ///
    /// # Shapes
    /// `x`: `N × b × input_shape`; otherwise as for [`Sequential::forward`].
    ///
    /// # Errors
    /// As for [`Sequential::forward`].
    pub fn forward_each(&self, params: &Tensor, x: &Tensor) -> Result<Tensor> {
        tch::no_grad(|| {
            self.check_each(params, x)?;
            self.run(params, x, None)
        })
    }

    /// [`Sequential::linearize`] at samples that each particle has for itself, such as what frozen layers of its own make of
    /// common samples.
    ///
    /// Shapes and errors as for [`Sequential::forward_each`].
    pub fn linearize_each(&self, params: &Tensor, x: &Tensor) -> Result<Linearization> {
        tch::no_grad(|| {
            self.check_each(params, x)?;
            self.record(params, x)
        })
    }

    fn record(&self, params: &Tensor, x: &Tensor) -> Result<Linearization> {
        let mut records = Vec::with_capacity(self.layers.len());
        let outputs = self.run(params, x, Some(&mut records))?;
        Ok(Linearization::new(
            Subject::new(self.blocks.clone(), &outputs),
            records,
            outputs,
        ))
    }

    /// `x`: `M × b × input_shape`, `M` = 1 or `N`, checked.
    fn run(&self, params: &Tensor, x: &Tensor, tape: Option<&mut Vec<Record>>) -> Result<Tensor> {
        let outputs = self.apply_layers(params, x, tape, |_, _| Ok(()))?;
        if !all_finite(&outputs)? {
            // Once more, layer by layer, to name the culprit; a network that is finite on all layers passes.
            return self.apply_layers(params, x, None, |index, h| match first_non_finite(h)? {
                Some(particle) => Err(self.non_finite("output", particle, index)),
                None => Ok(()),
            });
        }
        Ok(outputs)
    }

    fn apply_layers(
        &self,
        params: &Tensor,
        x: &Tensor,
        mut tape: Option<&mut Vec<Record>>,
        inspect: impl Fn(usize, &Tensor) -> Result<()>,
    ) -> Result<Tensor> {
        let mut affine = self.blocks.iter().enumerate();
        let mut h = x.shallow_clone();
        for (index, layer) in self.layers.iter().enumerate() {
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

    /// As [`Self::check`], of samples `N × b × …`.
    fn check_each(&self, params: &Tensor, x: &Tensor) -> Result<()> {
        let (particles, found) = (params.size().first().copied(), x.size());
        let [n, rows, sample @ ..] = &found[..] else {
            return self.check(params, x);
        };
        if Some(*n) != particles {
            return Err(CurvatureError::Shape {
                what: "x",
                expected: format!("particles × rows × sample shape, particles = {particles:?}"),
                found,
            });
        }
        // The row that is named counts through the particles.
        self.check(params, &x.f_reshape([&[n * rows], sample].concat())?)
    }

    fn check(&self, params: &Tensor, x: &Tensor) -> Result<()> {
        let d = self.layout.dim() as i64;
        if !matches!(params.size()[..], [n, found] if n >= 1 && found == d) {
            let expected = format!("particles × parameters = [N ≥ 1, {d}]");
            return Err(CurvatureError::Shape {
                what: "params",
                expected,
                found: params.size(),
            });
        }
        if !matches!(params.kind(), Kind::Double | Kind::Float) {
            let expected = "Double or Float".to_string();
            return Err(CurvatureError::Kind {
                what: "params",
                expected,
                found: params.kind(),
            });
        }
        let sample: Vec<i64> = self.input_shape.iter().map(|&s| s as i64).collect();
        let batch = x.size().first().copied().unwrap_or(0).max(1);
        check_shape(
            "x",
            &x.size(),
            &[&[batch], &sample[..]].concat(),
            "rows ≥ 1 × sample shape",
        )?;
        if x.kind() != params.kind() {
            let expected = format!("{:?} like the parameters", params.kind());
            return Err(CurvatureError::Kind {
                what: "x",
                expected,
                found: x.kind(),
            });
        }
        if x.device() != params.device() {
            return Err(CurvatureError::Device {
                what: "x",
                expected: params.device(),
                found: x.device(),
            });
        }
        if !all_finite(x)?
            && let Some(row) = first_non_finite(x)?
        {
            return Err(CurvatureError::NonFiniteInput { row });
        }
        if !all_finite(params)? {
            for block in self.blocks.iter() {
                let range = block.range();
                if let Some(particle) = first_non_finite(&params.f_narrow(
                    1,
                    range.start as i64,
                    range.len() as i64,
                )?)? {
                    let layer = block.label.clone();
                    return Err(CurvatureError::NonFinite {
                        quantity: "parameter",
                        particle,
                        layer,
                    });
                }
            }
        }
        Ok(())
    }

    fn non_finite(&self, quantity: &'static str, particle: usize, index: usize) -> CurvatureError {
        let layer = self
            .layers
            .get(index)
            .map_or_else(String::new, |layer| label(index, layer));
        CurvatureError::NonFinite {
            quantity,
            particle,
            layer,
        }
    }
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

fn label(index: usize, layer: &Layer) -> String {
    format!("{index} ({})", layer.name())
}
