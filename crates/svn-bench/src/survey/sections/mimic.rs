//! Lengths of intensive-care stays.

use super::super::sources::Found;
use super::super::{Panel, Run, Section, Sources, SurveyError};
use super::studied;
use crate::report::{self, Detail, Page};
use crate::study::mimic::MimicPage;

const ID: &str = "mimic";

pub(super) const RUN: Run = Run {
    folder: ID,
    whole: "bench-mimic",
    quick: &["bench-mimic --demo --demo-patients 500 --folds 2 --epochs 10"],
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "Lengths of intensive-care stays",
        intro: "Hours in intensive care, predicted 24 hours after a stay begins. The full MIMIC-IV needs a licence; where it is not at hand these are \
                the 100 patients of its open demo (data set mimic-iv-demo), or patients that are made up (mimic-iv-made-up): they show that the \
                pipeline works, not how well anything predicts.",
        panels: studied::<MimicPage>(sources, &RUN, panels)?,
    })
}

fn panels(found: &Found<MimicPage>) -> Result<Vec<Panel>, SurveyError> {
    let (rows, source) = (&found.summary.results, &found.source);
    let mut panels = Vec::new();
    for mut grid in report::results::<MimicPage>(rows, Detail::Full) {
        grid.title = "Scores".to_owned();
        let says = "All in hours, NLL in nats; `mae` is of the predictive median, `coverage90` the share of stays inside the 90 % interval.";
        panels.push(Panel::table(grid, says, source));
    }
    for grid in MimicPage::sections(rows) {
        if !grid.rows.is_empty() {
            panels.push(Panel::table(grid, "", source));
        }
    }
    for figure in MimicPage::figures(rows)? {
        let title = figure.name.trim_end_matches(".svg").replace('-', " ");
        let says = "Stays in the order of what is predicted for them: the predictive median and 90 % interval in bins, and where the stays of a bin really are.";
        panels.push(Panel::figure(ID, figure, (&title, says), source));
    }
    Ok(panels)
}
