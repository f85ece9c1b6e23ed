//! `report.md`: the tables, the figures, the settings behind each row, the machine.

use std::fmt::Write;

use super::{Grid, Summary, grids};

/// The report as text. `figures` are file names relative to the report.
pub fn markdown(summary: &Summary, figures: &[String]) -> String {
    let mut text = String::from("# UCI benchmark\n\n");
    text.push_str(
        "Means over folds ± standard error, original units, NLL in nats. `nll_paper` and `nll_logit` follow the \
         paper's protocol; `paper` is the cell it prints for them.\n",
    );
    for grid in grids(&summary.results) {
        push_grid(&mut text, &grid);
    }
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
        let settings = serde_json::to_string(&row.settings).unwrap_or_default();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} × {} | {} | `{settings}` |",
            row.config,
            row.dataset,
            row.method,
            row.protocol.name(),
            row.protocol.folds(),
            row.seed,
        );
    }
    text.push_str("\n## Machine\n\n| | |\n|---|---|\n");
    for (key, value) in &summary.env {
        let _ = writeln!(text, "| {key} | {value} |");
    }
    text
}

fn push_grid(text: &mut String, grid: &Grid) {
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
