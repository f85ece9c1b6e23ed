//! `summary.json` of image experiments: means over seeds and folds, one result per configuration.

use std::collections::BTreeMap;

use serde::Serialize;
use svn_models::curvature::Activation;
use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::LastLayerMode;
use svn_models::stein::{Coupling, Kernel};

use super::compare::{self, Group};
use super::paper_cells;
use crate::data::Task;
use crate::data::images::Corruption;
use crate::experiment::vision::{DeviceKind, ImageSplit, VisionRecord};
use crate::experiment::{Method, Recipe};
use crate::metrics::{Estimate, ReliabilityBin};
use crate::record::{SCHEMA, quantile};
use crate::report::{PaperCell, ReportError, StepTime, Versus};
use crate::split::Limits;

/// The whole of `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VisionSummary {
    /// Version of the format.
    pub schema: u32,
    /// Machine and versions.
    pub env: BTreeMap<String, String>,
    /// One entry per configuration.
    pub results: Vec<VisionRow>,
}

/// Metrics at one level of a corruption, means over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CorruptionMean {
    /// What was done to the images.
    pub kind: Corruption,
    /// Degrees, or standard deviation; 0 is the images as they are.
    pub level: f64,
    /// Share that is right.
    pub accuracy: Option<Estimate>,
    /// NLL of the mean probability.
    pub nll: Option<Estimate>,
    /// Expected calibration error.
    pub ece: Option<Estimate>,
}

/// Means over the runs of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VisionRow {
    /// Name of the image set.
    pub dataset: String,
    /// Classification.
    pub task: Task,
    /// How the particles move.
    pub method: Method,
    /// Family of the curvature.
    pub hessian: Option<CurvatureFamily>,
    /// Of the SVN Hessian.
    pub coupling: Option<Coupling>,
    /// Of the kernel methods.
    pub kernel: Option<Kernel>,
    /// Members `N`.
    pub particles: Option<usize>,
    /// Runs done: seeds × folds.
    pub folds: usize,
    /// Epochs at most.
    pub epochs: Option<usize>,
    /// How images are cut into parts.
    pub split: ImageSplit,
    /// Images used: training and validation images together, test images; null is all.
    pub limits: Limits,
    /// By key: mean and standard error over the runs where the metric is defined; null if it is in none.
    pub metrics: BTreeMap<String, Option<Estimate>>,
    /// What the paper prints, by our keys.
    pub paper: Option<BTreeMap<String, PaperCell>>,
    /// Time of a step.
    pub step_ms: StepTime,
    /// Steps of all runs.
    pub steps: usize,
    /// Epoch that was restored.
    pub epochs_to_best: Option<Estimate>,
    /// Paired differences of a Newton method to the first-order methods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versus: Vec<Versus>,
    /// Metrics of corrupted test images.
    pub corruption: Vec<CorruptionMean>,
    /// Confidence and accuracy by bin, the test images of all runs together.
    pub reliability: Vec<ReliabilityBin>,
    /// Sum over runs, s.
    pub wall_s: f64,
    /// Hash of the configuration.
    pub config: String,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// What evaluated the networks.
    pub device: DeviceKind,
    /// The set whose images are foreign.
    pub foreign: Option<String>,
    /// Resolved settings.
    pub settings: Recipe,
    /// Warnings and in how many runs each was given.
    pub warnings: BTreeMap<String, usize>,
}

impl VisionRow {
    /// The method, with what is not as the paper has it: `ll-svn, full, pretrained`.
    pub fn label(&self) -> String {
        let mut label = self.method.to_string();
        let usual = match self.method {
            Method::LlSvn => CurvatureFamily::Kfac,
            _ => CurvatureFamily::Diag,
        };
        if let Some(hessian) = self.hessian.filter(|&hessian| hessian != usual) {
            label.push_str(&format!(", {hessian}"));
        }
        if self.settings.ll_mode == Some(LastLayerMode::Pretrained) {
            label.push_str(", pretrained");
        }
        if let Some(activation) = self
            .settings
            .activation
            .filter(|&a| a != Activation::Sigmoid)
        {
            label.push_str(&format!(", {activation}"));
        }
        if self.settings.temperature == Some(true) {
            label.push_str(", temperature");
        }
        label
    }

    /// A metric that is defined.
    pub fn metric(&self, key: &str) -> Option<Estimate> {
        self.metrics.get(key).copied().flatten()
    }

    /// Training and validation images in words.
    pub fn size(&self) -> String {
        self.limits
            .learning
            .map_or_else(|| "all".to_owned(), |size| size.to_string())
    }
}

