//! LeNet-5 for images of one channel and 28 × 28 pixels.
//!
//! ```text
//! conv 5×5, 6 channels, padding 2 → σ → max 2×2 → conv 5×5, 16 channels → σ → max 2×2 → 400 → 120 → σ → 84 → σ → C
//! ```
//!
//! With ten classes 61 706 parameters.
//!
//! Reference: LeCun et al., *Gradient-based learning applied to document recognition* (1998), with maxima for its
//! trainable subsampling and without its sparse connections.

use crate::ModelError;
use serde::{Deserialize, Serialize};
use svn_curvature::{Activation, Conv2d, Layer, Pool2d, Sequential};

/// A LeNet on rows of 784 pixels, row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeNetSettings {
    /// Number of outputs.
    pub outputs: usize,
    /// Activation after each convolution and hidden layer: sigmoid originally.
    pub activation: Activation,
}

impl LeNetSettings {
    /// Height and width of an image.
    pub const SIDE: usize = 28;

    /// Build the network; it takes `n × 1 × 28 × 28`.
    ///
    /// # Errors
    /// [`ModelError::Setting`] for no outputs.
    pub fn build(&self) -> Result<Sequential, ModelError> {
        if self.outputs == 0 {
            return Err(ModelError::setting("outputs", 0, "at least 1"));
        }
        let activation = || Layer::Activation(self.activation);
        let pool = || Layer::MaxPool2d(Pool2d::new([2, 2]));
        let layers = vec![
            Layer::Conv2d(Conv2d::new(1, 6, [5, 5]).padding([2, 2])),
            activation(),
            pool(),
            Layer::Conv2d(Conv2d::new(6, 16, [5, 5])),
            activation(),
            pool(),
            Layer::Flatten,
            Layer::linear(400, 120),
            activation(),
            Layer::linear(120, 84),
            activation(),
            Layer::linear(84, self.outputs),
        ];
        Ok(Sequential::new(&[1, Self::SIDE, Self::SIDE], layers)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_of_the_paper_has_its_size() {
        for activation in [Activation::Sigmoid, Activation::Relu] {
            let settings = LeNetSettings {
                outputs: 10,
                activation,
            };
            assert_eq!(settings.build().unwrap().layout().dim(), 61_706);
        }
    }
}
