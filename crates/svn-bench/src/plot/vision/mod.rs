//! Figures of image experiments: reliability, quality by number of images, quality under corruption.

mod lines;
mod reliability;

use std::path::Path;

use plotters::chart::SeriesLabelPosition;
use plotters::style::RGBColor;

use super::PALETTE;
use crate::data::images::Corruption;
use crate::experiment::Method;
use crate::metrics::Estimate;
use crate::record::write_atomically;
use crate::report::ReportError;
use crate::report::vision::{VisionRow, VisionSummary};
use lines::{Axis, Line, Panel};

/// Draw all figures of a report into a folder and give their file names back: for each image set
/// `low-data-SET.svg` if there are several sizes, and for each of its sizes `reliability-SET-SIZE.svg` and, if corrupted
/// images were measured, `corruption-SET-SIZE.svg`.
///
/// # Errors
/// [`ReportError::Figure`], [`ReportError::Write`].
pub fn figures(folder: &Path, summary: &VisionSummary) -> Result<Vec<String>, ReportError> {
    let mut figures = Vec::new();
    let mut keep = |name: String, svg: Result<String, String>| -> Result<(), ReportError> {
        let path = folder.join(&name);
        let svg = svg.map_err(|message| ReportError::Figure {
            path: path.clone(),
            message,
        })?;
        write_atomically(&path, svg.as_bytes())?;
        figures.push(name);
        Ok(())
    };
    for set in groups(summary.results.iter().collect(), |row| {
        (row.dataset.clone(), row.split, row.limits.test)
    }) {
        let first = &set[0];
        let mut set_name = first.dataset.clone();
        // Two splits or test parts of one set are two families of figures.
        if summary
            .results
            .iter()
            .any(|row| row.dataset == first.dataset && row.split != first.split)
        {
            set_name = format!("{set_name}-{}", first.split.name());
        }
        if let Some(limit) = first.limits.test
            && summary
                .results
                .iter()
                .any(|row| row.dataset == first.dataset && row.limits.test != Some(limit))
        {
            set_name = format!("{set_name}-test{limit}");
        }
        let sizes = groups(set.clone(), |row| row.limits.learning);
        if sizes.len() > 1 {
            keep(
                format!("low-data-{set_name}.svg"),
                lines::draw(&low_data(&set, &sizes), 3, SeriesLabelPosition::LowerRight),
            )?;
        }
        for size in &sizes {
            let name = format!("{set_name}-{}", size[0].size());
            keep(format!("reliability-{name}.svg"), reliability::draw(size))?;
            let panels = corruption(size);
            if !panels.is_empty() {
                keep(
                    format!("corruption-{name}.svg"),
                    lines::draw(&panels, 3, SeriesLabelPosition::UpperRight),
                )?;
            }
        }
    }
    Ok(figures)
}

/// Rows that agree in a key, in the order of their first one.
fn groups<K: PartialEq>(
    rows: Vec<&VisionRow>,
    key: impl Fn(&VisionRow) -> K,
) -> Vec<Vec<&VisionRow>> {
    let mut groups: Vec<Vec<&VisionRow>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| key(group[0]) == key(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// Label and colour of each row: a method has one colour, further configurations of it take those that are left.
fn looks(rows: &[&VisionRow]) -> Vec<(String, RGBColor)> {
    let labels: Vec<String> = rows.iter().map(|row| row.label()).collect();
    rows.iter()
        .enumerate()
        .map(|(index, row)| {
            let mut label = labels[index].clone();
            if labels.iter().filter(|other| **other == label).count() > 1 {
                label = format!("{label} {}", row.config.get(..6).unwrap_or_default());
            }
            let earlier = rows[..index]
                .iter()
                .filter(|other| other.method == row.method)
                .count();
            let own = Method::ALL
                .iter()
                .position(|&method| method == row.method)
                .unwrap_or(0);
            (label, PALETTE[(own + 3 * earlier) % PALETTE.len()])
        })
        .collect()
}

/// The three metrics of the studies, with their axis.
const SHOWN: [(&str, &str); 3] = [("accuracy", "accuracy"), ("nll", "NLL"), ("ece", "ECE")];

/// Accuracy, NLL and ECE by number of images.
fn low_data(set: &[&VisionRow], sizes: &[Vec<&VisionRow>]) -> Vec<Panel> {
    let names: Vec<String> = sizes.iter().map(|size| size[0].size()).collect();
    let methods = groups(set.to_vec(), |row| row.label());
    let firsts: Vec<&VisionRow> = methods.iter().map(|rows| rows[0]).collect();
    let panel = |(key, title): &(&str, &str)| Panel {
        title: format!("{}: {title}", set[0].dataset),
        x: Axis::Names("images for training and validation", names.clone()),
        lines: methods
            .iter()
            .zip(looks(&firsts))
            .map(|(rows, (label, colour))| {
                let at = |row: &&VisionRow| names.iter().position(|name| *name == row.size());
                let points = rows
                    .iter()
                    .filter_map(|row| Some((at(row)? as f64, row.metric(key)?)));
                Line {
                    label,
                    colour,
                    points: points.collect(),
                }
            })
            .collect(),
    };
    SHOWN.iter().map(panel).collect()
}

/// Accuracy, NLL and ECE by level of each corruption.
fn corruption(rows: &[&VisionRow]) -> Vec<Panel> {
    let looks = looks(rows);
    let mut panels = Vec::new();
    for (kind, unit) in [
        (Corruption::Rotation, "degrees"),
        (Corruption::Noise, "standard deviation of the noise"),
    ] {
        for (key, title) in SHOWN {
            let line = |(row, (label, colour)): (&&VisionRow, &(String, RGBColor))| {
                let points = row.corruption.iter().filter(|point| point.kind == kind);
                let value = |point: &crate::report::vision::CorruptionMean| -> Option<Estimate> {
                    match key {
                        "accuracy" => point.accuracy,
                        "nll" => point.nll,
                        _ => point.ece,
                    }
                };
                Line {
                    label: label.clone(),
                    colour: *colour,
                    points: points
                        .filter_map(|point| Some((point.level, value(point)?)))
                        .collect(),
                }
            };
            let lines: Vec<Line> = rows.iter().zip(&looks).map(line).collect();
            if lines.iter().any(|line| !line.points.is_empty()) {
                panels.push(Panel {
                    title: format!("{}, {}: {title}", rows[0].dataset, kind.name()),
                    x: Axis::Numbers(unit),
                    lines,
                });
            }
        }
    }
    panels
}

#[cfg(test)]
#[path = "vision_tests.rs"]
mod tests;
