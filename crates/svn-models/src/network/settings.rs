//! Which network is trained.

use super::{LeNetSettings, MlpSettings};
use crate::{ModelError, Precision};
use serde::{Deserialize, Serialize};
use svn_curvature::{Activation, Layer, Sequential};

/// A network but for its numbers of inputs and outputs, which data and likelihood decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
#[non_exhaustive]
pub enum NetworkSettings {
    /// Fully connected layers.
    Mlp {
        /// Widths of the hidden layers.
        hidden: Vec<usize>,
        /// Activation after each hidden layer.
        activation: Activation,
    },
    /// LeNet on images of 28 × 28 pixels.
    #[serde(rename = "lenet")]
    LeNet {
        /// Activation after each convolution and hidden layer.
        activation: Activation,
    },
    /// Any layers.
    Layers(Layers),
}

/// A network layer by layer: what PyTorch calls a sequential module.
///
/// A [`Layer`] is read from the text that PyTorch prints: `"Linear(in_features=8, out_features=20, bias=True)".parse()`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layers {
    /// Shape of a sample, `[features]` or `[channels, height, width]`; a row of features holds it in row-major order.
    pub input_shape: Vec<usize>,
    /// The layers, the last one with as many outputs as the likelihood has.
    pub layers: Vec<Layer>,
}

impl Layers {
    /// Whether there are convolutions, which are evaluated by libtorch.
    pub fn is_convolutional(&self) -> bool {
        let convolution = |layer: &Layer| matches!(layer, Layer::Conv2d(_));
        self.layers.iter().any(convolution)
    }

    fn build(&self, inputs: usize, outputs: usize) -> Result<Sequential, ModelError> {
        let network = Sequential::new(&self.input_shape, self.layers.clone())?;
        if network.inputs() != inputs {
            return Err(ModelError::Shape {
                what: "a row of features for the layers given".into(),
                found: vec![inputs],
                expected: self.input_shape.clone(),
            });
        }
        if network.outputs() != outputs {
            return Err(ModelError::setting(
                "outputs of the last layer",
                network.outputs(),
                &format!(
                    "{outputs}: mean and log variance of a number (of one noise level the mean alone), one logit of two classes, \
                     else one a class"
                ),
            ));
        }
        Ok(network)
    }
}

impl NetworkSettings {
    /// The network for rows of `inputs` features.
    ///
    /// # Errors
    /// [`ModelError::Setting`] for a width of 0, [`ModelError::Shape`] for rows that are no images of LeNet's size.
    pub fn build(&self, inputs: usize, outputs: usize) -> Result<Sequential, ModelError> {
        match self {
            Self::Mlp { hidden, activation } => MlpSettings {
                inputs,
                hidden: hidden.clone(),
                outputs,
                activation: *activation,
            }
            .build(),
            Self::LeNet { activation } => {
                let pixels = LeNetSettings::SIDE * LeNetSettings::SIDE;
                if inputs != pixels {
                    return Err(ModelError::Shape {
                        what: "a row of features for LeNet".into(),
                        found: vec![inputs],
                        expected: vec![pixels],
                    });
                }
                LeNetSettings {
                    outputs,
                    activation: *activation,
                }
                .build()
            }
            Self::Layers(layers) => layers.build(inputs, outputs),
        }
    }

    /// f64, but f32 for convolutions.
    pub fn default_precision(&self) -> Precision {
        match self {
            Self::LeNet { .. } => Precision::Single,
            Self::Layers(layers) if layers.is_convolutional() => Precision::Single,
            Self::Mlp { .. } | Self::Layers(_) => Precision::Double,
        }
    }
}
