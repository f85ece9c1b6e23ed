//! Scores by length of stay, and intervals beside the truth, of groups of patients and never of one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::mimic::{Counts, Flow};
use crate::engine::Extra;
use crate::metrics::{
    Density, Estimate, IntervalBin, Metrics, Scores, interval_bins, mean_bins, mean_scores,
};

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
/// Scores of the test patients of one band, of a run or over several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band<M> {
    /// Its name.
    pub name: String,
    /// Test patients.
    pub rows: usize,
    /// By key; none for fewer than ten patients of a run.
    pub metrics: BTreeMap<String, M>,
}

/// What there is beside the metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside<M> {
    /// Which stays were left out.
    pub flow: Flow,
    /// What became of the rows of `chartevents`, `labevents` and `outputevents`.
    pub events: [Counts; 3],
    /// By length of the whole stay.
    pub bands: Vec<Band<M>>,
    /// By ascending prediction; over several runs means.
    pub intervals: Vec<IntervalBin>,
}

/// Of a run.
pub type MimicExtra = Beside<f64>;

impl Extra for MimicExtra {
    type Pooled = Beside<Estimate>;

    fn pool(runs: &[&Self]) -> Beside<Estimate> {
        let first = runs.first().map(|run| (*run).clone()).unwrap_or_default();
        let band = |band: &Band<f64>| {
            let same = |run: &&Self| {
                run.bands
                    .iter()
                    .find(|other| other.name == band.name)
                    .cloned()
            };
            let bands: Vec<Band<f64>> = runs.iter().filter_map(same).collect();
            let keys = bands.iter().flat_map(|band| band.metrics.keys().cloned());
            let metric = |key: String| {
                let values: Vec<f64> = bands
                    .iter()
                    .filter_map(|band| band.metrics.get(&key).copied())
                    .collect();
                Some((key, Estimate::of(&values)?))
            };
            Band {
                name: band.name.clone(),
                rows: bands.iter().map(|band| band.rows).sum(),
                metrics: keys.filter_map(metric).collect(),
            }
        };
        let intervals = runs.iter().map(|run| run.intervals.as_slice());
        let intervals: Vec<_> = intervals.collect();
        Beside {
            bands: first.bands.iter().map(band).collect(),
            intervals: mean_bins(&intervals),
            flow: first.flow,
            events: first.events,
        }
    }
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
) -> (Vec<Band<f64>>, Vec<IntervalBin>) {
    let scores = hours
        .iter()
        .enumerate()
        .map(|(row, &hours)| density.scores(row, hours));
    let scores: Vec<Scores> = scores.collect();
    metrics.values.extend(mean_scores(&scores));
    let mut least = 0.0;
    let bands = BANDS.map(|(name, most)| {
        let range = least..most;
        least = most;
        let own = scores
            .iter()
            .zip(whole)
            .filter(|(_, whole)| range.contains(whole));
        let own: Vec<Scores> = own.map(|(scores, _)| *scores).collect();
        let told = mean_scores(&own)
            .into_iter()
            .filter(|_| own.len() >= FEWEST);
        let metrics = told
            .filter_map(|(key, value)| Some((key, value?)))
            .collect();
        Band {
            name: name.to_owned(),
            rows: own.len(),
            metrics,
        }
    });
    let bins = interval_bins(density, hours);
    (bands.to_vec(), bins)
}

#[cfg(test)]
#[path = "extra_tests.rs"]
mod tests;
