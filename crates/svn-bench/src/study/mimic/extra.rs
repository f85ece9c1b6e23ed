//! Scores by length of stay, and intervals beside the truth, of groups of patients and never of one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::hours::{Density, Scores, Z};
use crate::data::mimic::{Counts, Flow};
use crate::engine::{Extra, quantile};
use crate::metrics::{Estimate, Metrics};

/// Bands of the whole stay, each up to so many hours.
const BANDS: [(&str, f64); 5] = [
    ("1 to 2 days", 48.0),
    ("2 to 3 days", 72.0),
    ("3 to 7 days", 168.0),
    ("7 to 14 days", 336.0),
    ("14 days and more", f64::INFINITY),
];
/// Fewer patients are not told of.
const FEWEST: usize = 10;
/// Patients of a bin, at least, and bins, at most.
const BIN: usize = 20;
const BINS: usize = 12;

/// Scores of the test patients of one band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Its name.
    pub name: String,
    /// Test patients.
    pub rows: usize,
    /// By key; none for fewer than ten patients.
    pub metrics: BTreeMap<String, f64>,
}

/// Patients of similar predictions: quantiles 5, 25, 50, 75 and 95 %, in hours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalBin {
    /// Means of the predicted ones.
    pub predicted: [f64; 5],
    /// Those of the lengths of stay.
    pub observed: [f64; 5],
}

/// What a record has beside the metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MimicExtra {
    /// Which stays were left out.
    pub flow: Flow,
    /// What became of the rows of `chartevents`, `labevents` and `outputevents`.
    pub events: [Counts; 3],
    /// By length of the whole stay.
    pub bands: Vec<Band>,
    /// By ascending prediction.
    pub intervals: Vec<IntervalBin>,
}

/// A band over several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledBand {
    /// Its name.
    pub name: String,
    /// Test patients of all runs.
    pub rows: usize,
    /// By key.
    pub metrics: BTreeMap<String, Estimate>,
}

/// Of several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pooled {
    /// Which stays were left out.
    pub flow: Flow,
    /// What became of the rows of events.
    pub events: [Counts; 3],
    /// By length of the whole stay.
    pub bands: Vec<PooledBand>,
    /// Means over the runs.
    pub intervals: Vec<IntervalBin>,
}

impl Extra for MimicExtra {
    type Pooled = Pooled;

    fn pool(runs: &[&Self]) -> Pooled {
        let first = runs.first().map(|run| (*run).clone()).unwrap_or_default();
        let band = |band: &Band| {
            let same = |run: &&Self| {
                run.bands
                    .iter()
                    .find(|other| other.name == band.name)
                    .cloned()
            };
            let bands: Vec<Band> = runs.iter().filter_map(same).collect();
            let keys = bands.iter().flat_map(|band| band.metrics.keys().cloned());
            let metric = |key: String| {
                let values: Vec<f64> = bands
                    .iter()
                    .filter_map(|band| band.metrics.get(&key).copied())
                    .collect();
                Some((key, Estimate::of(&values)?))
            };
            PooledBand {
                name: band.name.clone(),
                rows: bands.iter().map(|band| band.rows).sum(),
                metrics: keys.filter_map(metric).collect(),
            }
        };
        let bin = |place: usize| {
            let bins: Vec<&IntervalBin> = runs
                .iter()
                .filter_map(|run| run.intervals.get(place))
                .collect();
            let mean = |values: &dyn Fn(&IntervalBin) -> f64| {
                bins.iter().map(|bin| values(bin)).sum::<f64>() / bins.len() as f64
            };
            IntervalBin {
                predicted: std::array::from_fn(|level| mean(&|bin| bin.predicted[level])),
                observed: std::array::from_fn(|level| mean(&|bin| bin.observed[level])),
            }
        };
        Pooled {
            bands: first.bands.iter().map(band).collect(),
            intervals: (0..first.intervals.len()).map(bin).collect(),
            flow: first.flow,
            events: first.events,
        }
    }
}

/// Means by key. What is not finite is not defined.
fn means(scores: &[Scores]) -> BTreeMap<String, Option<f64>> {
    let mean = |score: &dyn Fn(&Scores) -> f64| {
        let mean = scores.iter().map(score).sum::<f64>() / scores.len() as f64;
        Some(mean).filter(|mean| mean.is_finite())
    };
    let covered = |level: usize| mean(&|s| f64::from(s.covered[level]));
    let mse = mean(&|s| s.error * s.error);
    let values = [
        ("mse", mse),
        ("rmse", mse.map(f64::sqrt)),
        ("mae", mean(&|s| s.from_median.abs())),
        ("nll", mean(&|s| s.nll)),
        ("nll_paper", mean(&|s| s.nll_paper)),
        ("crps", mean(&|s| s.crps)),
        ("coverage50", covered(0)),
        ("coverage80", covered(1)),
        ("coverage90", covered(2)),
        ("width90", mean(&|s| s.width90)),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

/// Measure in hours: into the metrics, in place of those of the target; bands and intervals.
///
/// # Shapes
/// `hours`, `whole`: of each row of the density, what was to be predicted and the whole stay.
pub(super) fn measure(
    density: &Density,
    hours: &[f64],
    whole: &[f64],
    metrics: &mut Metrics,
) -> (Vec<Band>, Vec<IntervalBin>) {
    let scores = hours
        .iter()
        .enumerate()
        .map(|(row, &hours)| density.scores(row, hours));
    let scores: Vec<Scores> = scores.collect();
    metrics.values.extend(means(&scores));
    let mut least = 0.0;
    let bands = BANDS.map(|(name, most)| {
        let range = least..most;
        least = most;
        let own = scores
            .iter()
            .zip(whole)
            .filter(|(_, whole)| range.contains(whole));
        let own: Vec<Scores> = own.map(|(scores, _)| *scores).collect();
        let told = means(&own).into_iter().filter(|_| own.len() >= FEWEST);
        let metrics = told
            .filter_map(|(key, value)| Some((key, value?)))
            .collect();
        Band {
            name: name.to_owned(),
            rows: own.len(),
            metrics,
        }
    });
    (bands.to_vec(), intervals(density, hours))
}

/// Bins of equally many patients, by ascending prediction.
fn intervals(density: &Density, hours: &[f64]) -> Vec<IntervalBin> {
    let rows = hours.len();
    let bins = (rows / BIN).clamp(usize::from(rows >= FEWEST), BINS);
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|&a, &b| density.at(a, 0.0).total_cmp(&density.at(b, 0.0)));
    let [z50, _, z90] = Z;
    let bin = |k: usize| {
        let own = &order[k * rows / bins..(k + 1) * rows / bins];
        let mut observed: Vec<f64> = own.iter().map(|&row| hours[row]).collect();
        observed.sort_by(f64::total_cmp);
        let mean =
            |z: f64| own.iter().map(|&row| density.at(row, z)).sum::<f64>() / own.len() as f64;
        IntervalBin {
            predicted: [-z90, -z50, 0.0, z50, z90].map(mean),
            observed: [0.05, 0.25, 0.5, 0.75, 0.95]
                .map(|level| quantile(&observed, level).unwrap_or(f64::NAN)),
        }
    };
    (0..bins)
        .map(bin)
        .filter(|bin| bin.predicted.iter().all(|hours| hours.is_finite()))
        .collect()
}

#[cfg(test)]
#[path = "extra_tests.rs"]
mod tests;
