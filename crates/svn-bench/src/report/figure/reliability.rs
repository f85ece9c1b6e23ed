//! Reliability diagram: accuracy by confidence, beside the diagonal of perfect calibration.

use plotters::prelude::*;

use super::{Area, Drawn};
use crate::metrics::{ECE_BINS, ReliabilityBin};

/// Bars of the accuracy in each bin of confidence, pale ones of the share of rows in it, and a point at the mean confidence.
///
/// # Errors
/// What the drawing says.
pub fn reliability(
    area: &Area<'_>,
    title: &str,
    bins: &[ReliabilityBin],
    colour: RGBColor,
) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 14))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(40)
        .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(6)
        .y_labels(6)
        .x_desc("confidence")
        .y_desc("accuracy")
        .draw()?;
    let total: usize = bins.iter().map(|bin| bin.rows).sum();
    let edge = |bin: usize| bin as f64 / ECE_BINS as f64;
    let filled = || bins.iter().enumerate().filter(|(_, bin)| bin.rows > 0);
    // Pale bars: the share of rows in each bin.
    chart.draw_series(filled().map(|(index, bin)| {
        let share = bin.rows as f64 / total.max(1) as f64;
        Rectangle::new(
            [(edge(index), 0.0), (edge(index + 1), share)],
            BLACK.mix(0.15).filled(),
        )
    }))?;
    chart.draw_series(filled().map(|(index, bin)| {
        let corners = [(edge(index), 0.0), (edge(index + 1), bin.accuracy)];
        Rectangle::new(corners, colour.mix(0.35).filled())
    }))?;
    chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], BLACK.mix(0.6)))?;
    let means = filled().map(|(_, bin)| (bin.confidence, bin.accuracy));
    chart.draw_series(means.map(|point| Circle::new(point, 3, colour.filled())))?;
    Ok(())
}
