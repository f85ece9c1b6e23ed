//! One page of a fit, in one file: data, scores, calibration, columns, curve, cost.

use maud::{Markup, PreEscaped, html};
use svn_models::Ensemble;

use super::fit::{afterwards, tried};
use super::folder::Cost;
use super::kept::Kept;
use super::{TabularError, figures};
use crate::report::{html as shell, number};
use crate::terminal::print::escaped;

/// Metrics that are shown, with their names for people.
const SHOWN: [(&str, &str); 9] = [
    ("nll", "NLL, nats a row"),
    ("rmse", "RMSE"),
    ("crps", "CRPS"),
    ("coverage90", "90 % interval holds"),
    ("accuracy", "accuracy"),
    ("auroc", "AUROC"),
    ("brier", "Brier"),
    ("ece", "ECE"),
    ("width90", "90 % interval, width"),
];

/// The page.
///
/// # Errors
/// [`TabularError::Report`] for a figure.
pub fn page(ensemble: &Ensemble, kept: &Kept, cost: Option<Cost>) -> Result<String, TabularError> {
    let title = format!("{} from {}", kept.schema.target(), kept.read.file);
    let figures = figures::of_fit(kept, ensemble.settings().method)?;
    let body = html! {
        @for warning in &kept.warnings {
            p.warn { (escaped(warning)) }
        }
        @if !kept.scores.is_empty() {
            h2 { "Validation rows" }
            (scores(kept))
            div.figures {
                @for figure in &figures { (PreEscaped(&figure.svg)) }
            }
            h2 { "Columns" }
            p { "How much worse the validation rows get, nats a row, when a column is shuffled among them." }
            (columns(kept))
        }
        h2 { "Data" }
        (data(kept))
        h2 { "Model" }
        (model(ensemble, kept, cost))
        p { "data " code { (kept.read.sha256) } }
    };
    Ok(shell::document(&title, &body))
}

fn scores(kept: &Kept) -> Markup {
    let shown = SHOWN.iter().filter(|(key, _)| {
        let mut scores = kept.scores.iter();
        scores.any(|score| score.metric(key).is_some())
    });
    let shown: Vec<_> = shown.collect();
    html! {
        table {
            tr {
                th { "model" }
                @for (_, name) in &shown { th { (name) } }
            }
            @for score in &kept.scores {
                tr {
                    td { (score.model) }
                    @for (key, _) in &shown {
                        td { (score.metric(key).map_or_else(|| "–".to_owned(), number)) }
                    }
                }
            }
        }
    }
}

fn columns(kept: &Kept) -> Markup {
    let largest = kept.importance.iter().map(|of| of.nll).fold(0.0, f64::max);
    let used = kept.schema.columns();
    let kind = |name: &str| {
        let found = used.iter().find(|column| column.name == name);
        found.map_or(String::new(), |column| column.kind.clone())
    };
    html! {
        table {
            tr { th { "column" } th { "read as" } th { "worth" } th {} }
            @for of in &kept.importance {
                tr {
                    td { (escaped(&of.column)) }
                    td { (escaped(&kind(&of.column))) }
                    td { (number(of.nll)) }
                    td style="text-align:left;min-width:11rem" {
                        @let width = if largest > 0.0 { 10.0 * (of.nll / largest).clamp(0.0, 1.0) } else { 0.0 };
                        span.bar style=(format!("width:{width:.2}rem")) {}
                    }
                }
            }
        }
    }
}

fn data(kept: &Kept) -> Markup {
    let read = &kept.read;
    html! {
        p {
            (escaped(&read.file)) ": " (read.rows) " rows, " (read.columns) " columns; "
            (read.training_rows) " rows fitted, " (read.validation_rows) " for validation, "
            (kept.schema.width()) " features."
        }
        ul { @for finding in &kept.findings { li { (escaped(finding)) } } }
    }
}

fn model(ensemble: &Ensemble, kept: &Kept, cost: Option<Cost>) -> Markup {
    let (settings, training) = (ensemble.settings(), ensemble.training());
    let members = ensemble.members().particles();
    html! {
        p {
            (settings.method.to_string()) ", " (members.nrows()) " members of " (members.ncols())
            " weights; weights of epoch " (training.best_epoch) " of " (training.epochs)
            @if let Some(cost) = cost {
                "; " (format!("{:.1} s, of which {:.1} s training", cost.whole_s, cost.training_s))
            }
            "."
        }
        table {
            tr { th { "setting" } th { "value" } }
            @for (name, value) in crate::report::of_settings(&settings.recipe) {
                tr { td { (name) } td { (value) } }
            }
        }
        @if let Some(text) = tried(ensemble) { p { (text) "." } }
        @if let Some(text) = afterwards(ensemble) { p { (text) "." } }
        @if let Some(best) = kept.curve.iter().find(|at| at.epoch == training.best_epoch)
            && !kept.scores.is_empty()
        {
            p { "Validation NLL of that epoch: " (best.validation_nll.map_or_else(|| "–".to_owned(), number)) "." }
        }
    }
}
