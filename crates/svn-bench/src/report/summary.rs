//! `summary.json`: means over runs, one row a configuration.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;
use svn_models::recipe::{Method, Recipe};

use super::compare::{self, Group};
use super::{Anchor, Cells, Convergence, Page, RecordOf, ReportError, Versus, distinct};
use crate::data::Task;
use crate::engine::{Design, Extra, SCHEMA, quantile};
use crate::metrics::Estimate;

/// The whole of `summary.json`.
#[derive(Debug, Serialize)]
#[serde(bound = "")]
pub struct Summary<P: Page> {
    /// Version of the format.
    pub schema: u32,
    /// Name of the study.
    pub study: &'static str,
    /// Machine and versions.
    pub env: BTreeMap<String, String>,
    /// One entry a configuration: by data set, protocol, the columns of the design, method.
    pub results: Vec<Row<P>>,
}

/// What runs cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// Median over runs of their median time of a step, ms.
    pub step_ms: Option<f64>,
    /// Steps of all runs.
    pub steps: usize,
    /// Mean time of training, s; null where it is not known.
    pub fit_s: Option<f64>,
    /// Mean time until the best epoch, s; null where it is not known.
    pub best_s: Option<f64>,
    /// Epoch that was restored.
    pub best_epoch: Option<Estimate>,
    /// Sum over runs of the whole time, s.
    pub wall_s: f64,
}

/// What the kernel did, means over runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelMean {
    /// Mean off-diagonal value of the kernel matrix.
    pub mean: Estimate,
    /// Repulsion over drive.
    pub repulsion: Estimate,
}

/// Means over the runs of one configuration.
#[derive(Debug, Serialize)]
#[serde(bound = "")]
pub struct Row<P: Page> {
    /// Name of the data set.
    pub dataset: String,
    /// What is predicted.
    pub task: Task,
    /// How the particles move.
    pub method: Method,
    /// The method with what is unusual about its settings, and what tells it from rows that would look the same.
    pub label: String,
    /// Hash of the configuration.
    pub config: String,
    /// Data and splits.
    pub design: P::Design,
    /// Resolved settings.
    pub settings: Recipe,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// Runs done.
    pub runs: usize,
    /// Runs planned for these seeds.
    pub planned: usize,
    /// By key: mean and standard error over the runs where the metric is defined; null if it is in none.
    pub metrics: BTreeMap<String, Option<Estimate>>,
    /// What the paper prints, by our keys.
    pub paper: Option<Cells>,
    /// The best cells of the literature, by our keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Anchor>,
    /// How soon it is as good as the ensemble; not for the ensemble itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
    /// Paired differences of a Newton method to its baselines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versus: Vec<Versus>,
    /// What the kernel did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelMean>,
    /// The study's own measures.
    pub extra: <P::Extra as Extra>::Pooled,
    /// What it cost.
    pub cost: Cost,
    /// Warnings and in how many runs each was given.
    pub warnings: BTreeMap<String, usize>,
}

impl<P: Page> Row<P> {
    /// A metric that is defined.
    pub fn metric(&self, key: &str) -> Option<Estimate> {
        self.metrics.get(key).copied().flatten()
    }

    /// Which row of the tables it is, in a sentence: `mnist, ll-svn, images 500`.
    pub fn name(&self) -> String {
        let mut name = format!("{}, {}", self.dataset, self.label);
        for (column, cell) in self.design.columns() {
            name.push_str(&format!(", {column} {cell}"));
        }
        name
    }
}

/// Average records over runs, configuration by configuration.
///
/// # Errors
/// [`ReportError::Printed`].
pub fn summarise<P: Page>(
    records: &[RecordOf<P>],
    env: BTreeMap<String, String>,
) -> Result<Summary<P>, ReportError> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&RecordOf<P>>> = Vec::new();
    for record in records {
        let place = *places.entry(&record.config).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    let rows = groups
        .iter()
        .filter_map(|group| Some(row::<P>(group.first()?, group, &groups)));
    let mut results = rows.collect::<Result<Vec<Row<P>>, _>>()?;
    results.sort_by(order);
    label(&mut results);
    Ok(Summary {
        schema: SCHEMA,
        study: P::STUDY,
        env,
        results,
    })
}

