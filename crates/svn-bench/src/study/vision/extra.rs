//! Measures of images beside the common metrics: under corruption, and how far confidence can be relied on.

use serde::{Deserialize, Serialize};

use crate::data::images::Corruption;
use crate::engine::Extra;
use crate::metrics::{Estimate, ReliabilityBin};

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

/// Of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VisionExtra {
    /// Metrics under corruption, level 0 first.
    pub corruption: Vec<CorruptionPoint>,
    /// Confidence and accuracy on the test images, bin by bin.
    pub reliability: Vec<ReliabilityBin>,
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

impl CorruptionMean {
    /// By the key of the metric.
    pub(super) fn metric(&self, key: &str) -> Option<Estimate> {
        match key {
            "accuracy" => self.accuracy,
            "nll" => self.nll,
            "ece" => self.ece,
            _ => None,
        }
    }
}

/// Of the runs of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VisionPooled {
    /// Means over runs, level by level.
    pub corruption: Vec<CorruptionMean>,
    /// Bins of all runs together, weighted by their rows.
    pub reliability: Vec<ReliabilityBin>,
}

impl Extra for VisionExtra {
    type Pooled = VisionPooled;

    fn pool(runs: &[&Self]) -> VisionPooled {
        let levels = runs.first().map_or(&[][..], |first| &first.corruption);
        let bins = runs.iter().map(|run| run.reliability.len()).max();
        VisionPooled {
            corruption: levels.iter().map(|level| mean(runs, level)).collect(),
            reliability: (0..bins.unwrap_or(0))
                .map(|bin| pooled(runs, bin))
                .collect(),
        }
    }
}

fn mean(runs: &[&VisionExtra], at: &CorruptionPoint) -> CorruptionMean {
    let points = runs.iter().flat_map(|run| &run.corruption);
    let here: Vec<&CorruptionPoint> = points
        .filter(|point| point.kind == at.kind && point.level == at.level)
        .collect();
    let over = |value: fn(&CorruptionPoint) -> Option<f64>| {
        let values = here.iter().filter_map(|point| value(point));
        Estimate::of(&values.collect::<Vec<f64>>())
    };
    CorruptionMean {
        kind: at.kind,
        level: at.level,
        accuracy: over(|point| Some(point.accuracy)),
        nll: over(|point| point.nll),
        ece: over(|point| Some(point.ece)),
    }
}

fn pooled(runs: &[&VisionExtra], index: usize) -> ReliabilityBin {
    let here = || runs.iter().filter_map(|run| run.reliability.get(index));
    let rows: usize = here().map(|bin| bin.rows).sum();
    let mean = |value: fn(&ReliabilityBin) -> f64| {
        here().map(|bin| bin.rows as f64 * value(bin)).sum::<f64>() / rows.max(1) as f64
    };
    ReliabilityBin {
        rows,
        confidence: mean(|bin| bin.confidence),
        accuracy: mean(|bin| bin.accuracy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_pooled_by_their_rows_and_levels_averaged() {
        let bin = |rows, confidence, accuracy| ReliabilityBin {
            rows,
            confidence,
            accuracy,
        };
        let run = |accuracy, first| VisionExtra {
            corruption: vec![CorruptionPoint {
                kind: Corruption::Noise,
                level: 0.1,
                accuracy,
                nll: None,
                ece: 0.2,
            }],
            reliability: vec![first, bin(0, 0.0, 0.0)],
        };
        let runs = [run(0.4, bin(1, 0.5, 1.0)), run(0.6, bin(3, 0.7, 0.0))];
        let all = VisionExtra::pool(&[&runs[0], &runs[1]]);
        let first = all.reliability[0];
        assert_eq!((first.rows, first.accuracy), (4, 0.25));
        assert!((first.confidence - 0.65).abs() < 1e-15);
        assert_eq!(all.reliability[1], bin(0, 0.0, 0.0));
        let noisy = all.corruption[0];
        assert_eq!((noisy.accuracy.unwrap().mean, noisy.nll), (0.5, None));
        assert_eq!(noisy.metric("ece").unwrap().n, 2);
    }
}
