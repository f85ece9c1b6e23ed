//! Panels of lines with error bars: mean ± standard error.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::metrics::Estimate;
use crate::plot::axis;

/// What runs along the bottom.
pub(super) enum Axis {
    /// Numbers, with what they are.
    Numbers(&'static str),
    /// Names of the places 0, 1, 2, …, with what they are.
    Names(&'static str, Vec<String>),
}

/// A line and its points.
pub(super) struct Line {
    pub label: String,
    pub colour: RGBColor,
    pub points: Vec<(f64, Estimate)>,
}

/// One diagram.
pub(super) struct Panel {
    pub title: String,
    pub x: Axis,
    pub lines: Vec<Line>,
}

const PANEL: (u32, u32) = (380, 300);

/// Panels row by row, the legend in this corner of the first one.
pub(super) fn draw(
    panels: &[Panel],
    columns: usize,
    corner: SeriesLabelPosition,
) -> Result<String, String> {
    let rows = panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(|e| e.to_string())?;
        let areas = root.split_evenly((rows, columns));
        for (index, (area, panel)) in areas.iter().zip(panels).enumerate() {
            draw_panel(area, panel, Some(corner.clone()).filter(|_| index == 0))
                .map_err(|e| e.to_string())?;
        }
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(svg)
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &Panel,
    legend: Option<SeriesLabelPosition>,
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let ends = |estimate: &Estimate| {
        let se = estimate.se.unwrap_or(0.0);
        [estimate.mean - se, estimate.mean + se]
    };
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let y = axis::padded(points().flat_map(|(_, estimate)| ends(estimate)));
    let (x, title) = match &panel.x {
        Axis::Numbers(title) => (axis::padded(points().map(|point| point.0)), title),
        Axis::Names(title, names) => (-0.3..names.len() as f64 - 0.7, title),
    };
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d(x, y)?;
    let shown = |value: &f64| match &panel.x {
        Axis::Numbers(_) => format!("{}", (value * 1e6).round() / 1e6),
        Axis::Names(_, names) => {
            let near = (value - value.round()).abs() < 1e-6 && *value >= 0.0;
            let name = names.get(value.round() as usize).filter(|_| near);
            name.cloned().unwrap_or_default()
        }
    };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&shown)
        .x_desc(*title)
        .y_labels(6)
        .draw()?;
    for line in &panel.lines {
        let style = line.colour.stroke_width(2);
        let means = line.points.iter().map(|(x, estimate)| (*x, estimate.mean));
        chart
            .draw_series(LineSeries::new(means, style))?
            .label(&line.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        chart.draw_series(line.points.iter().map(|(x, estimate)| {
            let [low, high] = ends(estimate);
            ErrorBar::new_vertical(*x, low, estimate.mean, high, line.colour.filled(), 6)
        }))?;
    }
    if let Some(corner) = legend {
        chart
            .configure_series_labels()
            .position(corner)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.4))
            .draw()?;
    }
    Ok(())
}
