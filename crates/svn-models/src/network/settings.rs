//! Which network is trained.

use super::{LeNetSettings, MlpSettings};
use crate::{ModelError, Precision};
use serde::{Deserialize, Serialize};
use svn_curvature::{Activation, Sequential};

/// A network but for its numbers of inputs and outputs, which data and likelihood decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
        }
    }

    /// f64 for multilayer perceptrons, f32 for LeNet.
    pub fn default_precision(&self) -> Precision {
        match self {
            Self::Mlp { .. } => Precision::Double,
            Self::LeNet { .. } => Precision::Single,
        }
    }
}
