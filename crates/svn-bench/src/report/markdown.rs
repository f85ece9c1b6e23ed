//! `report.md`: the tables, the figures, the settings behind each row, the machine.

use std::fmt::Write;

use super::{Figure, Grid, Page, Row, Summary, distinct, losses, tables};
use crate::engine::Design;
use crate::terminal::markdown_table;

/// The report as text; it shows the figures that lie beside it.
pub fn markdown<P: Page>(summary: &Summary<P>, figures: &[Figure]) -> String {
    let rows = &summary.results;
    let mut text = format!("# {}\n\n{}\n", P::TITLE, P::INTRO);
    for grid in tables(summary) {
        push_grid(&mut text, &grid);
    }
    push_losses(&mut text, rows);
    for figure in figures {
        let title = figure.name.trim_end_matches(".svg").replace('-', " ");
        // Writing to a string cannot fail.
        let _ = write!(text, "\n![{title}]({})\n", figure.name);
    }
    push_grid(&mut text, &settings(rows));
    push_warnings(&mut text, rows);
    let machine = summary.env.iter();
    let machine = machine.map(|(key, value)| vec![key.clone(), value.clone()]);
    let header = vec![String::new(); 2];
    push_grid(&mut text, &Grid::new("Machine", header, machine.collect()));
    text
}

/// What each row is: hashes, protocol, seeds, every setting.
fn settings<P: Page>(rows: &[Row<P>]) -> Grid {
    let header = ["protocol", "data", "seeds", "config", "settings"];
    let cells = rows.iter().map(|row| {
        let design = &row.design;
        let data: String = design.data_sha256().chars().take(8).collect();
        let seeds: Vec<String> = row.seeds.iter().map(u64::to_string).collect();
        let settings = distinct::of_settings(&row.settings).into_iter();
        let settings: Vec<String> = settings
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let line = vec![
            format!("{} × {}", design.protocol(), design.folds()),
            format!("`{data}`"),
            seeds.join(" "),
            format!("`{}`", row.config),
            settings.join(", "),
        ];
        (row, line)
    });
    super::grid("Settings", &header, cells.collect())
}

fn push_losses<P: Page>(text: &mut String, rows: &[Row<P>]) {
    if !rows.iter().any(|row| row.method.is_newton()) {
        return;
    }
    text.push_str("\n## Where Newton methods lose\n\n");
    let losses = losses(rows);
    if losses.is_empty() {
        text.push_str("Nowhere in these results.\n");
    }
    for loss in losses {
        let _ = writeln!(text, "* {loss}");
    }
}

fn push_warnings<P: Page>(text: &mut String, rows: &[Row<P>]) {
    if rows.iter().any(|row| !row.warnings.is_empty()) {
        text.push_str("\n## Warnings\n\n");
    }
    for row in rows {
        for (warning, runs) in &row.warnings {
            let (name, all) = (row.name(), row.runs);
            let _ = writeln!(text, "* {name} ({runs} of {all} runs): {warning}");
        }
    }
}

fn push_grid(text: &mut String, grid: &Grid) {
    let _ = write!(text, "\n## {}\n\n{}", grid.title, markdown_table(grid));
}
