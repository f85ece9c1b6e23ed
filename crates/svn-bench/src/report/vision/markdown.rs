//! `report.md` of image experiments: the tables, the figures, the settings behind each row, the machine.

use std::fmt::Write;

use serde::Serialize;

use super::{VisionSummary, losses, sections};
use crate::report::markdown::{named, push_grid};

/// The report as text. `figures` are file names relative to the report.
pub fn markdown(summary: &VisionSummary, figures: &[String]) -> String {
    let mut text = String::from("# Image benchmark\n\n");
    text.push_str(
        "LeNet. Means over seeds and folds ± standard error; NLL in nats an image, `nll` of the mean probability and \
         `nll_logit` of the mean logit, as in the paper; `images` are those for training (80 %) and validation (20 %); \
         `ood_auroc` is that of telling another set's images by their predictive entropy.\n",
    );
    for grid in sections(summary) {
        push_grid(&mut text, &grid);
    }
    if summary.results.iter().any(|row| !row.versus.is_empty()) {
        text.push_str("\n## Where Newton methods lose\n\n");
        let losses = losses(summary);
        if losses.is_empty() {
            text.push_str("Nowhere in these results.\n");
        }
        for loss in losses {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "* {loss}");
        }
    }
    for figure in figures {
        let title = figure.trim_end_matches(".svg").replace('-', " ");
        let _ = write!(text, "\n![{title}]({figure})\n");
    }
    text.push_str("\n## Settings\n\n| config | set | method | split | images | seeds | settings |\n|---|---|---|---|---|---|---|\n");
    for row in &summary.results {
        let seeds: Vec<String> = row.seeds.iter().map(u64::to_string).collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            row.config,
            row.dataset,
            row.method,
            row.split.name(),
            row.size(),
            seeds.join(" "),
            settings(&row.settings),
        );
    }
    if summary.results.iter().any(|row| !row.warnings.is_empty()) {
        text.push_str("\n## Warnings\n\n");
    }
    for row in &summary.results {
        for (warning, runs) in &row.warnings {
            let (set, label, size) = (&row.dataset, row.label(), row.size());
            let _ = writeln!(
                text,
                "* {set} {label}, {size} images ({runs} of {} runs): {warning}",
                row.folds
            );
        }
    }
    text.push_str("\n## Machine\n\n| | |\n|---|---|\n");
    for (key, value) in &summary.env {
        let _ = writeln!(text, "| {key} | {value} |");
    }
    text
}

fn settings(settings: &impl Serialize) -> String {
    named(&serde_json::to_value(settings).unwrap_or_default())
}
