//! Tables on the terminal.

use crate::report::Grid;

use super::outcome::{CaseResult, Outcome};

/// One line a case and number of threads.
pub(super) fn cases(cases: &[CaseResult]) -> Grid {
    let header = [
        "case", "thr", "ms", "min", "max", "forward", "curv", "kernel", "solve", "diag", "update",
        "allocs", "MB", "route", "iter", "bound",
    ];
    let rows = cases.iter().map(|case| {
        let split = &case.split;
        let operations = case.operations.as_ref();
        vec![
            case.id.clone(),
            case.threads.to_string(),
            ms(Some(case.median_ms)),
            ms(Some(case.min_ms)),
            ms(Some(case.max_ms)),
            ms(Some(split.forward_ms)),
            ms(split.curvature_ms),
            ms(split.kernel_ms),
            ms(split.solve_ms),
            ms(Some(split.diagnostics_ms)),
            ms(Some(split.update_ms)),
            count(case.allocations),
            case.peak_mb.map_or_else(dash, |mb| format!("{mb:.0}")),
            operations.map_or_else(dash, |o| format!("{:?} {}", o.route, o.size)),
            operations.map_or_else(dash, |o| o.iterations.to_string()),
            ms(case.estimate.bound_ms),
        ]
    });
    Grid {
        title: "",
        header: header.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

/// The ratios that were measured.
pub(super) fn ratios(outcome: &Outcome) -> Grid {
    let rows = outcome.ratios.iter().filter_map(|(name, ratio)| {
        Some(vec![
            name.clone(),
            String::new(),
            format!("{:.3}", (*ratio)?),
        ])
    });
    Grid {
        title: "",
        header: ["ratio", "", "value"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

fn ms(value: Option<f64>) -> String {
    value.map_or_else(dash, |value| format!("{value:.3}"))
}

fn count(value: Option<u64>) -> String {
    value.map_or_else(dash, |value| value.to_string())
}

fn dash() -> String {
    "–".to_owned()
}
