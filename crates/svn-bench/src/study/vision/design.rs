//! x
use crate::data::Task;
use crate::data::images::Corruption;
use crate::engine::{Design, Extra};
use crate::metrics::ReliabilityBin;
use crate::split::Limits;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use svn_models::Device;

/// x
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VisionDesign {
    /// x
    pub dataset: String,
    /// x
    pub data_sha256: String,
    /// x
    pub foreign: Option<String>,
    /// x
    pub foreign_sha256: Option<String>,
    /// x
    pub split: ImageSplit,
    /// x
    pub limits: Limits,
    /// x
    pub corruption: Option<usize>,
    /// x
    pub device: DeviceKind,
}
/// x
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CorruptionPoint {
    /// x
    pub kind: Corruption,
    /// x
    pub level: f64,
    /// x
    pub accuracy: f64,
    /// x
    pub nll: Option<f64>,
    /// x
    pub ece: f64,
}
/// x
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VisionExtra {
    /// x
    pub corruption: Vec<CorruptionPoint>,
    /// x
    pub reliability: Vec<ReliabilityBin>,
}
impl Extra for VisionExtra {
    type Pooled = ();
    fn pool(_: &[&Self]) {}
}
impl Design for VisionDesign {
    fn dataset(&self) -> &str {
        &self.dataset
    }
    fn data_sha256(&self) -> &str {
        &self.data_sha256
    }
    fn task(&self) -> Task {
        Task::Classification
    }
    fn protocol(&self) -> &'static str {
        "x"
    }
    fn folds(&self) -> usize {
        match self.split {
            ImageSplit::Paper => 5,
            ImageSplit::Official => 1,
        }
    }
    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![(
            "images",
            self.limits
                .learning
                .map_or_else(|| "all".to_owned(), |n| n.to_string()),
        )]
    }
}
/// x
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ImageSplit {
    /// x
    Paper,
    /// x
    Official,
}
/// x
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// x
    Cpu,
    /// x
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
