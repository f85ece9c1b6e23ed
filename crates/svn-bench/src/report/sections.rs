//! Further tables of the report: beside the baselines, beside the paper, speed and cost.

use super::grid::dash;
use super::{Grid, ResultRow, Summary, number, with_error};
use crate::data::Task;
use crate::experiment::Method;

/// `½ ln 2π`, which the paper leaves out of its NLL.
pub const NLL_CONSTANT: f64 = 0.918_938_533_204_672_7;

/// The tables that have rows.
pub fn sections(summary: &Summary) -> Vec<Grid> {
    let all = [
        beside_baselines(summary),
        beside_paper(summary),
        convergence(summary),
        cost(summary),
    ];
    all.into_iter()
        .filter(|grid| !grid.rows.is_empty())
        .collect()
}

fn grid(title: &'static str, header: &[&str], rows: Vec<Vec<String>>) -> Grid {
    Grid {
        title,
        header: header.iter().map(|name| (*name).to_owned()).collect(),
        rows,
    }
}

/// Paired differences, less than 0 where the Newton method is better.
fn beside_baselines(summary: &Summary) -> Grid {
    let mut rows = Vec::new();
    for row in &summary.results {
        for versus in &row.versus {
            let difference = |key: &str| versus.differences.get(key).copied().flatten();
            let nll = difference("nll");
            let verdict = nll.and_then(|d| Some(d.mean / d.se?)).map_or("", verdict);
            rows.push(vec![
                row.dataset.clone(),
                row.label(),
                versus.baseline.to_string(),
                with_error(nll),
                verdict.to_owned(),
                with_error(difference(second(row.task))),
            ]);
        }
    }
    let header = [
        "dataset",
        "method",
        "minus",
        "nll",
        "",
        "nll_paper, nll_logit",
    ];
    grid("Paired differences to the baselines", &header, rows)
}

fn second(task: Task) -> &'static str {
    match task {
        Task::Regression => "nll_paper",
        Task::Classification => "nll_logit",
    }
}

/// A difference in standard errors in words.
fn verdict(errors: f64) -> &'static str {
    match errors {
        e if e <= -2.0 => "better beyond 2 se",
        e if e < -1.0 => "better beyond 1 se",
        e if e >= 2.0 => "worse beyond 2 se",
        e if e > 1.0 => "worse beyond 1 se",
        _ => "within 1 se",
    }
}

/// Each protocol of ours beside the cell, marked where it differs beyond two standard errors of the difference.
fn beside_paper(summary: &Summary) -> Grid {
    let mut rows = Vec::new();
    for row in &summary.results {
        let key = second(row.task);
        let Some(cell) = row.paper.as_ref().and_then(|paper| paper.get(key)) else {
            continue;
        };
        let shifts: &[(&str, f64)] = match row.task {
            Task::Regression => &[
                ("nll", NLL_CONSTANT),
                ("nll_paper", 0.0),
                ("nll_epistemic", 0.0),
            ],
            Task::Classification => &[("nll", 0.0), ("nll_logit", 0.0)],
        };
        let mut cells = vec![
            row.dataset.clone(),
            row.label(),
            format!("{:.2} ± {:.2}", cell.mean, cell.se),
        ];
        for index in 0..3 {
            let ours = shifts.get(index).and_then(|(key, shift)| {
                let mut estimate = row.metrics.get(*key).copied().flatten()?;
                estimate.mean -= shift;
                Some(estimate)
            });
            cells.push(ours.map_or_else(dash, |ours| {
                let mark = super::grid::mark(ours, *cell);
                format!("{}{mark}", with_error(Some(ours)))
            }));
        }
        rows.push(cells);
    }
    let header = [
        "dataset",
        "method",
        "paper",
        "nll, regression − ½ ln 2π",
        "nll_paper, nll_logit",
        "nll_epistemic",
    ];
    grid(
        "Beside the paper (▼ below, ▲ above its cell beyond two standard errors)",
        &header,
        rows,
    )
}

fn convergence(summary: &Summary) -> Grid {
    let row = |row: &ResultRow| {
        let convergence = row.convergence.as_ref()?;
        let shown = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), number);
        Some(vec![
            row.dataset.clone(),
            row.label(),
            shown(convergence.epochs),
            number(convergence.ensemble_epochs),
            shown(convergence.share),
            format!("{}/{}", convergence.reached, convergence.folds),
        ])
    };
    let header = [
        "dataset",
        "method",
        "epochs to the ensemble's best",
        "the ensemble's",
        "ratio",
        "folds",
    ];
    let rows = summary.results.iter().filter_map(row).collect();
    grid(
        "Epochs to the ensemble's best validation NLL, medians",
        &header,
        rows,
    )
}

fn cost(summary: &Summary) -> Grid {
    let row = |row: &ResultRow| {
        vec![
            row.dataset.clone(),
            row.label(),
            row.step_ms.median.map_or_else(dash, number),
            number(row.wall_s / row.folds.max(1) as f64),
            number(row.wall_s),
        ]
    };
    let header = ["dataset", "method", "step ms", "s a fold", "s in all"];
    grid("Cost", &header, summary.results.iter().map(row).collect())
}

/// Where the Newton methods are not the better choice, in sentences.
pub fn losses(summary: &Summary) -> Vec<String> {
    let newton = summary.results.iter().filter(|row| row.method.is_newton());
    newton.flat_map(losses_of).collect()
}

fn losses_of(row: &ResultRow) -> Vec<String> {
    let name = format!("{}, {}", row.dataset, row.label());
    let mut losses = Vec::new();
    for versus in &row.versus {
        if let Some(nll) = versus.differences.get("nll").copied().flatten()
            && nll.mean > 0.0
        {
            let difference = with_error(Some(nll));
            losses.push(format!(
                "{name}: nll above {}'s by {difference}",
                versus.baseline
            ));
        }
    }
    if let Some(convergence) = &row.convergence
        && convergence.share.is_none_or(|share| share > 1.0)
    {
        losses.push(format!(
            "{name}: no sooner at the ensemble's best validation NLL (epoch {} against {}, {} of {} folds get there)",
            convergence.epochs.map_or_else(dash, number),
            number(convergence.ensemble_epochs),
            convergence.reached,
            convergence.folds,
        ));
    }
    if let Some(coverage) = row.metrics.get("coverage90").copied().flatten()
        && !(0.86..=0.94).contains(&coverage.mean)
    {
        losses.push(format!(
            "{name}: 90 % intervals cover {}",
            with_error(Some(coverage))
        ));
    }
    let key = second(row.task);
    let cell = row.paper.as_ref().and_then(|paper| paper.get(key));
    if let (Method::Svn, Some(cell), Some(ours)) =
        (row.method, cell, row.metrics.get(key).copied().flatten())
        && ours.mean > cell.mean
    {
        losses.push(format!(
            "{name}: {key} {} above the paper's {:.2} ± {:.2}",
            with_error(Some(ours)),
            cell.mean,
            cell.se
        ));
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_judged_by_its_standard_error() {
        for (errors, words) in [
            (-2.0, "better beyond 2 se"),
            (-1.5, "better beyond 1 se"),
            (-1.0, "within 1 se"),
            (0.7, "within 1 se"),
            (1.1, "worse beyond 1 se"),
            (f64::INFINITY, "worse beyond 2 se"),
        ] {
            assert_eq!(verdict(errors), words);
        }
        assert!((NLL_CONSTANT - 0.5 * (2.0 * std::f64::consts::PI).ln()).abs() < 1e-16);
    }
}
