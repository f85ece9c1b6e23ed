//! A curve with a gap, beside its posterior.

use super::super::sources::Found;
use super::super::{Panel, Run, Section, Sources, SurveyError};
use super::studied;
use crate::report::{self, Detail, Page};
use crate::study::toy::ToyPage;

const ID: &str = "toy";

pub(super) const RUN: Run = Run {
    folder: ID,
    whole: "bench-toy --seeds 3",
    quick: &["bench-toy --epochs 1000"],
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "A curve with a gap, beside Hamiltonian Monte Carlo",
        intro: "Do the members disagree where there are no data as much as the posterior does? One network with 50 hidden units on \
                150 rows of (x − 3)³, 20 members; the truth is a long Hamiltonian Monte Carlo run, made by \
                `cargo run --release -p svn-bench --example toy_hmc` and kept in crates/svn-bench/experiments/toy.",
        panels: studied::<ToyPage>(sources, &RUN, panels)?,
    })
}

fn panels(found: &Found<ToyPage>) -> Result<Vec<Panel>, SurveyError> {
    let (rows, source) = (&found.summary.results, &found.source);
    let mut panels = Vec::new();
    for figure in ToyPage::figures(rows)? {
        let says = "Mean of the function and one, two and three standard deviations of it, rows of data as points, the curve itself as a thin \
                    line. Upper left is the posterior; y in units of the target.";
        panels.push(Panel::figure(
            ID,
            figure,
            ("What members believe", says),
            source,
        ));
    }
    for mut grid in report::results::<ToyPage>(rows, Detail::Full) {
        grid.title = "Distance from the posterior".to_owned();
        panels.push(Panel::table(grid, closest(found), source));
    }
    Ok(panels)
}

/// Which method has the posterior's width where there are no data, and which has it least.
fn closest(found: &Found<ToyPage>) -> String {
    let rows = found.summary.results.iter();
    let mut errors: Vec<(f64, &str)> = rows
        .filter_map(|row| Some((row.metric("sd_outside")?.mean, row.label.as_str())))
        .collect();
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    match (errors.first(), errors.last()) {
        (Some((least, best)), Some((most, worst))) => format!(
            "Outside the data the standard deviation is closest to the posterior's with {best} (root mean square error {least:.2}) and \
             furthest with {worst} ({most:.2})."
        ),
        _ => String::new(),
    }
}
