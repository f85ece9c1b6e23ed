//! The study's part of its report: the cohort, the events, scores by length of stay, intervals.

use svn_models::recipe::Method;

use super::{LosTask, MimicDesign, MimicExtra, NAME};
use crate::data::Task;
use crate::data::mimic::{Counts, Flow};
use crate::engine::Design;
use crate::report::figure::{Intervals, by_design, colours, draw_intervals};
use crate::report::{
    Beside, Cells, Detail, Figure, Grid, Page, ReportError, Row, dash, grid, paper_cells,
    with_error,
};

const PAPER: &str = include_str!("paper.json");

/// Scores that are shown, by length of stay too.
const SCORES: [&str; 10] = [
    "nll",
    "nll_moments",
    "nll_paper",
    "rmse",
    "mae",
    "crps",
    "coverage50",
    "coverage80",
    "coverage90",
    "width90",
];

/// The report of lengths of stay.
#[derive(Debug)]
pub struct MimicPage;

impl Page for MimicPage {
    const STUDY: &'static str = NAME;
    const TITLE: &'static str = "Length of intensive-care stays";
    const INTRO: &'static str = "Predicted 24 hours after a stay begins, from what is known then. Means over folds of patients ± \
                                 standard error; all metrics in hours, of the whole stay (`total`) or of what is left \
                                 (`remaining`), also where networks saw their logarithm (`-log`); NLL in nats. `mae` is that of the predictive \
                                 median. Validation NLL, in the figures, is that of the target. `docs/mimic.md` has the rules of \
                                 cohort and features. Of fewer than ten patients nothing is told.";

    type Design = MimicDesign;
    type Extra = MimicExtra;

    fn metrics(_: Task, detail: Detail) -> &'static [&'static str] {
        match detail {
            Detail::Brief => &["nll", "rmse", "coverage90", "mae"],
            Detail::Full => &SCORES,
        }
    }

    /// Of whole stays in hours; neither of the demo nor of made-up patients.
    fn paper(design: &MimicDesign, method: Method) -> Result<Option<Cells>, ReportError> {
        if design.log_target || design.los != LosTask::LosTotal {
            return Ok(None);
        }
        paper_cells(PAPER, design.dataset(), method)
    }

    fn beside(_: Task) -> &'static [Beside] {
        const { &[Beside::same("nll_paper")] }
    }

    fn sections(rows: &[Row<Self>]) -> Vec<Grid> {
        let mut seen = Vec::new();
        let mut grids = Vec::new();
        for row in rows {
            if !seen.contains(&row.design.data_sha256) {
                seen.push(row.design.data_sha256.clone());
                grids.push(cohort_table(&row.dataset, &row.extra.flow));
                grids.push(events(&row.dataset, &row.extra.events));
            }
        }
        grids.push(bands(rows));
        grids
    }

    /// `intervals-NAME.svg` a design.
    fn figures(rows: &[Row<Self>]) -> Result<Vec<Figure>, ReportError> {
        let mut figures = Vec::new();
        for family in by_design(rows) {
            let methods: Vec<_> = family.rows.iter().map(|row| row.method).collect();
            let panels = family.rows.iter().zip(colours(&methods));
            let panels = panels.map(|(row, colour)| Intervals {
                title: row.label.clone(),
                colour,
                bins: row.extra.intervals.clone(),
            });
            let panels: Vec<_> = panels.filter(|panel| !panel.bins.is_empty()).collect();
            if !panels.is_empty() {
                let name = format!("intervals-{}.svg", family.name);
                figures.push(draw_intervals(name, &panels, "hours")?);
            }
        }
        Ok(figures)
    }
}

fn text_grid(title: String, header: &[&str], rows: Vec<Vec<String>>) -> Grid {
    Grid::new(
        title,
        header.iter().map(|name| (*name).to_owned()).collect(),
        rows,
    )
}

/// From all stays to the cohort.
pub fn cohort_table(dataset: &str, flow: &Flow) -> Grid {
    let lines = flow.lines().into_iter();
    let mut rows: Vec<Vec<String>> = lines
        .map(|(rule, removed, left)| match removed {
            0 if rule == "stays" => vec![rule, dash(), left.to_string()],
            _ => vec![rule, removed.to_string(), left.to_string()],
        })
        .collect();
    for (name, count) in [
        ("of these died in hospital", flow.died),
        ("of these with an odd discharge", flow.odd_discharges),
    ] {
        rows.push(vec![name.to_owned(), dash(), count.to_string()]);
    }
    text_grid(
        format!("Cohort, {dataset}"),
        &["rule", "left out", "left"],
        rows,
    )
}

/// What became of the rows of events.
fn events(dataset: &str, counts: &[Counts; 3]) -> Grid {
    let [chart, lab, output] = counts.each_ref().map(Counts::lines);
    let rows = chart
        .iter()
        .zip(lab)
        .zip(output)
        .map(|((chart, lab), output)| {
            let numbers = [chart.1, lab.1, output.1].map(|count| count.to_string());
            [vec![chart.0.to_owned()], numbers.to_vec()].concat()
        });
    let header = ["rows", "chartevents", "labevents", "outputevents"];
    text_grid(format!("Events, {dataset}"), &header, rows.collect())
}

/// Scores by length of the whole stay.
fn bands(rows: &[Row<MimicPage>]) -> Grid {
    let cells = rows.iter().flat_map(|row| {
        row.extra.bands.iter().map(move |band| {
            let scores = SCORES.map(|key| with_error(band.metrics.get(key).copied()));
            let head = vec![band.name.clone(), band.rows.to_string()];
            (row, [head, scores.to_vec()].concat())
        })
    });
    let header = [&["whole stay", "patients"][..], &SCORES].concat();
    grid("By length of stay", &header, cells.collect())
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
