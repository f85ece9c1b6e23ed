//! Results as rows of text, for the terminal and for Markdown alike.

use super::{PaperCell, ResultRow};
use crate::data::Task;
use crate::metrics::Estimate;

/// A table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// What it shows, such as `Regression`.
    pub title: &'static str,
    /// One a column.
    pub header: Vec<String>,
    /// As many cells as the header.
    pub rows: Vec<Vec<String>>,
}

/// How much of each result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What fits on a terminal.
    Brief,
    /// Every metric of the task.
    Full,
}

/// Metrics shown; the paper's cell of the second one stands behind it.
fn columns(task: Task, detail: Detail) -> (&'static str, &'static [&'static str]) {
    match (task, detail) {
        (Task::Regression, Detail::Brief) => ("Regression", &["nll", "nll_paper", "rmse"]),
        (Task::Regression, Detail::Full) => {
            let keys = &[
                "nll",
                "nll_paper",
                "nll_epistemic",
                "rmse",
                "mse",
                "crps",
                "coverage90",
                "width90",
            ];
            ("Regression", keys)
        }
        (Task::Classification, Detail::Brief) => {
            ("Classification", &["nll", "nll_logit", "accuracy", "ece"])
        }
        (Task::Classification, Detail::Full) => (
            "Classification",
            &[
                "nll",
                "nll_logit",
                "accuracy",
                "ece",
                "brier",
                "auroc",
                "entropy",
            ],
        ),
    }
}

/// One table for each task that has results.
pub fn grids(results: &[ResultRow], detail: Detail) -> Vec<Grid> {
    [Task::Regression, Task::Classification]
        .into_iter()
        .filter_map(|task| {
            let rows: Vec<_> = results.iter().filter(|row| row.task == task).collect();
            (!rows.is_empty()).then(|| grid(task, detail, &rows))
        })
        .collect()
}

fn grid(task: Task, detail: Detail, results: &[&ResultRow]) -> Grid {
    let (title, metrics) = columns(task, detail);
    let published = results.iter().any(|row| row.published.is_some());
    let mut header: Vec<String> = ["dataset", "method", "folds"].map(str::to_owned).to_vec();
    for (index, metric) in metrics.iter().enumerate() {
        header.push((*metric).to_owned());
        if index == 1 {
            header.push("paper".to_owned());
        }
    }
    if published {
        header.push("best published nll".to_owned());
    }
    header.extend(["best epoch", "step ms"].map(str::to_owned));
    let rows = results
        .iter()
        .map(|result| cells(result, metrics, published))
        .collect();
    Grid {
        title,
        header,
        rows,
    }
}

fn cells(result: &ResultRow, metrics: &[&str], published: bool) -> Vec<String> {
    let folds = format!("{}/{}", result.folds, result.protocol.folds());
    let mut cells = vec![result.dataset.clone(), result.label(), folds];
    for (index, metric) in metrics.iter().enumerate() {
        cells.push(with_error(result.metrics.get(*metric).copied().flatten()));
        if index == 1 {
            let printed = result.paper.as_ref().and_then(|paper| paper.get(*metric));
            cells.push(
                printed.map_or_else(dash, |cell| format!("{:.2} ± {:.2}", cell.mean, cell.se)),
            );
        }
    }
    if published {
        let best = result
            .published
            .as_ref()
            .and_then(|published| published.nll.as_ref());
        cells.push(best.map_or_else(dash, |best| {
            format!("{:.2} ± {:.2} ({})", best.mean, best.error, best.method)
        }));
    }
    cells.push(
        result
            .epochs_to_best
            .map_or_else(dash, |epochs| format!("{:.1}", epochs.mean)),
    );
    cells.push(result.step_ms.median.map_or_else(dash, number));
    cells
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

/// ` ▼` or ` ▲` if ours is below or above the paper's beyond two standard errors of the difference; else nothing.
pub(super) fn mark(ours: Estimate, paper: PaperCell) -> &'static str {
    let error = ours.se.unwrap_or(0.0).hypot(paper.se);
    match ours.mean - paper.mean {
        difference if difference < -2.0 * error => " ▼",
        difference if difference > 2.0 * error => " ▲",
        _ => "",
    }
}

/// `mean ± standard error`, or a dash. Both have the decimals that show two digits of the error, at least 3.
pub fn with_error(estimate: Option<Estimate>) -> String {
    match estimate {
        None => dash(),
        Some(Estimate {
            mean, se: Some(se), ..
        }) if is_plain(mean) && is_plain(10.0 * se) => {
            let decimals = if se > 0.0 {
                (1.0 - se.log10().floor()).clamp(3.0, 6.0) as usize
            } else {
                3
            };
            format!("{mean:.decimals$} ± {se:.decimals$}")
        }
        Some(Estimate {
            mean, se: Some(se), ..
        }) => format!("{} ± {}", number(mean), number(se)),
        Some(Estimate { mean, se: None, .. }) => number(mean),
    }
}

/// Three decimals, or three significant digits where three decimals would hide or drown the number.
pub fn number(value: f64) -> String {
    if is_plain(value) {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

/// Whether a number is readable without an exponent.
fn is_plain(value: f64) -> bool {
    value == 0.0 || (1e-2..1e4).contains(&value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable_at_any_scale() {
        for (value, text) in [
            (0.0, "0.000"),
            (-0.36, "-0.360"),
            (1234.5678, "1234.568"),
            (12345.0, "1.23e4"),
            (0.000_012_3, "1.23e-5"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn two_standard_errors_of_the_difference_are_marked() {
        let ours = |mean, se| Estimate { mean, se, n: 5 };
        let paper = PaperCell { mean: 1.0, se: 0.3 };
        // √(0.3² + 0.4²) = 0.5.
        for (mean, se, expected) in [
            (2.01, Some(0.4), " ▲"),
            (1.99, Some(0.4), ""),
            (0.01, Some(0.4), ""),
            (-0.01, Some(0.4), " ▼"),
            (1.61, None, " ▲"),
        ] {
            assert_eq!(mark(ours(mean, se), paper), expected);
        }
    }

    #[test]
    fn decimals_follow_the_error() {
        let text = |mean, se| with_error(Some(Estimate { mean, se, n: 5 }));
        for (mean, se, expected) in [
            (2.0, Some(1.0), "2.000 ± 1.000"),
            (0.96, Some(0.00985), "0.9600 ± 0.0098"),
            (-5.38, Some(0.0), "-5.380 ± 0.000"),
            (1.2e-7, Some(3e-8), "1.20e-7 ± 3.00e-8"),
            (20_000.0, Some(15.0), "2.00e4 ± 15.000"),
            (1.0, None, "1.000"),
        ] {
            assert_eq!(text(mean, se), expected);
        }
        assert_eq!(with_error(None), "–");
    }
}
