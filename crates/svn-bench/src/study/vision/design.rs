//! Images, how they are cut and what evaluates the networks, and records of older programs as what they would be now.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use svn_models::Device;

use crate::data::Task;
use crate::engine::Design;
use crate::split::Limits;

/// Folds of the paper's split.
pub const PAPER_FOLDS: usize = 5;

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

    /// Its folds.
    pub fn folds(self) -> usize {
        match self {
            Self::Paper => PAPER_FOLDS,
            Self::Official => 1,
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

/// Everything but method, settings, seed and fold that a result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VisionDesign {
    /// Name of the image set.
    pub dataset: String,
    /// SHA-256 of its values.
    pub data_sha256: String,
    /// Name of the set whose images are foreign, if it was at hand.
    pub foreign: Option<String>,
    /// SHA-256 of its values.
    pub foreign_sha256: Option<String>,
    /// How images are cut into parts.
    pub split: ImageSplit,
    /// Images used.
    pub limits: Limits,
    /// Test images that were measured corrupted, at most; null for none.
    pub corruption: Option<usize>,
    /// What evaluated the networks.
    pub device: DeviceKind,
}

impl VisionDesign {
    /// Training and validation images in words.
    pub fn size(&self) -> String {
        let size = self.limits.learning;
        size.map_or_else(|| "all".to_owned(), |size| size.to_string())
    }
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
        self.split.name()
    }

    fn folds(&self) -> usize {
        self.split.folds()
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("images", self.size())]
    }

    /// Before schema 3 a record had a `configuration` with method and settings among the fields of the design, and its measures
    /// beside the common ones. In schema 1 some of the settings were apart, and those that were not used were null.
    fn upgrade(line: &mut Value) {
        let Some(line) = line.as_object_mut() else {
            return;
        };
        let Some(Value::Object(mut design)) = line.remove("configuration") else {
            return;
        };
        if let Some(Value::Object(mut settings)) = design.remove("settings") {
            if let Some(Value::Object(vision)) = design.remove("vision") {
                settings.extend(vision);
            }
            if line.get("schema") == Some(&json!(1)) {
                settings.retain(|_, value| !value.is_null());
            }
            line.insert("settings".to_owned(), settings.into());
        }
        if let Some(method) = design.remove("method") {
            line.insert("method".to_owned(), method);
        }
        let mut measure = |name: &str| line.remove(name).unwrap_or_else(|| json!([]));
        let (corruption, reliability) = (measure("corruption"), measure("reliability"));
        let extra = json!({ "corruption": corruption, "reliability": reliability });
        line.insert("extra".to_owned(), extra);
        line.insert("study".to_owned(), super::NAME.into());
        line.insert("design".to_owned(), design.into());
    }
}

#[cfg(test)]
#[path = "design_tests.rs"]
mod tests;
