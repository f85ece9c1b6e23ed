//! Columns that give the target away: `|corr(x_j, y)| > 0.97`, or a cut of one column that separates the classes.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView1};

use super::super::audit::{LEAK_CORRELATION, correlation};
use super::super::shown::{argument, shown};
use super::column::{Column, Kind};
use super::{Finding, FindingKind, Targets};

/// Rows from which on a perfect separation is no accident.
const ROWS: usize = 20;

/// A finding for each column that nearly is the target.
pub(super) fn find(columns: &[Column], x: &Array2<f64>, targets: &Targets) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut start = 0;
    for column in columns {
        let width = column.width();
        let is_category = matches!(column.kind, Kind::Category { .. });
        let text = match targets {
            Targets::Numbers(_) if is_category => None,
            Targets::Numbers(y) => {
                let r = correlation(x.column(start), y.view());
                let leaks = r.abs() > LEAK_CORRELATION;
                leaks.then(|| format!("has correlation {r:.3} with the target"))
            }
            Targets::Labels(_) if x.nrows() < ROWS => None,
            Targets::Labels(labels) => {
                let separates = match is_category {
                    true => levels_separate(x, start..start + width, labels),
                    false => values_separate(x.column(start), labels),
                };
                separates.then(|| "tells the classes apart without a fault".to_owned())
            }
        };
        if let Some(text) = text {
            let name = shown(&column.name);
            findings.push(Finding::new(
                FindingKind::Leak,
                format!("column `{name}` {text}; is it known when predictions are made? --drop {} leaves it out", argument(&column.name)),
            ));
        }
        start += width;
    }
    findings
}

/// Whether each class is one run of the sorted values.
fn values_separate(values: ArrayView1<'_, f64>, labels: &[String]) -> bool {
    let mut sorted: Vec<(f64, &str)> = values
        .iter()
        .copied()
        .zip(labels.iter().map(String::as_str))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    let tied = |pair: &[(f64, &str)]| matches!(pair, [a, b] if a.0 == b.0 && a.1 != b.1);
    if sorted.windows(2).any(tied) {
        return false;
    }
    let mut runs = std::collections::HashSet::new();
    sorted
        .chunk_by(|a, b| a.1 == b.1)
        .all(|run| run.first().is_some_and(|(_, label)| runs.insert(*label)))
}

/// Whether each level has one class.
fn levels_separate(x: &Array2<f64>, features: std::ops::Range<usize>, labels: &[String]) -> bool {
    let mut class_of: HashMap<usize, &str> = HashMap::new();
    let levels = |row: usize| {
        features
            .clone()
            .find(|&feature| x.get((row, feature)) == Some(&1.0))
    };
    labels
        .iter()
        .enumerate()
        .all(|(row, label)| match levels(row) {
            Some(level) => *class_of.entry(level).or_insert(label) == label,
            None => false,
        })
}
