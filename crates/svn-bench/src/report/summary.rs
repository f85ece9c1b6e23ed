//! `summary.json`: means over folds, one result per configuration.

use std::collections::BTreeMap;

use serde::Serialize;
use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::Predictive;
use svn_models::stein::{Coupling, Kernel};

use super::compare::{self, Group};
use super::{Convergence, PaperCell, Published, ReportError, Versus, paper_cells, published};
use crate::data::Task;
use crate::experiment::{Method, Recipe};
use crate::metrics::Estimate;
use crate::record::{Record, SCHEMA};
use crate::split::Protocol;

/// The whole of `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of the format.
    pub schema: u32,
    /// Machine and versions.
    pub env: BTreeMap<String, String>,
    /// One entry per configuration.
    pub results: Vec<ResultRow>,
}

/// Time of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepTime {
    /// Median over folds of the folds' medians, ms.
    pub median: Option<f64>,
}

/// Means over the folds of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultRow {
    /// Name of the data set.
    pub dataset: String,
    /// What is predicted.
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
    /// Folds done.
    pub folds: usize,
    /// Epochs at most.
    pub epochs: Option<usize>,
    /// By key: mean and standard error over the folds where the metric is defined; null if it is in none.
    pub metrics: BTreeMap<String, Option<Estimate>>,
    /// What the paper prints, by our keys.
    pub paper: Option<BTreeMap<String, PaperCell>>,
    /// The best cells of the literature, for the `standard` protocol.
    pub published: Option<Published>,
    /// Time of a step.
    pub step_ms: StepTime,
    /// Epoch that was restored.
    pub epochs_to_best: Option<Estimate>,
    /// How soon it is as good as the ensemble; not for the ensemble itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
    /// Paired differences of a Newton method to the first-order methods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versus: Vec<Versus>,
    /// Sum over folds, s.
    pub wall_s: f64,
    /// Hash of the configuration.
    pub config: String,
    /// How rows are cut; its folds are those planned.
    pub protocol: Protocol,
    /// The user's seed.
    pub seed: u64,
    /// Resolved settings.
    pub settings: Recipe,
    /// Warnings and in how many folds each was given.
    pub warnings: BTreeMap<String, usize>,
}

impl ResultRow {
    /// The method, with what was done to its predictions: `svn, laplace` or `svn, temperature`.
    pub fn label(&self) -> String {
        let mut label = self.method.to_string();
        if self.settings.predictive == Some(Predictive::Laplace) {
            label.push_str(", laplace");
        }
        if self.settings.temperature == Some(true) {
            label.push_str(", temperature");
        }
        label
    }
}

/// Average records over folds, configuration by configuration in the order of their first record.
///
/// # Errors
/// [`ReportError::Paper`].
pub fn summarise(
    records: &[Record],
    env: BTreeMap<String, String>,
) -> Result<Summary, ReportError> {
    let mut order: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        let group = groups.entry(&record.config).or_default();
        if group.is_empty() {
            order.push(&record.config);
        }
        group.push(record);
    }
    let all: Vec<&Group<'_>> = order
        .into_iter()
        .filter_map(|config| groups.get(config).map(Vec::as_slice))
        .collect();
    let rows = all.iter().filter_map(|group| row(group, &all).transpose());
    Ok(Summary {
        schema: SCHEMA,
        env,
        results: rows.collect::<Result<_, _>>()?,
    })
}

fn row(group: &Group<'_>, all: &[&Group<'_>]) -> Result<Option<ResultRow>, ReportError> {
    let Some(first) = group.first() else {
        return Ok(None);
    };
    let over_folds = |value: &dyn Fn(&Record) -> Option<f64>| -> Vec<f64> {
        group.iter().filter_map(|record| value(record)).collect()
    };
    let metrics = group
        .iter()
        .flat_map(|record| record.metrics.keys())
        .map(|key| {
            (
                key.clone(),
                Estimate::of(&over_folds(&|r| r.metrics.get(key).copied().flatten())),
            )
        })
        .collect();
    let mut medians = over_folds(&|record| record.timing.step_ms_median);
    medians.sort_by(f64::total_cmp);
    Ok(Some(ResultRow {
        dataset: first.dataset.clone(),
        task: first.task,
        method: first.method,
        hessian: first.settings.hessian,
        coupling: first.settings.coupling,
        kernel: first.settings.kernel.clone(),
        particles: first.settings.particles,
        folds: group.len(),
        epochs: first.settings.epochs,
        metrics,
        paper: paper_cells(&first.dataset, first.method, first.protocol)?,
        published: published(&first.dataset, first.protocol)?,
        step_ms: StepTime {
            median: crate::record::quantile(&medians, 0.5),
        },
        epochs_to_best: Estimate::of(&over_folds(&|record| Some(record.best_epoch as f64))),
        convergence: compare::convergence(group, all),
        versus: compare::versus(group, all),
        wall_s: group.iter().map(|record| record.timing.wall_s).sum(),
        config: first.config.clone(),
        protocol: first.protocol,
        seed: first.seed,
        settings: first.settings.clone(),
        warnings: count(group.iter().flat_map(|record| &record.warnings)),
    }))
}

fn count<'a>(texts: impl Iterator<Item = &'a String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text.clone()).or_insert(0) += 1;
    }
    counts
}
