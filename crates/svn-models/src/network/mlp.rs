//! Multilayer perceptrons.

use crate::ModelError;
use serde::{Deserialize, Serialize};
use svn_curvature::{Activation, Layer, Sequential};

/// A fully connected network: `inputs → hidden[0] → … → outputs`, an activation after each hidden layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlpSettings {
    /// Width of the input.
    pub inputs: usize,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// Number of outputs.
    pub outputs: usize,
    /// Activation after each hidden layer.
    pub activation: Activation,
}

impl MlpSettings {
    /// Build the network.
    ///
    /// # Errors
    /// [`ModelError::Setting`] if a width is 0.
    pub fn build(&self) -> Result<Sequential, ModelError> {
        let widths: Vec<usize> = std::iter::once(self.inputs)
            .chain(self.hidden.iter().copied())
            .chain([self.outputs])
            .collect();
        if let Some(layer) = widths.iter().position(|width| *width == 0) {
            return Err(ModelError::setting(
                &format!("width of layer {layer}"),
                0,
                "at least 1",
            ));
        }
        let mut layers = Vec::with_capacity(2 * widths.len());
        for pair in widths.windows(2) {
            if !layers.is_empty() {
                layers.push(Layer::Activation(self.activation));
            }
            layers.push(Layer::Linear {
                inputs: pair[0],
                outputs: pair[1],
                bias: true,
            });
        }
        Ok(Sequential::new(&[self.inputs], layers)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_networks_of_the_paper_have_their_sizes() {
        let size = |inputs, outputs| {
            let settings = MlpSettings {
                inputs,
                hidden: vec![50, 50],
                outputs,
                activation: Activation::Relu,
            };
            settings.build().unwrap().layout().dim()
        };
        assert_eq!(size(6, 1), 6 * 50 + 50 + 50 * 50 + 50 + 50 + 1);
        assert_eq!(size(6, 2), 6 * 50 + 50 + 50 * 50 + 50 + 100 + 2);
    }

    #[test]
    fn a_layer_without_units_is_refused_by_name() {
        let settings = MlpSettings {
            inputs: 3,
            hidden: vec![50, 0],
            outputs: 1,
            activation: Activation::Relu,
        };
        assert_eq!(
            settings.build().unwrap_err().to_string(),
            "width of layer 2 is 0; expected at least 1"
        );
    }
}
