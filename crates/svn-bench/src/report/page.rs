//! What a study adds to its report. Everything else is common to all.

use std::collections::BTreeMap;
use std::fmt::Debug;

use svn_models::recipe::{Method, Predictive, Recipe};

use super::{Anchor, Cells, Figure, Grid, ReportError, Row};
use crate::data::Task;
use crate::engine::{Design, Extra, Record};

/// How much of each result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What fits on a terminal.
    Brief,
    /// Every metric of the task.
    Full,
}

/// A metric of ours that stands beside a printed one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Key of the printed metric; several of ours may stand beside one.
    pub printed: &'static str,
    /// Key of ours.
    pub ours: &'static str,
    /// What is taken from ours first, such as a constant that the paper leaves out.
    pub less: f64,
    /// Head of our column.
    pub title: &'static str,
}

impl Beside {
    /// The metric of the same key, as it is.
    pub const fn same(key: &'static str) -> Self {
        Self {
            printed: key,
            ours: key,
            less: 0.0,
            title: key,
        }
    }
}

/// The part of a report that is the study's own.
pub trait Page: Debug + Sized {
    /// Name of the study, as in its records.
    const STUDY: &'static str;
    /// Head of the report.
    const TITLE: &'static str;
    /// What its numbers are, a paragraph of Markdown.
    const INTRO: &'static str;

    /// Data and splits.
    type Design: Design;
    /// Measures beside the common ones.
    type Extra: Extra;

    /// Keys of the metrics shown, the most important first. Those of [`Detail::Full`] are compared with the baselines.
    fn metrics(task: Task, detail: Detail) -> &'static [&'static str];

    /// The method, with what is unusual about its settings: `svn, laplace`.
    fn label(method: Method, settings: &Recipe) -> String {
        let mut label = method.to_string();
        if let Some(name) = density(settings) {
            label.push_str(", ");
            label.push_str(name);
        }
        if settings.temperature == Some(true) {
            label.push_str(", temperature");
        }
        label
    }

    /// What the paper prints; `None` where it prints nothing or the design is another one.
    ///
    /// # Errors
    /// [`ReportError::Printed`].
    fn paper(_design: &Self::Design, _method: Method) -> Result<Option<Cells>, ReportError> {
        Ok(None)
    }

    /// What of ours stands beside the paper's cells; those of one printed metric behind each other.
    fn beside(_task: Task) -> &'static [Beside] {
        &[]
    }

    /// The best cells of the wider literature, by key.
    ///
    /// # Errors
    /// [`ReportError::Printed`].
    fn published(_design: &Self::Design) -> Result<BTreeMap<String, Anchor>, ReportError> {
        Ok(BTreeMap::new())
    }

    /// Further tables.
    fn sections(_rows: &[Row<Self>]) -> Vec<Grid> {
        Vec::new()
    }

    /// Further figures.
    ///
    /// # Errors
    /// [`ReportError::Figure`].
    fn figures(_rows: &[Row<Self>]) -> Result<Vec<Figure>, ReportError> {
        Ok(Vec::new())
    }
}

/// A record of the study of a page.
pub type RecordOf<P> = Record<<P as Page>::Design, <P as Page>::Extra>;

/// The predictive density, to stand beside the name of a method, where it is another than that of the members.
pub(crate) fn density(settings: &Recipe) -> Option<&'static str> {
    match settings.predictive? {
        Predictive::Laplace => Some("laplace"),
        Predictive::Fill => Some("fill"),
        Predictive::StudentT => Some("student-t tails"),
        _ => None,
    }
}
