//! Feed-forward networks: layers, and where their parameters lie in one flat vector.
//!
//! ```text
//! f(φ_p, x_i) ∈ R^c,   p = 1..N, i = 1..b
//! ```
//!
//! The flat parameter vector holds, layer by layer, the weight (`out × in` row-major; `out × C × kernel × kernel` for
//! convolutions) and then the bias: PyTorch's order and PyTorch's names, `0.weight`, `0.bias`, `2.weight`, …, where the
//! number is the layer's index among *all* layers. A network is evaluated by a [`Backend`](crate::Backend).

use std::sync::Arc;

use ndarray::{ArrayView2, s};

use crate::block::AffineBlock;
use crate::error::CurvatureError;
use crate::layer::Layer;
use crate::{ParameterLayout, Result};
use svn_linalg::dense::first_non_finite;

/// Layers applied one after the other.
///
/// # Examples
/// ```
/// use ndarray::Array2;
/// use svn_curvature::{Backend, Layer, Sequential};
///
/// let network = Sequential::new(&[6], vec![Layer::linear(6, 50), Layer::relu(), Layer::linear(50, 1)])?;
/// assert_eq!(network.layout().dim(), 6 * 50 + 50 + 50 + 1);
/// let particles = Array2::zeros((5, network.layout().dim()));
/// let samples = Backend::default().samples(&network, Array2::ones((16, 6)).view())?;
/// assert_eq!(samples.forward(&network, particles.view())?.dim(), (5, 16, 1));
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
            let block = AffineBlock::new(label(index, layer), layer, dim, &shape, &output);
            if let Some(block) = block {
                dim = block.range().end;
                parameters.push((format!("{index}.weight"), block.weight_shape()));
                if block.has_bias() {
                    parameters.push((format!("{index}.bias"), vec![block.outputs]));
                }
                blocks.push(block);
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

    /// The affine layers in order.
    pub(crate) fn blocks(&self) -> &Arc<[AffineBlock]> {
        &self.blocks
    }

    /// Number of values in a sample.
    pub fn inputs(&self) -> usize {
        self.input_shape.iter().product()
    }

    /// Checks `N × d` parameters: the shape, and NaN or infinity by particle and layer.
    pub(crate) fn check_particles(&self, particles: ArrayView2<'_, f64>) -> Result<()> {
        let d = self.layout.dim();
        if particles.nrows() == 0 || particles.ncols() != d {
            return Err(CurvatureError::Shape {
                what: "particles",
                expected: format!("particles × parameters = [N ≥ 1, {d}]"),
                found: particles.shape().to_vec(),
            });
        }
        if first_non_finite(particles.outer_iter()).is_none() {
            return Ok(());
        }
        for block in self.blocks.iter() {
            let part = particles.slice(s![.., block.range()]);
            if let Some(particle) = first_non_finite(part.outer_iter()) {
                return Err(CurvatureError::NonFinite {
                    quantity: "parameter",
                    particle,
                    layer: block.label.clone(),
                });
            }
        }
        Ok(())
    }

    /// What is wrong with the output of layer `index` of a particle.
    pub(crate) fn non_finite_output(&self, particle: usize, index: usize) -> CurvatureError {
        let layer = self.layers.get(index);
        CurvatureError::NonFinite {
            quantity: "output",
            particle,
            layer: layer.map_or_else(String::new, |layer| label(index, layer)),
        }
    }
}

/// Index and name of a layer, for errors.
pub(crate) fn label(index: usize, layer: &Layer) -> String {
    format!("{index} ({})", layer.name())
}