fn row<P: Page>(
    first: &RecordOf<P>,
    group: &Group<'_, P>,
    all: &[Vec<&RecordOf<P>>],
) -> Result<Row<P>, ReportError> {
    let over = |value: &dyn Fn(&RecordOf<P>) -> Option<f64>| -> Vec<f64> {
        group.iter().filter_map(|record| value(record)).collect()
    };
    let estimate = |value: &dyn Fn(&RecordOf<P>) -> Option<f64>| Estimate::of(&over(value));
    let keys = group.iter().flat_map(|record| record.metrics.keys());
    let metrics = keys.map(|key| (key.clone(), estimate(&|record| record.metric(key))));
    let mut seeds: Vec<u64> = group.iter().map(|record| record.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let mut warnings = BTreeMap::new();
    for text in group.iter().flat_map(|record| &record.warnings) {
        *warnings.entry(text.clone()).or_insert(0) += 1;
    }
    let mean = estimate(&|record| Some(record.kernel?.mean));
    let repulsion = estimate(&|record| Some(record.kernel?.repulsion));
    let extra: Vec<&P::Extra> = group.iter().map(|record| &record.extra).collect();
    let mut medians = over(&|record| record.timing.step_ms_median);
    medians.sort_by(f64::total_cmp);
    // Of some runs alone the mean would be that of other runs than the rest of the row.
    let of_all = |times: Vec<f64>| {
        let mean = Estimate::of(&times).map(|estimate| estimate.mean);
        mean.filter(|_| times.len() == group.len())
    };
    Ok(Row {
        dataset: first.design.dataset().to_owned(),
        task: first.design.task(),
        method: first.method,
        label: P::label(first.method, &first.settings),
        config: first.config.clone(),
        design: first.design.clone(),
        settings: first.settings.clone(),
        runs: group.len(),
        planned: first.design.folds() * seeds.len(),
        seeds,
        metrics: metrics.collect(),
        paper: P::paper(&first.design, first.method)?,
        published: P::published(&first.design)?,
        convergence: compare::convergence::<P>(group, all),
        versus: compare::versus::<P>(group, all),
        kernel: mean
            .zip(repulsion)
            .map(|(mean, repulsion)| KernelMean { mean, repulsion }),
        extra: P::Extra::pool(&extra),
        cost: Cost {
            step_ms: quantile(&medians, 0.5),
            steps: group.iter().map(|record| record.timing.steps).sum(),
            fit_s: of_all(over(&|record| record.timing.fit_s())),
            best_s: of_all(over(&|record| record.timing.until(record.best_epoch))),
            best_epoch: estimate(&|record| Some(record.best_epoch as f64)),
            wall_s: group.iter().map(|record| record.timing.wall_s).sum(),
        },
        warnings,
    })
}

/// By data set, protocol, columns of the design (numbers by value, before words) and method.
fn order<P: Page>(a: &Row<P>, b: &Row<P>) -> Ordering {
    let column = |(_, cell): (&'static str, String)| {
        let value = cell.parse().unwrap_or(f64::INFINITY);
        (value, cell)
    };
    let by_columns = || {
        let columns = |row: &Row<P>| row.design.columns().into_iter().map(column);
        columns(a).partial_cmp(columns(b))
    };
    let by_set = (&a.dataset, a.design.protocol()).cmp(&(&b.dataset, b.design.protocol()));
    by_set
        .then_with(|| by_columns().unwrap_or(Ordering::Equal))
        .then_with(|| a.method.cmp(&b.method))
}

/// Tell rows apart that would look the same in a table: by their designs, their settings, and last by hashes.
fn label<P: Page>(rows: &mut [Row<P>]) {
    let mut names: Vec<String> = rows.iter().map(Row::name).collect();
    let plain: Vec<usize> = names.iter().map(String::len).collect();
    let features: Vec<Vec<distinct::Feature>> = rows
        .iter()
        .map(|row| {
            let (design, hashes) = distinct::of_design(&row.design);
            let short = row.config.chars().take(6).collect();
            let config = ("config".to_owned(), short);
            [
                design,
                distinct::of_settings(&row.settings),
                hashes,
                vec![config],
            ]
            .concat()
        })
        .collect();
    distinct::tell_apart(&mut names, &features, &distinct::with_comma);
    for ((row, name), plain) in rows.iter_mut().zip(names).zip(plain) {
        row.label.push_str(&name[plain..]);
    }
}
