//! The layers a network is made of, and the shape each gives per sample.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::shape::saturating_product;
use crate::{CurvatureError, Result};

/// One layer of a [`Sequential`](crate::Sequential) network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Layer {
    /// `y = W x + b`, `W`: `outputs × inputs`.
    Linear {
        /// Length of `x`.
        inputs: usize,
        /// Length of `y`.
        outputs: usize,
        /// Whether there is a `b`.
        #[serde(default = "yes")]
        bias: bool,
    },
    /// An elementwise function.
    Activation(Activation),
    /// `y = s x`. Behind an affine layer under a prior of precision `δ` it makes of that layer one of precision `δ/s²`.
    Scale(f64),
    /// Two-dimensional convolution (cross-correlation, as PyTorch has it) with zero padding.
    Conv2d(Conv2d),
    /// `C × H × W` to one vector, channels slowest (PyTorch's order).
    Flatten,
    /// Maximum over windows; padding counts as `−∞`.
    MaxPool2d(Pool2d),
    /// Mean over windows; padding counts as zeros in the mean.
    AvgPool2d(Pool2d),
}

impl Layer {
    /// A [`Layer::Linear`] with bias.
    pub fn linear(inputs: usize, outputs: usize) -> Self {
        Self::Linear {
            inputs,
            outputs,
            bias: true,
        }
    }

    /// A ReLU [`Layer::Activation`].
    pub fn relu() -> Self {
        Self::Activation(Activation::Relu)
    }

    /// Whether it has weights.
    pub fn is_affine(&self) -> bool {
        matches!(self, Self::Linear { .. } | Self::Conv2d(_))
    }

    /// Name as PyTorch has it, which has no `Scale`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "Linear",
            Self::Activation(Activation::Relu) => "ReLU",
            Self::Activation(Activation::Tanh) => "Tanh",
            Self::Activation(Activation::Sigmoid) => "Sigmoid",
            Self::Activation(Activation::Gelu) => "GELU",
            Self::Scale(_) => "Scale",
            Self::Conv2d(_) => "Conv2d",
            Self::Flatten => "Flatten",
            Self::MaxPool2d(_) => "MaxPool2d",
            Self::AvgPool2d(_) => "AvgPool2d",
        }
    }

    /// Shape per sample behind the layer, given the shape before it.
    pub(crate) fn output_shape(&self, index: usize, input: &[usize]) -> Result<Vec<usize>> {
        let label = || format!("{index} ({})", self.name());
        let mismatch = |expected: String| CurvatureError::LayerInput {
            layer: label(),
            expected,
            found: input.to_vec(),
        };
        match self {
            Self::Linear {
                inputs, outputs, ..
            } => {
                positive(&label(), "inputs", &[*inputs])?;
                positive(&label(), "outputs", &[*outputs])?;
                if input != [*inputs] {
                    return Err(mismatch(format!("[{inputs}]")));
                }
                Ok(vec![*outputs])
            }
            Self::Activation(_) => Ok(input.to_vec()),
            Self::Scale(factor) if factor.is_finite() && *factor != 0.0 => Ok(input.to_vec()),
            Self::Scale(factor) => Err(CurvatureError::UnsupportedLayer {
                layer: label(),
                reason: format!("its factor is {factor}, expected a finite number other than 0"),
            }),
            Self::Flatten => Ok(vec![saturating_product(input)]),
            Self::Conv2d(conv) => {
                conv.check(&label())?;
                match input {
                    &[c, h, w] if c == conv.inputs => {
                        let window = conv.window();
                        let size = window
                            .output_size([h, w])
                            .ok_or_else(|| window.too_small(&label(), [h, w]))?;
                        Ok(vec![conv.outputs, size[0], size[1]])
                    }
                    _ => Err(mismatch(format!("[{}, height, width]", conv.inputs))),
                }
            }
            Self::MaxPool2d(pool) | Self::AvgPool2d(pool) => {
                pool.check(&label())?;
                match input {
                    &[c, h, w] => {
                        let window = pool.window();
                        let size = window
                            .output_size([h, w])
                            .ok_or_else(|| window.too_small(&label(), [h, w]))?;
                        Ok(vec![c, size[0], size[1]])
                    }
                    _ => Err(mismatch("[channels, height, width]".into())),
                }
            }
        }
    }
}

