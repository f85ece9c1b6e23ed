//! `report.md`: the tables, the figures, the settings behind each row, the machine.

use std::fmt::Write;

use super::{Detail, Grid, Summary, grids, losses, sections};
use crate::experiment::Recipe;

/// The report as text. `figures` are file names relative to the report.
pub fn markdown(summary: &Summary, figures: &[String]) -> String {
    let mut text = String::from("# UCI benchmark\n\n");
    text.push_str(
        "Means over folds ± standard error, original units, NLL in nats. `nll_paper` and `nll_logit` follow the \
         paper's protocol; `paper` is the cell it prints for them.\n",
    );
    for grid in grids(&summary.results, Detail::Full) {
        push_grid(&mut text, &grid);
    }
    for grid in sections(summary) {
        push_grid(&mut text, &grid);
    }
    push_losses(&mut text, summary);
    for figure in figures {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n![{}]({figure})\n",
            figure.trim_end_matches(".svg").replace('-', " ")
        );
    }
    text.push_str("\n## Settings\n\n| config | dataset | method | protocol | seed | settings |\n|---|---|---|---|---|---|\n");
    for row in &summary.results {
        let settings = settings(&row.settings);
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} × {} | {} | {settings} |",
            row.config,
            row.dataset,
            row.method,
            row.protocol.name(),
            row.protocol.folds(),
            row.seed,
        );
    }
    push_warnings(&mut text, summary);
    text.push_str("\n## Machine\n\n| | |\n|---|---|\n");
    for (key, value) in &summary.env {
        let _ = writeln!(text, "| {key} | {value} |");
    }
    text
}

/// `name value` of every setting that has one.
fn settings(settings: &Recipe) -> String {
    named(&serde_json::to_value(settings).unwrap_or_default())
}

/// `name value` of every field of an object that is not null.
pub(super) fn named(value: &serde_json::Value) -> String {
    let named = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null());
    named
        .map(|(name, value)| {
            format!(
                "{name} {}",
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            )
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn push_losses(text: &mut String, summary: &Summary) {
    if !summary.results.iter().any(|row| row.method.is_newton()) {
        return;
    }
    text.push_str("\n## Where Newton methods lose\n\n");
    let losses = losses(summary);
    if losses.is_empty() {
        text.push_str("Nowhere in these results.\n");
    }
    for loss in losses {
        let _ = writeln!(text, "* {loss}");
    }
}

fn push_warnings(text: &mut String, summary: &Summary) {
    let rows = || {
        summary
            .results
            .iter()
            .filter(|row| !row.warnings.is_empty())
    };
    if rows().next().is_none() {
        return;
    }
    text.push_str("\n## Warnings\n\n");
    for row in rows() {
        for (warning, folds) in &row.warnings {
            let _ = writeln!(
                text,
                "* {} {} ({folds} of {} folds): {warning}",
                row.dataset, row.method, row.folds
            );
        }
    }
}

pub(super) fn push_grid(text: &mut String, grid: &Grid) {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let _ = write!(text, "\n## {}\n\n", grid.title);
    text.push_str(&line(&grid.header));
    text.push_str(&format!("|{}\n", "---|".repeat(grid.header.len())));
    for row in &grid.rows {
        text.push_str(&line(row));
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
