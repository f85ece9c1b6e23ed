//! A method beside others on the same runs: paired differences, and how soon it is as good as the ensemble.
//!
//! ```text
//! d_k = metric of the method − metric of the baseline for seed and fold k      d̄ ± s_d/√K
//! ```
//!
//! Both train on the same rows of a run, so that the spread of the runs themselves cancels in `d_k`. A baseline is, of its
//! method's configurations on the same design and with the same particles, network, temperature and predictive density, the one
//! whose validation NLL is least on average.

use std::collections::BTreeMap;

use serde::Serialize;
use svn_models::recipe::Method;

use super::{Detail, Page, RecordOf};
use crate::engine::{Design, quantile};
use crate::metrics::Estimate;

/// Independent Newton steps: what SVN is without its kernel.
const NEWTON_ENSEMBLE: &str = "newton-ensemble";

/// Paired differences to one baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Versus {
    /// The baseline.
    pub baseline: Method,
    /// Hash of its configuration.
    pub config: String,
    /// By key: mean and standard error of the difference over common runs; null if the metric is in none.
    pub differences: BTreeMap<String, Option<Estimate>>,
}

impl Versus {
    /// The difference of a metric.
    pub fn difference(&self, key: &str) -> Option<Estimate> {
        self.differences.get(key).copied().flatten()
    }
}

/// How soon a method's validation NLL is at most the ensemble's best of the same run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Convergence {
    /// Hash of the ensemble's configuration.
    pub config: String,
    /// Runs where it gets there.
    pub reached: usize,
    /// Runs that both have.
    pub runs: usize,
    /// Median over runs of the first such epoch; null if most runs never get there.
    pub epochs: Option<f64>,
    /// Median over runs of the ensemble's best epoch.
    pub ensemble_epochs: f64,
    /// Median over runs of the ratio of the two; null if most runs never get there.
    pub share: Option<f64>,
    /// Median over runs of the time until that epoch, s; null if most never get there, or where times are not known.
    pub seconds: Option<f64>,
    /// Median over runs of the time until the ensemble's best epoch, s; null where times are not known.
    pub ensemble_seconds: Option<f64>,
}

/// Records of one configuration, at least one.
pub(super) type Group<'a, P> = [&'a RecordOf<P>];

/// Whether a Newton method is compared with this one: the first-order methods, and Newton steps without a kernel.
fn is_baseline(name: &str, newton: bool) -> bool {
    !newton || name == NEWTON_ENSEMBLE
}

/// Differences of a Newton method to its baselines; nothing for the others.
pub(super) fn versus<P: Page>(group: &Group<'_, P>, all: &[Vec<&RecordOf<P>>]) -> Vec<Versus> {
    let Some(first) = group.first().filter(|first| first.method.is_newton()) else {
        return Vec::new();
    };
    let baselines = Method::ALL
        .into_iter()
        .filter(|method| is_baseline(method.name(), method.is_newton()) && *method != first.method);
    let versus = baselines.filter_map(|method| {
        let baseline = best_of::<P>(method, first, all)?;
        let difference = |key: &&str| {
            let pairs = pairs::<P>(group, baseline);
            let differences: Vec<f64> = pairs
                .filter_map(|(own, other)| Some(own.metric(key)? - other.metric(key)?))
                .collect();
            ((*key).to_owned(), Estimate::of(&differences))
        };
        let keys = P::metrics(first.design.task(), Detail::Full);
        Some(Versus {
            baseline: method,
            config: baseline.first()?.config.clone(),
            differences: keys.iter().map(difference).collect(),
        })
    });
    versus.collect()
}

/// Convergence of any method but the ensemble itself.
pub(super) fn convergence<P: Page>(
    group: &Group<'_, P>,
    all: &[Vec<&RecordOf<P>>],
) -> Option<Convergence> {
    let first = group
        .first()
        .filter(|first| first.method != Method::Ensemble)?;
    let ensemble = best_of::<P>(Method::Ensemble, first, all)?;
    let (mut epochs, mut targets, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    let (mut seconds, mut target_seconds) = (Some(Vec::new()), Some(Vec::new()));
    for (own, other) in pairs::<P>(group, ensemble) {
        let Some((target_epoch, target)) = other.best() else {
            continue;
        };
        let mut curve = own.curve.iter();
        let reached = curve.find(|point| point.validation_nll.is_some_and(|nll| nll <= target));
        // Never is later than every epoch.
        let epoch = reached.map_or(f64::INFINITY, |point| point.epoch as f64);
        epochs.push(epoch);
        targets.push(target_epoch as f64);
        shares.push(epoch / target_epoch as f64);
        let until = reached.map_or(Some(f64::INFINITY), |point| own.timing.until(point.epoch));
        push(&mut seconds, until.filter(|_| own.timing.fit_s().is_some()));
        push(&mut target_seconds, other.timing.until(target_epoch));
    }
    let reached = epochs.iter().filter(|epoch| epoch.is_finite()).count();
    let finite = |value: &f64| value.is_finite();
    Some(Convergence {
        config: ensemble.first()?.config.clone(),
        reached,
        runs: epochs.len(),
        epochs: median(&mut epochs).filter(finite),
        ensemble_epochs: median(&mut targets)?,
        share: median(&mut shares).filter(finite),
        seconds: seconds.and_then(|mut s| median(&mut s)).filter(finite),
        ensemble_seconds: target_seconds.and_then(|mut s| median(&mut s)),
    })
}

/// Add a value; once one is not known, none is.
fn push(values: &mut Option<Vec<f64>>, value: Option<f64>) {
    match (values.as_mut(), value) {
        (Some(values), Some(value)) => values.push(value),
        _ => *values = None,
    }
}

/// Of the configurations of a method that can be compared with a record, the one whose validation NLL is least on average.
fn best_of<'a, 'b, P: Page>(
    method: Method,
    like: &RecordOf<P>,
    all: &'b [Vec<&'a RecordOf<P>>],
) -> Option<&'b Vec<&'a RecordOf<P>>> {
    let score = |group: &Group<'_, P>| {
        let nll = group.iter().filter_map(|record| {
            let best = record.best().map(|(_, nll)| nll);
            record.validation_nll.or(best)
        });
        Estimate::of(&nll.collect::<Vec<f64>>()).map_or(f64::INFINITY, |estimate| estimate.mean)
    };
    let same = |record: &RecordOf<P>| {
        let (a, b) = (&record.settings, &like.settings);
        record.method == method
            && record.design == like.design
            && (a.particles, &a.hidden, a.activation) == (b.particles, &b.hidden, b.activation)
            && (a.temperature, a.predictive) == (b.temperature, b.predictive)
    };
    all.iter()
        .filter(|group| group.first().is_some_and(|first| same(first)))
        .min_by(|a, b| score(a).total_cmp(&score(b)))
}

/// Records of the runs that both have.
fn pairs<'a, P: Page>(
    group: &'a Group<'_, P>,
    other: &'a Group<'_, P>,
) -> impl Iterator<Item = (&'a RecordOf<P>, &'a RecordOf<P>)> {
    group.iter().filter_map(move |own| {
        let partner = other.iter().find(|record| record.run() == own.run())?;
        Some((*own, *partner))
    })
}

/// Median; between a number and infinity it is infinity.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if upper.is_infinite() && values.len() % 2 == 1 {
        return Some(upper);
    }
    quantile(values, 0.5).map(|value| if value.is_nan() { upper } else { value })
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
