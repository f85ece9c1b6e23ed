//! Predicted intervals beside what it was, of rows of similar predictions.

use plotters::prelude::*;

use super::{Area, Drawn, Figure, ReportError, sheet};
use crate::metrics::IntervalBin;

/// One method.
#[derive(Debug, Clone)]
pub struct Intervals {
    /// Above it.
    pub title: String,
    /// Its colour.
    pub colour: RGBColor,
    /// By ascending prediction.
    pub bins: Vec<IntervalBin>,
}

/// A panel a method, on one scale: along the bottom the predicted median of a bin; the bands are the predicted intervals of 50 and 90 %,
/// dots and bars the median and the same intervals of what it was.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn draw_intervals(
    name: String,
    panels: &[Intervals],
    unit: &str,
) -> Result<Figure, ReportError> {
    let bins = panels.iter().flat_map(|panel| &panel.bins);
    let most = bins
        .map(|bin| bin.predicted[4].max(bin.observed[4]))
        .fold(1.0, f64::max);
    sheet(name, panels, (3, (380, 320)), |_, panel, area| {
        draw(area, panel, unit, most)
    })
}

fn draw(area: &Area<'_>, panel: &Intervals, unit: &str, most: f64) -> Drawn {
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
        .build_cartesian_2d(x, 0.0..most * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(format!("predicted median, {unit}"))
        .y_desc(unit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_has_two_bands_and_three_marks_a_bin() {
        let bin = |median: f64| IntervalBin {
            predicted: [-20.0, -8.0, 0.0, 8.0, 20.0].map(|d| median + d),
            observed: [-18.0, -7.0, 1.0, 9.0, 22.0].map(|d| median + d),
        };
        let panel = |bins: Vec<IntervalBin>| Intervals {
            title: "svn".to_owned(),
            colour: BLUE,
            bins,
        };
        let drawn = |panels: &[Intervals]| draw_intervals("x.svg".to_owned(), panels, "hours");
        let svg = drawn(&[panel(vec![bin(60.0), bin(80.0), bin(120.0)])])
            .unwrap()
            .svg;
        assert_eq!(
            (
                svg.matches("<polygon").count(),
                svg.matches("<circle").count()
            ),
            (2, 3)
        );
        assert!(svg.contains("predicted median, hours"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let empty = drawn(&[panel(Vec::new())]).unwrap().svg;
        assert_eq!(empty.matches("<circle").count(), 0);
    }
}
