//! SVG figures of a fit and of an evaluation.

use plotters::prelude::*;
use svn_models::recipe::Method;

use super::evaluate::Evaluation;
use super::kept::{Coverage, Kept};
use crate::engine::EpochPoint;
use crate::metrics::{Estimate, ReliabilityBin};
use crate::report::figure::{
    Area, Axis, Drawn, Line, Panel, Sheet, colours, draw_lines, reliability, sheet,
};
use crate::report::{Figure, ReportError};

const SIZE: (u32, u32) = (420, 320);

/// Of the validation rows, if there are any: the curve of training, and calibration.
///
/// # Errors
/// [`ReportError::Figure`].
pub(super) fn of_fit(kept: &Kept, method: Method) -> Result<Vec<Figure>, ReportError> {
    let mut figures = Vec::new();
    if kept.curve.iter().any(|at| at.validation_nll.is_some()) {
        figures.push(curve(&kept.curve, method)?);
    }
    figures.extend(calibration(&kept.coverage, &kept.reliability)?);
    Ok(figures)
}

/// Of an evaluation: calibration, and residuals against predictions.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn of_evaluation(evaluation: &Evaluation) -> Result<Vec<Figure>, ReportError> {
    let mut figures: Vec<Figure> = calibration(&evaluation.coverage, &evaluation.reliability)?
        .into_iter()
        .collect();
    if !evaluation.points.is_empty() {
        let name = "residuals.svg".to_owned();
        let panels = [&evaluation.points];
        figures.push(sheet(name, &panels, (1, SIZE), |_, points, area| {
            draw_residuals(area, points)
        })?);
    }
    Ok(figures)
}

fn calibration(
    intervals: &[Coverage],
    bins: &[ReliabilityBin],
) -> Result<Option<Figure>, ReportError> {
    if !bins.is_empty() {
        let colour = colours(&[Method::Svn])[0];
        let name = "reliability.svg".to_owned();
        return sheet(name, &[bins], (1, (SIZE.1, SIZE.1)), |_, bins, area| {
            reliability(area, "how often a class is right", bins, colour)
        })
        .map(Some);
    }
    if intervals.is_empty() {
        return Ok(None);
    }
    coverage(intervals).map(Some)
}

fn exact(value: f64) -> Estimate {
    Estimate {
        mean: value,
        se: None,
        n: 1,
    }
}

fn single(name: &str, panel: Panel) -> Result<Figure, ReportError> {
    let form = Sheet {
        columns: 1,
        size: SIZE,
    };
    draw_lines(name.to_owned(), &[panel], &form)
}

fn coverage(intervals: &[Coverage]) -> Result<Figure, ReportError> {
    let line = |label: &str, colour, of: &dyn Fn(&Coverage) -> f64| Line {
        label: label.to_owned(),
        colour,
        points: intervals
            .iter()
            .map(|at| (at.level, exact(of(at))))
            .collect(),
    };
    let panel = Panel {
        title: "how often an interval holds the target".to_owned(),
        x: Axis::Numbers("probability of the interval"),
        y: Some(0.0..1.05),
        lines: vec![
            line("perfect", RGBColor(140, 140, 140), &|at| at.level),
            line("found", colours(&[Method::Svn])[0], &|at| at.share),
        ],
    };
    single("coverage.svg", panel)
}

fn curve(points: &[EpochPoint], method: Method) -> Result<Figure, ReportError> {
    let points = points.iter();
    let points = points.filter_map(|at| Some((at.epoch as f64, exact(at.validation_nll?))));
    let panel = Panel {
        title: "validation NLL, nats a row".to_owned(),
        x: Axis::Whole("epoch"),
        y: None,
        lines: vec![Line {
            label: method.to_string(),
            colour: colours(&[method])[0],
            points: points.collect(),
        }],
    };
    single("curve.svg", panel)
}

/// Points that are drawn at most.
const POINTS: usize = 2000;

fn draw_residuals(area: &Area<'_>, points: &[[f64; 3]]) -> Drawn {
    let step = points.len().div_ceil(POINTS).max(1);
    let shown: Vec<(f64, f64)> = points
        .iter()
        .step_by(step)
        .map(|[mean, sd, y]| (*mean, (y - mean) / sd))
        .collect();
    let range = |values: &dyn Fn(&(f64, f64)) -> f64| {
        let ends = shown.iter().map(values);
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let margin = (0.05 * (high - low))
            .max(1e-9 * high.abs().max(low.abs()))
            .max(1e-12);
        low - margin..high + margin
    };
    let largest = shown.iter().fold(3.0, |a: f64, (_, z)| a.max(z.abs()));
    let mut chart = ChartBuilder::on(area)
        .caption("residuals in standard deviations", ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(56)
        .build_cartesian_2d(range(&|point| point.0), -1.05 * largest..1.05 * largest)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("predicted mean")
        .y_desc("(target − mean) / sd")
        .draw()?;
    let colour = colours(&[Method::Svn])[0];
    for line in [-1.645, 0.0, 1.645] {
        let ends = chart.x_range();
        let ends = [(ends.start, line), (ends.end, line)];
        chart.draw_series(LineSeries::new(ends, BLACK.mix(0.4)))?;
    }
    chart.draw_series(
        shown
            .iter()
            .map(|point| Circle::new(*point, 2, colour.mix(0.5).filled())),
    )?;
    Ok(())
}
