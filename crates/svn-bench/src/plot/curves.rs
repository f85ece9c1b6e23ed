//! Validation NLL by epoch, mean over folds, a line a method.

use std::collections::BTreeMap;

use plotters::prelude::*;

use super::{Look, axis, looks};
use crate::record::{Record, quantile};
use crate::report::Summary;

/// A result and its points (epoch, mean over folds).
pub(super) type Curve = (Look, Vec<(f64, f64)>);

/// Curves of each data set that has any, in the order of the summary.
pub(super) fn by_dataset(summary: &Summary, records: &[Record]) -> Vec<(String, Vec<Curve>)> {
    let mut all: Vec<(String, Vec<Curve>)> = Vec::new();
    for row in &summary.results {
        if all.iter().any(|(dataset, _)| *dataset == row.dataset) {
            continue;
        }
        let curves: Vec<Curve> = looks(summary, &row.dataset)
            .into_iter()
            .map(|look| {
                let points =
                    mean_curve(records.iter().filter(|record| record.config == look.config));
                (look, points)
            })
            .filter(|(_, points)| !points.is_empty())
            .collect();
        if !curves.is_empty() {
            all.push((row.dataset.clone(), curves));
        }
    }
    all
}

/// Mean over the folds that still run at an epoch and have a finite value there.
fn mean_curve<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<(f64, f64)> {
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for point in records.flat_map(|record| &record.curve) {
        if let Some(value) = point.validation_nll {
            let (sum, count) = sums.entry(point.epoch).or_default();
            *sum += value;
            *count += 1.0;
        }
    }
    sums.into_iter()
        .map(|(epoch, (sum, count))| (epoch as f64, sum / count))
        .collect()
}

pub(super) fn draw(dataset: &str, curves: &[Curve]) -> Result<String, String> {
    let mut svg = String::new();
    draw_into(&mut svg, dataset, curves).map_err(|e| e.to_string())?;
    Ok(svg)
}

fn draw_into(
    svg: &mut String,
    dataset: &str,
    curves: &[Curve],
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let root = SVGBackend::with_string(svg, (640, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    let epochs = axis::padded(
        curves
            .iter()
            .flat_map(|(_, points)| points.iter().map(|point| point.0)),
    );
    let range = visible(curves);
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!("{dataset}: validation NLL by epoch"),
            ("sans-serif", 16),
        )
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(64)
        .build_cartesian_2d(epochs, range.clone())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&whole)
        .x_desc("epoch")
        .y_desc("validation NLL")
        .draw()?;
    for (look, points) in curves {
        let style = look.colour.stroke_width(2);
        // What lies above the figure is drawn along its upper edge.
        let line = points
            .iter()
            .map(|&(epoch, value)| (epoch, value.min(range.end)));
        chart
            .draw_series(LineSeries::new(line, style))?
            .label(&look.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.4))
        .draw()?;
    drop(chart);
    root.present()
}

/// Whole epochs only.
fn whole(epoch: &f64) -> String {
    if epoch.fract() == 0.0 {
        epoch.to_string()
    } else {
        String::new()
    }
}

/// From the least value to the 90 % quantile: the first epochs can be far above everything that matters.
fn visible(curves: &[Curve]) -> std::ops::Range<f64> {
    let mut values: Vec<f64> = curves
        .iter()
        .flat_map(|(_, points)| points.iter().map(|point| point.1))
        .collect();
    values.sort_by(f64::total_cmp);
    let high = quantile(&values, 0.9).unwrap_or(1.0);
    axis::padded(values.iter().map(|value| value.min(high)))
}
