//! What each part of the method does to one data set: coupling, kernel, curvature, likelihood, number of members.

use super::super::sources::Found;
use super::super::{Panel, Run, Section, Sources, SurveyError};
use super::studied;
use crate::report::figure::{Axis, Line, Panel as Diagram, Sheet, colours, draw_lines};
use crate::report::{Grid, Row, dash, number, of_settings, with_error};
use crate::study::uci::UciPage;

const ID: &str = "ablation";

pub(super) const RUN: Run = Run {
    folder: "yacht-ablation",
    whole: "sweep docs/plans/yacht-ablation.toml",
    quick: &[
        "bench-uci --dataset yacht --method newton-ensemble,svn --untuned --folds 2 --epochs 15 --particles 2",
        "bench-uci --dataset yacht --method newton-ensemble,svn --untuned --folds 2 --epochs 15 --particles 5",
        "bench-uci --dataset yacht --method newton-ensemble,svn --untuned --folds 2 --epochs 15 --particles 10",
        "bench-uci --dataset yacht --method svn --untuned --folds 2 --epochs 15 --coupling block-diagonal",
        "bench-uci --dataset yacht --method svn --untuned --folds 2 --epochs 15 --metric identity",
        "bench-uci --dataset yacht --method svn --untuned --folds 2 --epochs 15 --hessian diag",
        "bench-uci --dataset yacht --method svn --untuned --folds 2 --epochs 15 --likelihood student-t",
    ],
};

/// What a row says of its settings, in this order, where any of them differ.
const SETTINGS: [&str; 8] = [
    "coupling",
    "kernel",
    "metric",
    "hessian",
    "likelihood",
    "noise",
    "particles",
    "bandwidth",
];

const SHEET: Sheet = Sheet {
    columns: 2,
    size: (460, 340),
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "What each part does",
        intro: "Couplings by metrics of the kernel, curvatures by likelihoods, and two to fifty members, on yacht, with 15 epochs and the methods' \
                defaults otherwise. `newton-ensemble` is the same without a kernel: what a kernel does is the distance from it.",
        panels: studied::<UciPage>(sources, &RUN, panels)?,
    })
}

fn panels(found: &Found<UciPage>) -> Result<Vec<Panel>, SurveyError> {
    let mut rows: Vec<&Row<UciPage>> = found.summary.results.iter().collect();
    rows.sort_by(|a, b| nll(a).total_cmp(&nll(b)));
    let source = &found.source;
    let says = "The least NLL first, mean over folds ± standard error; `repulsion` is its norm over that of the drive.";
    let mut panels = vec![Panel::table(table(&rows), says, source)];
    let sizes = sizes(&rows);
    if !sizes.is_empty() {
        let figure = draw_lines("particles.svg".to_owned(), &sizes, &SHEET)?;
        let title = "How many members";
        let says = "Test NLL and RMSE by the number of members (logarithmic), mean over folds ± standard error.";
        panels.push(Panel::figure(ID, figure, (title, says), source));
    }
    Ok(panels)
}

fn nll(row: &Row<UciPage>) -> f64 {
    row.metric("nll").map_or(f64::INFINITY, |nll| nll.mean)
}

fn setting(row: &Row<UciPage>, name: &str) -> Option<String> {
    let settings = of_settings(&row.settings).into_iter();
    let mut found = settings.filter(|(key, _)| key == name);
    found.next().map(|(_, value)| value)
}

fn table(rows: &[&Row<UciPage>]) -> Grid {
    let differs = |name: &&&str| {
        let mut values: Vec<_> = rows.iter().map(|row| setting(row, name)).collect();
        values.sort();
        values.dedup();
        values.len() > 1
    };
    let shown: Vec<&str> = SETTINGS.iter().filter(differs).copied().collect();
    let header = [
        &["method"],
        shown.as_slice(),
        &["nll", "rmse", "coverage90", "repulsion", "s of the fit"],
    ]
    .concat();
    let lines = rows.iter().map(|row| {
        let settings = shown
            .iter()
            .map(|name| setting(row, name).unwrap_or_else(dash));
        let metrics = ["nll", "rmse", "coverage90"].map(|key| with_error(row.metric(key)));
        let share = row.kernel.as_ref();
        let share = share.map_or_else(dash, |kernel| {
            format!("{:.2} %", 100.0 * kernel.repulsion.mean)
        });
        [row.method.to_string()]
            .into_iter()
            .chain(settings)
            .chain(metrics)
            .chain([share, row.cost.fit_s.map_or_else(dash, number)])
            .collect()
    });
    Grid::new(
        "Combinations",
        header.into_iter().map(str::to_owned).collect(),
        lines.collect(),
    )
}

/// NLL and RMSE by the number of members, a line a method, of rows that differ in method and members alone.
fn sizes(rows: &[&Row<UciPage>]) -> Vec<Diagram> {
    let members = |row: &Row<UciPage>| row.settings.particles.unwrap_or(0);
    // What all but method and members of a row is, as text.
    let rest = |row: &Row<UciPage>| {
        let settings = of_settings(&row.settings).into_iter();
        let settings = settings.filter(|(key, _)| key != "particles");
        (row.method, format!("{:?}", settings.collect::<Vec<_>>()))
    };
    let mut groups: Vec<(_, Vec<&Row<UciPage>>)> = Vec::new();
    for row in rows {
        let key = rest(row);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups.retain(|(_, group)| group.len() > 2);
    groups.sort_by_key(|(key, _)| key.0);
    let methods: Vec<_> = groups.iter().map(|(key, _)| key.0).collect();
    let metrics = ["nll", "rmse"].into_iter().filter(|_| !groups.is_empty());
    let diagrams = metrics.map(|metric| Diagram {
        title: format!("yacht: test {}", metric.to_uppercase()),
        x: Axis::Decades("members"),
        y: None,
        lines: groups
            .iter()
            .zip(colours(&methods))
            .map(|((key, group), colour)| {
                let point = |row: &&Row<UciPage>| {
                    Some(((members(row) as f64).log10(), row.metric(metric)?))
                };
                let mut points: Vec<_> = group.iter().filter_map(point).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                Line {
                    label: key.0.to_string(),
                    colour,
                    points,
                }
            })
            .collect(),
    });
    diagrams.collect()
}
