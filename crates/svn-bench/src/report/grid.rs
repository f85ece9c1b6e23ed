//! Results as rows of text, for the terminal and for Markdown alike.

use super::{PaperCell, ResultRow};
use crate::data::Task;
use crate::metrics::Estimate;

/// A table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// `Regression` or `Classification`.
    pub title: &'static str,
    /// One a column.
    pub header: Vec<String>,
    /// As many cells as the header.
    pub rows: Vec<Vec<String>>,
}

/// Metrics shown for each task; the paper's cell of the second one stands behind it.
fn columns(task: Task) -> (&'static str, &'static [&'static str]) {
    match task {
        Task::Regression => (
            "Regression",
            &["nll", "nll_paper", "rmse", "crps", "coverage90"],
        ),
        Task::Classification => (
            "Classification",
            &["nll", "nll_logit", "accuracy", "ece", "brier", "auroc"],
        ),
    }
}

/// One table for each task that has results.
pub fn grids(results: &[ResultRow]) -> Vec<Grid> {
    [Task::Regression, Task::Classification]
        .into_iter()
        .filter_map(|task| {
            let rows: Vec<_> = results.iter().filter(|row| row.task == task).collect();
            (!rows.is_empty()).then(|| grid(task, &rows))
        })
        .collect()
}

fn grid(task: Task, results: &[&ResultRow]) -> Grid {
    let (title, metrics) = columns(task);
    let mut header: Vec<String> = ["dataset", "method", "folds"].map(str::to_owned).to_vec();
    for (index, metric) in metrics.iter().enumerate() {
        header.push((*metric).to_owned());
        if index == 1 {
            header.push("paper".to_owned());
        }
    }
    header.extend(["best epoch", "step ms"].map(str::to_owned));
    let rows = results
        .iter()
        .map(|result| {
            let folds = format!("{}/{}", result.folds, result.protocol.folds());
            let mut cells = vec![result.dataset.clone(), result.method.to_string(), folds];
            for (index, metric) in metrics.iter().enumerate() {
                cells.push(with_error(result.metrics.get(*metric).copied().flatten()));
                if index == 1 {
                    let printed = result.paper.as_ref().and_then(|paper| paper.get(*metric));
                    cells.push(printed.map_or_else(dash, |&PaperCell { mean, se }| {
                        format!("{mean:.2} ± {se:.2}")
                    }));
                }
            }
            cells.push(
                result
                    .epochs_to_best
                    .map_or_else(dash, |epochs| format!("{:.1}", epochs.mean)),
            );
            cells.push(result.step_ms.median.map_or_else(dash, number));
            cells
        })
        .collect();
    Grid {
        title,
        header,
        rows,
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// `mean ± standard error`, or a dash.
pub fn with_error(estimate: Option<Estimate>) -> String {
    match estimate {
        None => dash(),
        Some(Estimate { mean, se: None, .. }) => number(mean),
        Some(Estimate {
            mean, se: Some(se), ..
        }) => format!("{} ± {}", number(mean), number(se)),
    }
}

/// Three decimals, or three significant digits where three decimals would hide or drown the number.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-2..1e4).contains(&size) {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
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
        assert_eq!(with_error(None), "–");
        assert_eq!(with_error(Estimate::of(&[1.0])), "1.000");
        assert_eq!(with_error(Estimate::of(&[1.0, 3.0])), "2.000 ± 1.000");
    }
}
