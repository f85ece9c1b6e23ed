//! Where the parameters of an affine layer lie, and what sizes it has.
//!
//! Linear and Conv2d are one thing, a matrix product over rows `(sample, position)`:
//!
//! ```text
//! z[n, (b l), o] = Σ_k a[n, (b l), k] W[n, o, k] + β[n, o]
//! ```
//!
//! For Linear `L = 1` and `a` is the layer's input; for Conv2d `L` counts the output positions and row `(b, l)` of `a`
//! is the window of sample `b` that position `l` sees, unrolled as `C × kernel × kernel` (PyTorch's weight order).

use std::ops::Range;

use crate::Layer;
use crate::layer::Conv2d;
use crate::shape::saturating_product;

/// Where an affine layer's parameters lie in the flat vector, and how big it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AffineBlock {
    /// Index and name of the layer, for errors.
    pub label: String,
    /// Range of the weight, `outputs × fan_in` row-major.
    pub weight: Range<usize>,
    /// Range of the bias; empty if there is none.
    pub bias: Range<usize>,
    /// `O`.
    pub outputs: usize,
    /// `K`.
    pub fan_in: usize,
    /// `C`, kernel and the rest of a convolution, with its input and output sizes.
    pub conv: Option<ConvGeometry>,
}

/// A convolution together with the sizes it meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConvGeometry {
    pub conv: Conv2d,
    pub input: [usize; 2],
    pub output: [usize; 2],
}

impl AffineBlock {
    /// The block of `layer`, if it is affine, whose parameters begin at `start`; `input` and `output` are the shapes of a
    /// sample before and behind it.
    pub(crate) fn new(
        label: String,
        layer: &Layer,
        start: usize,
        input: &[usize],
        output: &[usize],
    ) -> Option<Self> {
        let (outputs, fan_in, has_bias, conv) = match layer {
            Layer::Linear {
                inputs,
                outputs,
                bias,
            } => (*outputs, *inputs, *bias, None),
            Layer::Conv2d(conv) => {
                let fan_in = saturating_product(&[conv.inputs, conv.kernel[0], conv.kernel[1]]);
                let geometry = ConvGeometry {
                    conv: conv.clone(),
                    input: [input[1], input[2]],
                    output: [output[1], output[2]],
                };
                (conv.outputs, fan_in, conv.bias, Some(geometry))
            }
            _ => return None,
        };
        let weight = start..outputs.saturating_mul(fan_in).saturating_add(start);
        let biases = if has_bias { outputs } else { 0 };
        Some(Self {
            label,
            bias: weight.end..weight.end.saturating_add(biases),
            weight,
            outputs,
            fan_in,
            conv,
        })
    }

    /// Shape of the weight as PyTorch has it.
    pub(crate) fn weight_shape(&self) -> Vec<usize> {
        match &self.conv {
            None => vec![self.outputs, self.fan_in],
            Some(ConvGeometry { conv, .. }) => {
                vec![self.outputs, conv.inputs, conv.kernel[0], conv.kernel[1]]
            }
        }
    }

    /// Range of all parameters of the layer: weight, then bias.
    pub(crate) fn range(&self) -> Range<usize> {
        self.weight.start..self.bias.end.max(self.weight.end)
    }

    /// Whether the layer has a bias.
    pub(crate) fn has_bias(&self) -> bool {
        !self.bias.is_empty()
    }

    /// `L`, positions per sample.
    pub(crate) fn positions(&self) -> usize {
        self.conv.as_ref().map_or(1, |g| g.output[0] * g.output[1])
    }

    /// `K'`: fan-in, and one more if there is a bias.
    pub(crate) fn homogeneous_fan_in(&self) -> usize {
        self.fan_in + usize::from(self.has_bias())
    }
}
