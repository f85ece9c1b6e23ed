//! The page in one file.

use maud::{Markup, PreEscaped, html};

use super::{Body, Panel, Section, Source, Sources};
use crate::report::html as shell;
use crate::terminal::print::escaped;

pub(super) const TITLE: &str = "Stein variational Newton ensembles: every study and figure";

/// The whole of it: what there is, then section by section.
pub(super) fn page(sources: &Sources, sections: &[Section]) -> String {
    let body = html! {
        @if sources.quick {
            p.warn { "A quick run: few epochs, folds and data sets. It shows that everything works, not how good it is." }
        }
        nav {
            ol {
                @for section in sections {
                    li { a href=(format!("#{}", section.id)) { (section.title) } }
                }
            }
        }
        @for section in sections {
            section id=(section.id) {
                h2 { (section.title) }
                p { (prose(section.intro)) }
                @for panel in &section.panels { (of(panel)) }
            }
        }
    };
    shell::document(TITLE, &body)
}

fn of(panel: &Panel) -> Markup {
    html! {
        h3 { (escaped(&panel.title)) }
        @match &panel.body {
            Body::Figure { svg, .. } => figure role="img" aria-label=(escaped(&panel.title)) { (PreEscaped(svg)) },
            Body::Table(grid) => (shell::table(grid)),
            Body::Missing => p.warn { "Not measured here. " code { (escaped(&panel.source.command)) } " makes it." },
        }
        @if !panel.says.is_empty() { p { (prose(&panel.says)) } }
        @if panel.body != Body::Missing { (from(&panel.source)) }
    }
}

fn from(source: &Source) -> Markup {
    html! {
        details {
            summary { "where it is from" }
            ul { @for (what, text) in source.lines() { li { (what) ": " code { (escaped(&text)) } } } }
        }
    }
}

/// Text whose words between backticks are code.
fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 0 { (escaped(part)) } @else { code { (escaped(part)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn code_is_marked_and_markup_is_none() {
        let found = prose("`nll` < 2 of `a<b`").into_string();
        assert_eq!(found, "<code>nll</code> &lt; 2 of <code>a&lt;b</code>");
    }
}
