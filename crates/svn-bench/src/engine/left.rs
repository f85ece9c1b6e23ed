//! How long the runs of a plan may take, by those that are done.

use std::collections::BTreeMap;
use std::time::Duration;

use svn_models::recipe::Method;

use super::{Design, Plan, RecordOf, Store, Study};

/// What is left of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// Of the runs whose time is known, one after the other.
    pub time: Duration,
    /// Runs whose time is known.
    pub known: usize,
    /// Runs of data sets and methods of which none is done.
    pub unknown: usize,
}

/// The runs of a plan that the store does not hold take as long as those of the same data set and method did that it
/// holds, in the mean.
pub fn left<S: Study>(plan: &Plan<'_, S>, store: &Store<RecordOf<S>>) -> Left {
    let mut done: BTreeMap<(&str, Method), (f64, f64)> = BTreeMap::new();
    for record in store.entries() {
        let of = (record.design.dataset(), record.method);
        let (seconds, runs) = done.entry(of).or_default();
        *seconds += record.timing.wall_s;
        *runs += 1.0;
    }
    let mut left = Left::default();
    for group in &plan.groups {
        let runs = group.runs.iter();
        let runs = runs.filter(|run| !store.contains(&group.config, **run));
        let of = &group.configuration;
        match (runs.count(), done.get(&(of.design.dataset(), of.method))) {
            (runs, None) => left.unknown += runs,
            (runs, Some((seconds, done))) => {
                left.known += runs;
                left.time += Duration::from_secs_f64(runs as f64 * seconds / done);
            }
        }
    }
    left
}
