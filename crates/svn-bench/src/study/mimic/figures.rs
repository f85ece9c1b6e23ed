//! Predicted intervals beside the lengths of stay of the same patients.

use plotters::prelude::*;

use super::{IntervalBin, MimicPage};
use crate::report::figure::{Area, Drawn, by_design, colours, sheet};
use crate::report::{Figure, ReportError, Row};

/// A method's bins.
struct Panel {
    title: String,
    colour: RGBColor,
    bins: Vec<IntervalBin>,
    /// The largest number that is shown.
    most: f64,
}

/// `intervals-NAME.svg` a design: along the bottom the predicted median of a bin of patients; the bands are the predicted intervals
/// of 50 and 90 %, dots and bars the median and the same intervals of what it was.
pub(super) fn intervals(rows: &[Row<MimicPage>]) -> Result<Vec<Figure>, ReportError> {
    let mut figures = Vec::new();
    for family in by_design(rows) {
        let methods: Vec<_> = family.rows.iter().map(|row| row.method).collect();
        let bins = family.rows.iter().flat_map(|row| &row.extra.intervals);
        let most = bins
            .map(|bin| bin.predicted[4].max(bin.observed[4]))
            .fold(1.0, f64::max);
        let panel = |(row, colour): (&&Row<MimicPage>, RGBColor)| Panel {
            title: row.label.clone(),
            colour,
            bins: row.extra.intervals.clone(),
            most,
        };
        let panels: Vec<Panel> = family
            .rows
            .iter()
            .zip(colours(&methods))
            .map(panel)
            .collect();
        if panels.iter().any(|panel| !panel.bins.is_empty()) {
            let name = format!("intervals-{}.svg", family.name);
            figures.push(sheet(name, &panels, (3, (380, 320)), |_, panel, area| {
                draw(area, panel)
            })?);
        }
    }
    Ok(figures)
}

fn draw(area: &Area<'_>, panel: &Panel) -> Drawn {
    let medians = || panel.bins.iter().map(|bin| bin.predicted[2]);
    let (low, high) = (
        medians().fold(f64::MAX, f64::min),
        medians().fold(0.0, f64::max),
    );
    let margin = 1.0 + 0.05 * (high - low).max(0.0);
    let x = if panel.bins.is_empty() {
        0.0..1.0
    } else {
        low - margin..high + margin
    };
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(48)
        .build_cartesian_2d(x, 0.0..panel.most * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("predicted median, hours")
        .y_desc("hours")
        .x_labels(6)
        .y_labels(6)
        .draw()?;
    for (lower, upper) in [(0, 4), (1, 3)] {
        let end = |level: usize| {
            let points = panel
                .bins
                .iter()
                .map(move |bin| (bin.predicted[2], bin.predicted[level]));
            points.collect::<Vec<_>>()
        };
        let outline = end(upper).into_iter().chain(end(lower).into_iter().rev());
        chart.draw_series([Polygon::new(
            outline.collect::<Vec<_>>(),
            panel.colour.mix(0.25),
        )])?;
    }
    let diagonal = medians().map(|median| (median, median));
    chart.draw_series(LineSeries::new(diagonal, panel.colour.stroke_width(2)))?;
    for (lower, upper, width) in [(0, 4, 1), (1, 3, 3)] {
        chart.draw_series(panel.bins.iter().map(|bin| {
            let ends = [lower, upper].map(|level| (bin.predicted[2], bin.observed[level]));
            PathElement::new(ends.to_vec(), BLACK.mix(0.7).stroke_width(width))
        }))?;
    }
    let dots = panel
        .bins
        .iter()
        .map(|bin| (bin.predicted[2], bin.observed[2]));
    chart.draw_series(dots.map(|place| Circle::new(place, 3, BLACK.filled())))?;
    Ok(())
}