/// Elementwise functions with a hand-written derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Activation {
    /// `max(z, 0)`; derivative 0 at 0, as PyTorch has it.
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e⁻ᶻ)`.
    Sigmoid,
    /// `z Φ(z)` with the exact normal distribution function.
    Gelu,
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Settings of [`Layer::Conv2d`]; `[vertical, horizontal]` wherever there are two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conv2d {
    /// Input channels `C`.
    pub inputs: usize,
    /// Output channels `O`.
    pub outputs: usize,
    /// Size of the kernel.
    pub kernel: [usize; 2],
    /// Step between windows.
    #[serde(default = "ones")]
    pub stride: [usize; 2],
    /// Zeros added on each side.
    #[serde(default)]
    pub padding: [usize; 2],
    /// Step within a window.
    #[serde(default = "ones")]
    pub dilation: [usize; 2],
    /// Whether there is a bias per output channel.
    #[serde(default = "yes")]
    pub bias: bool,
}

impl Conv2d {
    /// Stride 1, no padding, no dilation, with bias.
    pub fn new(inputs: usize, outputs: usize, kernel: [usize; 2]) -> Self {
        Self {
            inputs,
            outputs,
            kernel,
            stride: [1, 1],
            padding: [0, 0],
            dilation: [1, 1],
            bias: true,
        }
    }

    /// The same with another stride.
    pub fn stride(self, stride: [usize; 2]) -> Self {
        Self { stride, ..self }
    }

    /// The same with another padding.
    pub fn padding(self, padding: [usize; 2]) -> Self {
        Self { padding, ..self }
    }

    /// The same with another dilation.
    pub fn dilation(self, dilation: [usize; 2]) -> Self {
        Self { dilation, ..self }
    }

    /// The same with or without bias.
    pub fn bias(self, bias: bool) -> Self {
        Self { bias, ..self }
    }

    pub(crate) fn window(&self) -> Window {
        Window {
            kernel: self.kernel,
            stride: self.stride,
            padding: self.padding,
            dilation: self.dilation,
        }
    }

    fn check(&self, label: &str) -> Result<()> {
        positive(label, "inputs", &[self.inputs])?;
        positive(label, "outputs", &[self.outputs])?;
        self.window().check(label)
    }
}

/// Settings of the pooling layers; sizes that do not fill a last window are dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool2d {
    /// Size of a window.
    pub kernel: [usize; 2],
    /// Step between windows.
    pub stride: [usize; 2],
    /// Rows and columns added on each side; at most half the kernel.
    #[serde(default)]
    pub padding: [usize; 2],
}

impl Pool2d {
    /// Windows side by side: stride = kernel, no padding.
    pub fn new(kernel: [usize; 2]) -> Self {
        Self {
            kernel,
            stride: kernel,
            padding: [0, 0],
        }
    }

    /// The same with another stride.
    pub fn stride(self, stride: [usize; 2]) -> Self {
        Self { stride, ..self }
    }

    /// The same with another padding.
    pub fn padding(self, padding: [usize; 2]) -> Self {
        Self { padding, ..self }
    }

    pub(crate) fn window(&self) -> Window {
        Window {
            kernel: self.kernel,
            stride: self.stride,
            padding: self.padding,
            dilation: [1, 1],
        }
    }

    fn check(&self, label: &str) -> Result<()> {
        self.window().check(label)?;
        if (0..2).any(|axis| self.padding[axis] > self.kernel[axis] / 2) {
            return Err(CurvatureError::LayerSetting {
                layer: label.into(),
                setting: "padding",
                expected: "at most half the kernel",
                found: self.padding.to_vec(),
            });
        }
        Ok(())
    }
}

/// A window sliding over an image: what convolution and pooling share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub padding: [usize; 2],
    pub dilation: [usize; 2],
}

fn yes() -> bool {
    true
}

fn ones() -> [usize; 2] {
    [1, 1]
}

impl Window {
    fn check(&self, label: &str) -> Result<()> {
        positive(label, "kernel", &self.kernel)?;
        positive(label, "stride", &self.stride)?;
        positive(label, "dilation", &self.dilation)
    }

    /// Number of positions; none if the window does not fit once.
    pub(crate) fn output_size(&self, size: [usize; 2]) -> Option<[usize; 2]> {
        let along = |axis: usize| {
            let room = self.padding[axis]
                .saturating_mul(2)
                .saturating_add(size[axis]);
            let extent = self.dilation[axis]
                .saturating_mul(self.kernel[axis] - 1)
                .saturating_add(1);
            Some(room.checked_sub(extent)? / self.stride[axis] + 1)
        };
        Some([along(0)?, along(1)?])
    }

    fn too_small(&self, label: &str, size: [usize; 2]) -> CurvatureError {
        CurvatureError::LayerInput {
            layer: label.into(),
            expected: format!(
                "at least one window of {:?} (dilation {:?})",
                self.kernel, self.dilation
            ),
            found: size.to_vec(),
        }
    }
}

fn positive(label: &str, setting: &'static str, values: &[usize]) -> Result<()> {
    if values.contains(&0) {
        let (expected, found) = ("positive", values.to_vec());
        return Err(CurvatureError::LayerSetting {
            layer: label.into(),
            setting,
            expected,
            found,
        });
    }
    Ok(())
}
