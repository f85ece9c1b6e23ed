//! The page as Markdown, beside its figures.

use std::fmt::Write;

use super::{Body, Panel, Section, Sources, page};
use crate::terminal::markdown_table;

pub(super) fn markdown(sources: &Sources, sections: &[Section]) -> String {
    let mut text = format!("# {}\n", page::TITLE);
    if sources.quick {
        text.push_str("\nA quick run: few epochs, folds and data sets.\n");
    }
    for section in sections {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n\n{}\n", section.title, section.intro);
        for panel in &section.panels {
            push(&mut text, panel);
        }
    }
    text
}

fn push(text: &mut String, panel: &Panel) {
    let _ = write!(text, "\n### {}\n\n", panel.title);
    match &panel.body {
        Body::Figure { name, .. } => {
            let _ = writeln!(text, "![{}](figures/{name})", panel.title);
        }
        Body::Table(grid) => text.push_str(&markdown_table(grid)),
        Body::Missing => {
            let _ = writeln!(
                text,
                "Not measured here: `{}` makes it.",
                panel.source.command
            );
        }
    }
    if !panel.says.is_empty() {
        let _ = write!(text, "\n{}\n", panel.says);
    }
    if panel.body != Body::Missing {
        let lines = panel.source.lines();
        let lines: Vec<String> = lines.map(|(what, of)| format!("{what} `{of}`")).collect();
        let _ = write!(text, "\n<sub>{}</sub>\n", lines.join(", "));
    }
}
