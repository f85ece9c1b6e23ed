//! Figures of image experiments: reliability, quality by number of images, quality under corruption.

use plotters::style::RGBColor;

use super::page::SHOWN;
use super::{VisionPage, reliability};
use crate::data::images::Corruption;
use crate::report::figure::{
    Axis, Family, Line, Panel, Sheet, by_design, colours, draw_lines, families,
};
use crate::report::{Figure, ReportError, Row};

const SHEET: Sheet = Sheet {
    columns: 3,
    size: (380, 300),
};

/// For each image set `low-data-SET.svg` if there are several sizes, and for each of its sizes `reliability-SET-SIZE.svg` and,
/// if corrupted images were measured, `corruption-SET-SIZE.svg`.
pub(super) fn draw(rows: &[Row<VisionPage>]) -> Result<Vec<Figure>, ReportError> {
    let mut figures = Vec::new();
    let sets = families(rows, |row| {
        let mut design = row.design.clone();
        design.limits.learning = None;
        (row.dataset.clone(), design)
    });
    for set in sets {
        let mut sizes: Vec<String> = set.rows.iter().map(|row| row.design.size()).collect();
        sizes.dedup();
        if sizes.len() > 1 {
            let panels = low_data(&set, &sizes);
            figures.push(draw_lines(
                format!("low-data-{}.svg", set.name),
                &panels,
                &SHEET,
            )?);
        }
    }
    for size in by_design(rows) {
        figures.push(reliability::draw(&size)?);
        let panels = corruption(&size);
        if !panels.is_empty() {
            figures.push(draw_lines(
                format!("corruption-{}.svg", size.name),
                &panels,
                &SHEET,
            )?);
        }
    }
    Ok(figures)
}

/// Label, colour and row of each result.
pub(super) fn looks<'a>(
    rows: &[&'a Row<VisionPage>],
) -> impl Iterator<Item = (&'a Row<VisionPage>, RGBColor)> {
    let methods: Vec<_> = rows.iter().map(|row| row.method).collect();
    rows.iter().copied().zip(colours(&methods))
}

/// Accuracy, NLL and ECE by number of images.
fn low_data(set: &Family<'_, VisionPage>, sizes: &[String]) -> Vec<Panel> {
    // The first row of each label.
    let mut firsts: Vec<&Row<VisionPage>> = Vec::new();
    for row in &set.rows {
        if firsts.iter().all(|first| first.label != row.label) {
            firsts.push(row);
        }
    }
    let place = |row: &Row<VisionPage>| {
        let size = row.design.size();
        sizes.iter().position(|other| *other == size)
    };
    let line = |key: &str, first: &Row<VisionPage>, colour| {
        let rows = set.rows.iter().filter(|row| row.label == first.label);
        let points = rows.filter_map(|row| Some((place(row)? as f64, row.metric(key)?)));
        Line {
            label: first.label.clone(),
            colour,
            points: points.collect(),
        }
    };
    let panel = |(key, title): (&str, &str)| Panel {
        title: format!("{}: {title}", set.name),
        x: Axis::Names("images for training and validation", sizes.to_vec()),
        y: None,
        lines: looks(&firsts)
            .map(|(first, colour)| line(key, first, colour))
            .collect(),
    };
    SHOWN.map(panel).to_vec()
}

/// Accuracy, NLL and ECE by level of each corruption.
fn corruption(size: &Family<'_, VisionPage>) -> Vec<Panel> {
    let mut panels = Vec::new();
    for (kind, unit) in [
        (Corruption::Rotation, "degrees"),
        (Corruption::Noise, "standard deviation of the noise"),
    ] {
        for (key, title) in SHOWN {
            let line = |(row, colour): (&Row<VisionPage>, RGBColor)| {
                let points = row.extra.corruption.iter();
                let points = points.filter(|point| point.kind == kind);
                Line {
                    label: row.label.clone(),
                    colour,
                    points: points
                        .filter_map(|point| Some((point.level, point.metric(key)?)))
                        .collect(),
                }
            };
            panels.push(Panel {
                title: format!("{}, {}: {title}", size.name, kind.name()),
                x: Axis::Numbers(unit),
                y: None,
                lines: looks(&size.rows).map(line).collect(),
            });
        }
    }
    panels.retain(|panel| panel.lines.iter().any(|line| !line.points.is_empty()));
    panels
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
