//! A method beside others on the same folds: paired differences, and how soon it is as good as the ensemble.
//!
//! ```text
//! d_k = metric of the method − metric of the baseline on fold k      d̄ ± s_d/√K
//! ```
//!
//! Both train on the same rows of a fold, so that the spread of the folds themselves cancels in `d_k`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::Task;
use crate::experiment::Method;
use crate::metrics::Estimate;
use crate::record::{Record, quantile};

/// Paired differences to one baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Versus {
    /// The baseline.
    pub baseline: Method,
    /// Hash of its configuration.
    pub config: String,
    /// By key: mean and standard error of the difference over common folds; null if the metric is in none.
    pub differences: BTreeMap<String, Option<Estimate>>,
}

/// How soon a method's validation NLL is at most the ensemble's best of the same fold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Convergence {
    /// Hash of the ensemble's configuration.
    pub config: String,
    /// Folds where it gets there.
    pub reached: usize,
    /// Folds that both have.
    pub folds: usize,
    /// Median over folds of the first such epoch; null if most folds never get there.
    pub epochs: Option<f64>,
    /// Median over folds of the ensemble's best epoch.
    pub ensemble_epochs: f64,
    /// Median over folds of the ratio of the two; null if most folds never get there.
    pub share: Option<f64>,
}

/// Metrics that are compared.
fn keys(task: Task) -> &'static [&'static str] {
    match task {
        Task::Regression => &["nll", "nll_paper", "nll_epistemic", "rmse", "crps"],
        Task::Classification => &["nll", "nll_logit", "accuracy", "ece"],
    }
}

/// Records of one configuration.
pub(super) type Group<'a> = [&'a Record];

/// Differences of a Newton method to the first-order methods; nothing for the others.
pub(super) fn versus(group: &Group<'_>, all: &[&Group<'_>]) -> Vec<Versus> {
    let Some(first) = group.first().filter(|first| first.method.is_newton()) else {
        return Vec::new();
    };
    let baselines = Method::STANDARD.into_iter().filter(|m| !m.is_newton());
    baselines
        .filter_map(|method| {
            let baseline = best_of(method, first, all)?;
            let difference = |key: &&str| {
                let of = |record: &Record| record.metrics.get(*key).copied().flatten();
                let pairs = pairs(group, baseline);
                let differences: Vec<f64> = pairs
                    .filter_map(|(own, other)| Some(of(own)? - of(other)?))
                    .collect();
                ((*key).to_owned(), Estimate::of(&differences))
            };
            Some(Versus {
                baseline: method,
                config: baseline.first()?.config.clone(),
                differences: keys(first.task).iter().map(difference).collect(),
            })
        })
        .collect()
}

/// Convergence of any method but the ensemble itself.
pub(super) fn convergence(group: &Group<'_>, all: &[&Group<'_>]) -> Option<Convergence> {
    let first = group
        .first()
        .filter(|first| first.method != Method::Ensemble)?;
    let ensemble = best_of(Method::Ensemble, first, all)?;
    let (mut epochs, mut targets, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for (own, other) in pairs(group, ensemble) {
        let Some((target_epoch, target)) = best(other) else {
            continue;
        };
        let reached = own
            .curve
            .iter()
            .find(|point| point.validation_nll.is_some_and(|nll| nll <= target));
        // Never is later than every epoch.
        let epoch = reached.map_or(f64::INFINITY, |point| point.epoch as f64);
        epochs.push(epoch);
        targets.push(target_epoch as f64);
        shares.push(epoch / target_epoch as f64);
    }
    let reached = epochs.iter().filter(|epoch| epoch.is_finite()).count();
    Some(Convergence {
        config: ensemble.first()?.config.clone(),
        reached,
        folds: epochs.len(),
        epochs: median(&mut epochs).filter(|value| value.is_finite()),
        ensemble_epochs: median(&mut targets)?,
        share: median(&mut shares).filter(|value| value.is_finite()),
    })
}

/// Of the configurations of a method on the same data and splits, the one whose validation NLL is least on average.
fn best_of<'a, 'b>(method: Method, like: &Record, all: &[&'b Group<'a>]) -> Option<&'b Group<'a>> {
    let score = |group: &Group<'_>| {
        let values: Vec<f64> = group
            .iter()
            .filter_map(|record| record.validation_nll.or(best(record).map(|(_, nll)| nll)))
            .collect();
        Estimate::of(&values).map_or(f64::INFINITY, |estimate| estimate.mean)
    };
    let same = |record: &Record| {
        record.method == method
            && record.data_sha256 == like.data_sha256
            && record.dataset == like.dataset
            && record.protocol == like.protocol
            && record.seed == like.seed
    };
    all.iter()
        .copied()
        .filter(|group| group.first().is_some_and(|first| same(first)))
        .min_by(|a, b| score(a).total_cmp(&score(b)))
}

/// Records of the folds that both have.
fn pairs<'a>(
    group: &'a Group<'_>,
    other: &'a Group<'_>,
) -> impl Iterator<Item = (&'a Record, &'a Record)> {
    group.iter().filter_map(move |own| {
        let partner = other.iter().find(|record| record.fold == own.fold)?;
        Some((*own, *partner))
    })
}

/// The best epoch and its validation NLL.
fn best(record: &Record) -> Option<(usize, f64)> {
    record
        .curve
        .iter()
        .filter_map(|point| Some((point.epoch, point.validation_nll?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
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
