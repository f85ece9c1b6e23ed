//! The tables of an image report.

use super::{VisionRow, VisionSummary};
use crate::metrics::Estimate;
use crate::report::{Grid, number, with_error};

const METRICS: [&str; 7] = [
    "accuracy",
    "nll",
    "nll_logit",
    "ece",
    "brier",
    "auroc",
    "ood_auroc",
];

/// What fits on a terminal.
pub fn brief(rows: &[&VisionRow]) -> Grid {
    results(rows, &["accuracy", "nll", "ece", "ood_auroc"])
}

/// The tables that have rows.
pub fn sections(summary: &VisionSummary) -> Vec<Grid> {
    let rows: Vec<&VisionRow> = summary.results.iter().collect();
    let all = [
        results(&rows, &METRICS),
        differences(&rows),
        beside_paper(&rows),
        corrupted(&rows),
        cost(&rows),
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

/// Which configuration a row is of.
fn name(row: &VisionRow) -> Vec<String> {
    vec![row.dataset.clone(), row.label(), row.size()]
}

fn results(rows: &[&VisionRow], metrics: &[&str]) -> Grid {
    let cells = |row: &&VisionRow| {
        let mut cells = name(row);
        cells.push(row.folds.to_string());
        cells.extend(metrics.iter().map(|key| with_error(row.metric(key))));
        cells.push(
            row.epochs_to_best
                .map_or_else(dash, |epochs| format!("{:.1}", epochs.mean)),
        );
        cells.push(row.step_ms.median.map_or_else(dash, number));
        cells
    };
    let header = [
        &["set", "method", "images", "runs"],
        metrics,
        &["best epoch", "step ms"],
    ]
    .concat();
    grid("Results", &header, rows.iter().map(cells).collect())
}

/// Paired: negative NLL and ECE, positive accuracy and AUROC are better.
fn differences(rows: &[&VisionRow]) -> Grid {
    let mut cells = Vec::new();
    for row in rows {
        for versus in &row.versus {
            let difference = |key: &str| versus.differences.get(key).copied().flatten();
            let mut line = name(row);
            line.push(versus.baseline.to_string());
            line.extend(
                ["accuracy", "nll", "ece", "ood_auroc"].map(|key| with_error(difference(key))),
            );
            line.push(difference("nll").map_or("", verdict).to_owned());
            cells.push(line);
        }
    }
    let header = [
        "set",
        "method",
        "images",
        "minus",
        "accuracy",
        "nll",
        "ece",
        "ood_auroc",
        "by nll",
    ];
    grid(
        "Paired differences to the first-order methods",
        &header,
        cells,
    )
}

/// A difference of an NLL in words.
fn verdict(nll: Estimate) -> &'static str {
    match nll.se.map(|se| nll.mean / se) {
        Some(errors) if errors <= -2.0 => "better beyond 2 se",
        Some(errors) if errors >= 2.0 => "worse beyond 2 se",
        Some(errors) if errors.is_finite() => "within 2 se",
        _ => "",
    }
}

fn beside_paper(rows: &[&VisionRow]) -> Grid {
    let keys = ["accuracy", "nll_logit", "ece", "brier", "auroc"];
    let printed = rows.iter().filter_map(|row| {
        let paper = row.paper.as_ref()?;
        let mut cells = name(row);
        for key in keys {
            cells.push(with_error(row.metric(key)));
            cells.push(
                paper
                    .get(key)
                    .map_or_else(dash, |cell| format!("{:.3} ± {:.3}", cell.mean, cell.se)),
            );
        }
        Some(cells)
    });
    let mut header = vec!["set", "method", "images"];
    for key in keys {
        header.extend([key, "paper"]);
    }
    grid("Beside the paper", &header, printed.collect())
}

/// Means over the levels above 0.
fn corrupted(rows: &[&VisionRow]) -> Grid {
    let mut cells = Vec::new();
    for row in rows {
        for kind in [
            crate::data::images::Corruption::Rotation,
            crate::data::images::Corruption::Noise,
        ] {
            let points = || {
                row.corruption
                    .iter()
                    .filter(|point| point.kind == kind && point.level > 0.0)
            };
            if points().next().is_none() {
                continue;
            }
            let mean =
                |values: Vec<f64>| Estimate::of(&values).map_or_else(dash, |e| number(e.mean));
            let mut line = name(row);
            line.push(kind.name().to_owned());
            line.push(mean(
                points()
                    .filter_map(|point| Some(point.accuracy?.mean))
                    .collect(),
            ));
            line.push(mean(
                points().filter_map(|point| Some(point.nll?.mean)).collect(),
            ));
            line.push(mean(
                points().filter_map(|point| Some(point.ece?.mean)).collect(),
            ));
            cells.push(line);
        }
    }
    let header = [
        "set",
        "method",
        "images",
        "corruption",
        "accuracy",
        "nll",
        "ece",
    ];
    grid(
        "Corrupted test images, means over the levels",
        &header,
        cells,
    )
}

fn cost(rows: &[&VisionRow]) -> Grid {
    let cells = |row: &&VisionRow| {
        let mut cells = name(row);
        cells.push(row.step_ms.median.map_or_else(dash, number));
        cells.push((row.steps / row.folds.max(1)).to_string());
        cells.push(number(row.wall_s / row.folds.max(1) as f64));
        cells.push(number(row.wall_s));
        cells
    };
    let header = [
        "set",
        "method",
        "images",
        "step ms",
        "steps a run",
        "s a run",
        "s in all",
    ];
    grid("Cost", &header, rows.iter().map(cells).collect())
}

/// Where the Newton methods are not the better choice, in sentences.
pub fn losses(summary: &VisionSummary) -> Vec<String> {
    let mut losses = Vec::new();
    for row in &summary.results {
        for versus in &row.versus {
            if let Some(nll) = versus.differences.get("nll").copied().flatten()
                && nll.mean > 0.0
            {
                losses.push(format!(
                    "{}, {}, {} images: nll above {}'s by {}",
                    row.dataset,
                    row.label(),
                    row.size(),
                    versus.baseline,
                    with_error(Some(nll))
                ));
            }
        }
    }
    losses
}

fn dash() -> String {
    "–".to_owned()
}
