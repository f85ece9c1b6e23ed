//! One line of `records.jsonl` of an image experiment.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{DeviceKind, ImageSplit};
use crate::data::images::Corruption;
use crate::experiment::{EpochPoint, Method, Recipe};
use crate::metrics::ReliabilityBin;
use crate::record::{Entry, PartSizes, SCHEMA, Timing};
use crate::split::Limits;

/// Everything but seed and fold that a result depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VisionConfiguration {
    /// Name of the image set.
    pub dataset: String,
    /// SHA-256 of its values.
    pub data_sha256: String,
    /// Name of the set whose images are foreign, if it was at hand.
    pub foreign: Option<String>,
    /// SHA-256 of its values.
    pub foreign_sha256: Option<String>,
    /// How the particles move.
    pub method: Method,
    /// How images are cut into parts.
    pub split: ImageSplit,
    /// Images used.
    pub limits: Limits,
    /// Test images that were measured corrupted, at most; null for none.
    pub corruption: Option<usize>,
    /// Resolved settings.
    pub settings: Recipe,
    /// What evaluated the networks.
    pub device: DeviceKind,
}

impl VisionConfiguration {
    /// First 16 hex digits of the SHA-256 of all fields: two runs with the same, seed and fold give the same record.
    pub fn hash(&self) -> String {
        // As for `Configuration::hash`: this always serialises.
        let text = serde_json::to_string(&("vision", SCHEMA, self)).unwrap_or_default();
        let digest = Sha256::digest(text.as_bytes());
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Metrics of the test images under one corruption.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorruptionPoint {
    /// What was done to the images.
    pub kind: Corruption,
    /// Degrees, or standard deviation; 0 is the images as they are.
    pub level: f64,
    /// Share that is right.
    pub accuracy: f64,
    /// NLL of the mean probability, nats an image; null if it was not finite.
    pub nll: Option<f64>,
    /// Expected calibration error.
    pub ece: f64,
}

/// One finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VisionRecord {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Hash of the configuration.
    pub config: String,
    /// What was run.
    pub configuration: VisionConfiguration,
    /// Seed of splits and training.
    pub seed: u64,
    /// Index of the fold; 0 for the official split.
    pub fold: usize,
    /// Images of the parts.
    pub rows: PartSizes,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was restored, from 1.
    pub best_epoch: usize,
    /// By key; null is not defined.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// Validation NLL by epoch.
    pub curve: Vec<EpochPoint>,
    /// Metrics under corruption, level 0 first.
    pub corruption: Vec<CorruptionPoint>,
    /// Confidence and accuracy on the test images, bin by bin.
    pub reliability: Vec<ReliabilityBin>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
    /// The only part that differs between two runs of the same configuration, seed and fold.
    pub timing: Timing,
}

impl VisionRecord {
    /// A metric that is defined.
    pub fn metric(&self, key: &str) -> Option<f64> {
        self.metrics.get(key).copied().flatten()
    }
}

/// Folds of the paper's protocol.
pub(super) const FOLDS: usize = 5;

/// Seed and fold as one number.
pub(super) fn run_number(seed: u64, fold: usize) -> usize {
    (seed as usize).wrapping_mul(FOLDS).wrapping_add(fold)
}

impl Entry for VisionRecord {
    const FILE: &'static str = "records.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }

    fn dataset(&self) -> &str {
        &self.configuration.dataset
    }

    fn method(&self) -> Method {
        self.configuration.method
    }

    fn config(&self) -> &str {
        &self.config
    }

    fn fold(&self) -> usize {
        run_number(self.seed, self.fold)
    }

    /// Schema 1 had settings of LeNet beside the common ones.
    fn upgrade(line: &mut Value) {
        let Some(configuration) = line["configuration"].as_object_mut() else {
            return;
        };
        if let (Some(Value::Object(vision)), Some(Value::Object(settings))) = (
            configuration.remove("vision"),
            configuration.get_mut("settings"),
        ) {
            settings.extend(vision);
        }
    }

    fn rehash(&mut self) {
        self.config = self.configuration.hash();
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use super::super::plan::resolve;
    use super::*;

    /// A record without results.
    pub(crate) fn record(method: Method, learning: usize, seed: u64) -> VisionRecord {
        let settings = resolve("mnist", method, learning, &Recipe::default()).unwrap();
        let configuration = VisionConfiguration {
            dataset: "mnist".to_owned(),
            data_sha256: "ab".to_owned(),
            foreign: None,
            foreign_sha256: None,
            method,
            split: ImageSplit::Official,
            limits: Limits {
                learning: Some(learning),
                test: None,
            },
            corruption: None,
            settings,
            device: DeviceKind::Cpu,
        };
        VisionRecord {
            schema: SCHEMA,
            config: configuration.hash(),
            configuration,
            seed,
            fold: 0,
            rows: PartSizes {
                train: learning * 4 / 5,
                validation: learning / 5,
                test: 100,
            },
            epochs: 2,
            best_epoch: 2,
            metrics: BTreeMap::new(),
            curve: Vec::new(),
            corruption: Vec::new(),
            reliability: Vec::new(),
            warnings: Vec::new(),
            timing: Timing::of(&[1.0, 2.0, 4.0], 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_changes_the_hash() {
        let plain = samples::record(Method::Svn, 500, 0).configuration;
        let mut others = vec![plain.clone()];
        let mut change = |edit: &dyn Fn(&mut VisionConfiguration)| {
            let mut other = plain.clone();
            edit(&mut other);
            others.push(other);
        };
        change(&|c| c.dataset = "fashion-mnist".to_owned());
        change(&|c| c.data_sha256 = "cd".to_owned());
        change(&|c| c.foreign = Some("mnist".to_owned()));
        change(&|c| c.foreign_sha256 = Some("ef".to_owned()));
        change(&|c| c.method = Method::Svgd);
        change(&|c| c.split = ImageSplit::Paper);
        change(&|c| c.limits.learning = None);
        change(&|c| c.limits.test = Some(10));
        change(&|c| c.corruption = Some(9));
        change(&|c| c.settings.lr = Some(0.5));
        change(&|c| c.settings.newton_lr = Some(0.5));
        change(&|c| c.device = DeviceKind::Cuda);
        let mut hashes: Vec<_> = others.iter().map(VisionConfiguration::hash).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), others.len());
    }

    #[test]
    fn records_survive_the_file_and_runs_have_their_number() {
        let record = samples::record(Method::LlSvn, 500, 3);
        let line = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<VisionRecord>(&line).unwrap(), record);
        assert_eq!(record.fold(), 15);
        assert_ne!(run_number(3, 4), run_number(4, 0));
    }
}
