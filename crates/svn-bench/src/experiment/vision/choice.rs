//! Settings of the image experiments that are a choice among names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use svn_models::Device;

choice! {
    /// Activation of LeNet.
    Activation {
        /// The original's.
        Sigmoid = "sigmoid",
        /// Easier to train.
        Relu = "relu",
        /// Hyperbolic tangent.
        Tanh = "tanh",
    }
}
choice! {
    /// How the last layer comes to its Newton steps in LL-SVN.
    LlMode {
        /// All layers from the start, Newton steps on the last one.
        Joint = "joint",
        /// First all layers by first-order steps, then the last one alone by Newton steps.
        Pretrained = "pretrained",
    }
}
choice! {
    /// Root of the curvature in the outputs.
    Root {
        /// The Fisher information of the outputs.
        Exact = "exact",
        /// One draw from the model a row: unbiased, and one column for ten.
        Sampled = "sampled",
    }
}
choice! {
    /// How images are cut into parts.
    ImageSplit {
        /// 5-fold cross-validation over all images, 64 / 16 / 20 %.
        Paper = "paper",
        /// The official test images; 20 % of the others are for validation.
        Official = "official",
    }
}

/// Which kind of device did the work: results of the two differ in their last digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// The processor.
    Cpu,
    /// A CUDA device.
    Cuda,
}

impl From<Device> for DeviceKind {
    fn from(device: Device) -> Self {
        match device {
            Device::Cpu => Self::Cpu,
            Device::Cuda(_) => Self::Cuda,
        }
    }
}
