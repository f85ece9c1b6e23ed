//! One panel a data set: test NLL of each method, mean ± standard error.

use plotters::prelude::*;

use super::{Look, axis, looks};
use crate::metrics::Estimate;
use crate::report::Summary;

/// A data set and its results by label.
pub(super) struct Panel {
    dataset: String,
    points: Vec<(Look, Estimate)>,
}

pub(super) fn panels(summary: &Summary) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for row in &summary.results {
        if panels.iter().any(|panel| panel.dataset == row.dataset) {
            continue;
        }
        let points: Vec<_> = looks(summary, &row.dataset)
            .into_iter()
            .filter_map(|look| {
                let result = summary
                    .results
                    .iter()
                    .find(|other| other.config == look.config)?;
                let nll = result.metrics.get("nll").copied().flatten()?;
                Some((look, nll))
            })
            .collect();
        if !points.is_empty() {
            panels.push(Panel {
                dataset: row.dataset.clone(),
                points,
            });
        }
    }
    panels
}

const PANEL: (u32, u32) = (300, 240);

pub(super) fn draw(panels: &[Panel]) -> Result<String, String> {
    let columns = panels.len().clamp(1, 4);
    let rows = panels.len().div_ceil(columns);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(|e| e.to_string())?;
        for (area, panel) in root.split_evenly((rows, columns)).iter().zip(panels) {
            draw_panel(area, panel).map_err(|e| e.to_string())?;
        }
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type DrawError = DrawingAreaErrorKind<std::io::Error>;

fn draw_panel(area: &Area<'_>, panel: &Panel) -> Result<(), DrawError> {
    let ends = |estimate: &Estimate| {
        let se = estimate.se.unwrap_or(0.0);
        [estimate.mean - se, estimate.mean + se]
    };
    let range = axis::padded(panel.points.iter().flat_map(|(_, estimate)| ends(estimate)));
    let count = panel.points.len();
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.dataset, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(26)
        .y_label_area_size(48)
        .build_cartesian_2d(-0.5..count as f64 - 0.5, range)?;
    let name = |x: &f64| {
        let index = x.round();
        let near = (x - index).abs() < 1e-6 && index >= 0.0;
        panel
            .points
            .get(index as usize)
            .filter(|_| near)
            .map_or_else(String::new, |point| point.0.label.clone())
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(2 * count + 1)
        .x_label_formatter(&name)
        .y_labels(5)
        .y_desc("test NLL")
        .draw()?;
    for (index, (look, estimate)) in panel.points.iter().enumerate() {
        let (x, [low, high], style) = (index as f64, ends(estimate), look.colour.stroke_width(2));
        chart.draw_series([ErrorBar::new_vertical(
            x,
            low,
            estimate.mean,
            high,
            style.filled(),
            10,
        )])?;
    }
    Ok(())
}
