//! Settings of the image experiments that are a choice among names, and the device.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

/// Where networks are evaluated, as asked for: `auto`, `cpu`, `cuda` or `cuda:i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The first CUDA device if there is one.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device by its index.
    Cuda(usize),
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|index| index.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| "expected auto, cpu, cuda or cuda:i".to_owned()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name() {
        let parse = |text: &str| text.parse::<DeviceChoice>();
        for (text, device) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda:1", DeviceChoice::Cuda(1)),
        ] {
            assert_eq!(parse(text), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        assert_eq!(parse("cuda"), Ok(DeviceChoice::Cuda(0)));
        for text in ["gpu", "cuda:", "cuda:x", "cuda:-1", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
