//! The tables of the UCI sets, ranks, and NLL against epochs and seconds.

use super::super::sources::Found;
use super::super::{Panel, Run, Section, Sources, SurveyError};
use super::pivot::Pivot;
use super::studied;
use crate::data::Task;
use crate::report::figure::{self, By, Sheet, by_design, draw_lines};
use crate::report::{self, Row};
use crate::study::uci::UciPage;

const ID: &str = "uci";

pub(super) const RUN: Run = Run {
    folder: ID,
    whole: "bench-uci --all --seed 0",
    quick: &[
        "bench-uci --dataset yacht,energy,wine --method ensemble,wgd,svgd,newton-ensemble,svn,linear --folds 2 --epochs 20",
    ],
};

/// Whose first epochs are shown, as in the paper.
const SHOWN: [&str; 3] = ["yacht", "energy", "wine"];

/// How many of them.
const FIRST: usize = 20;

const SHEET: Sheet = Sheet {
    columns: 3,
    size: (400, 320),
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "UCI data sets",
        intro: "Test NLL in nats a row, original units, noise and ½ ln 2π included, of the mixture of the members; means over the folds of a \
                cross-validation ± standard error. The least mean of each row has a star, which says nothing about whether it is beyond the error: the \
                paired differences do.",
        panels: studied::<UciPage>(sources, &RUN, panels)?,
    })
}

fn panels(found: &Found<UciPage>) -> Result<Vec<Panel>, SurveyError> {
    let (rows, source) = (&found.summary.results, &found.source);
    let mut panels = Vec::new();
    for (task, name) in [
        (Task::Regression, "regression"),
        (Task::Classification, "classification"),
    ] {
        let of_task: Vec<&Row<UciPage>> = rows.iter().filter(|row| row.task == task).collect();
        if of_task.is_empty() {
            continue;
        }
        let pivot = Pivot::new(&of_task, "nll");
        let says = "Lower is better.";
        panels.push(Panel::table(
            pivot.table(&format!("Test NLL, {name}")),
            says,
            source,
        ));
        let says = "Rank 1 is the least mean NLL of a data set; over the data sets that all methods were run on.";
        let ranks = pivot.ranks(&format!("Ranks, {name}"));
        panels.extend((!ranks.rows.is_empty()).then(|| Panel::table(ranks, says, source)));
        let versus = report::beside_baselines(name, task, &of_task);
        let says = "Newton methods less the baselines, fold by fold; below zero the Newton method is better.";
        panels.extend((!versus.rows.is_empty()).then(|| Panel::table(versus, says, source)));
    }
    panels.extend(curves(found)?);
    let literature = report::beside_literature(rows);
    let says = "The best cells of the wider literature are of other splits: they say what is possible, not who wins.";
    panels.extend((!literature.rows.is_empty()).then(|| Panel::table(literature, says, source)));
    let says = "What each fit took on the machine of the records.";
    panels.push(Panel::table(report::cost(rows), says, source));
    Ok(panels)
}

/// The first epochs of three sets, by epoch and by second.
fn curves(found: &Found<UciPage>) -> Result<Vec<Panel>, SurveyError> {
    let families = by_design(&found.summary.results);
    let shown = |set: &&str| {
        families
            .iter()
            .find(|family| family.rows[0].dataset == **set)
    };
    let shown: Vec<_> = SHOWN.iter().filter_map(shown).collect();
    let mut panels = Vec::new();
    for (by, title, says) in [
        (
            By::Epochs,
            "Validation NLL by epoch",
            "The first 20 epochs, mean over folds ± standard error of the folds. An epoch of a Newton method costs many times one of a first-order method.",
        ),
        (
            By::Seconds,
            "Validation NLL by second",
            "The same epochs against seconds of training (logarithmic): where a Newton method starts later it still has to catch up.",
        ),
    ] {
        let drawn = shown.iter();
        let drawn: Vec<_> = drawn
            .filter_map(|family| figure::curve(family, &found.records, by, FIRST))
            .collect();
        if drawn.is_empty() {
            continue;
        }
        let figure = draw_lines(format!("{}.svg", by.name()), &drawn, &SHEET)?;
        panels.push(Panel::figure(ID, figure, (title, says), &found.source));
    }
    Ok(panels)
}
