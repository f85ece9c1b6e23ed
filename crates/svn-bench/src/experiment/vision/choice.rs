//! How images are cut, and what evaluates the networks.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use svn_models::Device;

/// How images are cut into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ImageSplit {
    /// 5-fold cross-validation over all images, 64 / 16 / 20 %.
    Paper,
    /// The official test images; 20 % of the others are for validation.
    Official,
}

impl ImageSplit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Official => "official",
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

impl From<Device> for DeviceKind {
    fn from(device: Device) -> Self {
        match device {
            Device::Cpu => Self::Cpu,
            Device::Cuda(_) => Self::Cuda,
        }
    }
}