/// Average records, configuration by configuration in the order of their first record.
///
/// # Errors
/// [`ReportError::Paper`].
pub fn summarise(
    records: &[VisionRecord],
    env: BTreeMap<String, String>,
) -> Result<VisionSummary, ReportError> {
    let mut groups: Vec<Vec<&VisionRecord>> = Vec::new();
    for record in records {
        match groups
            .iter_mut()
            .find(|group| group[0].config == record.config)
        {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    // Smaller sets first.
    groups.sort_by_key(|group| {
        let configuration = &group[0].configuration;
        let size = configuration.limits.learning.unwrap_or(usize::MAX);
        (
            configuration.dataset.clone(),
            configuration.split.name(),
            size,
            configuration.method,
        )
    });
    let rows = groups.iter().map(|group| row(group[0], group, &groups));
    Ok(VisionSummary {
        schema: SCHEMA,
        env,
        results: rows.collect::<Result<_, _>>()?,
    })
}

fn row(
    first: &VisionRecord,
    group: &Group<'_>,
    all: &[Vec<&VisionRecord>],
) -> Result<VisionRow, ReportError> {
    let configuration = &first.configuration;
    let settings = &configuration.settings;
    let over = |value: &dyn Fn(&VisionRecord) -> Option<f64>| -> Vec<f64> {
        group.iter().filter_map(|record| value(record)).collect()
    };
    let keys = group.iter().flat_map(|record| record.metrics.keys());
    let metrics = keys.map(|key| (key.clone(), Estimate::of(&over(&|r| r.metric(key)))));
    let mut medians = over(&|record| record.timing.step_ms_median);
    medians.sort_by(f64::total_cmp);
    let mut seeds: Vec<u64> = group.iter().map(|record| record.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let mut warnings = BTreeMap::new();
    for text in group.iter().flat_map(|record| &record.warnings) {
        *warnings.entry(text.clone()).or_insert(0) += 1;
    }
    Ok(VisionRow {
        dataset: configuration.dataset.clone(),
        task: Task::Classification,
        method: configuration.method,
        hessian: settings.hessian,
        coupling: settings.coupling,
        kernel: settings.kernel.clone(),
        particles: settings.particles,
        folds: group.len(),
        epochs: settings.epochs,
        split: configuration.split,
        limits: configuration.limits,
        metrics: metrics.collect(),
        paper: paper_cells(configuration)?,
        step_ms: StepTime {
            median: quantile(&medians, 0.5),
        },
        steps: group.iter().map(|record| record.timing.steps).sum(),
        epochs_to_best: Estimate::of(&over(&|record| Some(record.best_epoch as f64))),
        versus: compare::versus(group, all),
        corruption: corruption(group),
        reliability: pooled(group),
        wall_s: group.iter().map(|record| record.timing.wall_s).sum(),
        config: first.config.clone(),
        seeds,
        device: configuration.device,
        foreign: configuration.foreign.clone(),
        settings: settings.clone(),
        warnings,
    })
}

/// Means over runs, level by level.
fn corruption(group: &Group<'_>) -> Vec<CorruptionMean> {
    let points = group.first().map_or(&[][..], |first| &first.corruption);
    let mean = |kind, level| {
        let here = group.iter().flat_map(|record| &record.corruption);
        let here: Vec<_> = here
            .filter(|point| point.kind == kind && point.level == level)
            .collect();
        let over = |value: &dyn Fn(&usize) -> Option<f64>| {
            Estimate::of(
                &(0..here.len())
                    .filter_map(|k| value(&k))
                    .collect::<Vec<_>>(),
            )
        };
        CorruptionMean {
            kind,
            level,
            accuracy: over(&|&k| Some(here[k].accuracy)),
            nll: over(&|&k| here[k].nll),
            ece: over(&|&k| Some(here[k].ece)),
        }
    };
    points
        .iter()
        .map(|point| mean(point.kind, point.level))
        .collect()
}

/// Bins of all runs together, weighted by their rows.
fn pooled(group: &Group<'_>) -> Vec<ReliabilityBin> {
    let bins = group
        .iter()
        .map(|record| record.reliability.len())
        .max()
        .unwrap_or(0);
    (0..bins)
        .map(|index| {
            let here = || {
                group
                    .iter()
                    .filter_map(|record| record.reliability.get(index))
            };
            let rows: usize = here().map(|bin| bin.rows).sum();
            let mean = |value: &dyn Fn(&ReliabilityBin) -> f64| {
                here().map(|bin| bin.rows as f64 * value(bin)).sum::<f64>() / rows.max(1) as f64
            };
            ReliabilityBin {
                rows,
                confidence: mean(&|bin| bin.confidence),
                accuracy: mean(&|bin| bin.accuracy),
            }
        })
        .collect()
}
