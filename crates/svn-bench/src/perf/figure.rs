//! SVG figures of the growth: time of a step, and memory, on logarithmic axes.

use std::path::Path;

use plotters::prelude::*;

use super::error::PerfError;
use super::scaling::{Scaling, Series};
use super::statistics::Fit;
use crate::plot::PALETTE;
use crate::record::write_atomically;

/// An axis, its title, and whether memory is shown beside time.
const FIGURES: [(&str, &str, bool); 4] = [
    ("particles", "particles N", true),
    ("dimension", "dimension d", true),
    ("rows", "batch × outputs", true),
    ("crossover", "curvature rows R of a particle", false),
];

/// A line of a panel: label with exponent, and points.
type Line = (String, Vec<(f64, f64)>);

/// Write `performance-AXIS.svg` for every axis into a folder, which is made where it is missing.
///
/// # Errors
/// [`PerfError::Figure`], [`PerfError::File`].
pub(super) fn write(folder: &Path, scaling: &Scaling) -> Result<Vec<String>, PerfError> {
    let file = |path: &Path, error: &dyn std::fmt::Display| PerfError::File {
        path: path.to_owned(),
        message: error.to_string(),
    };
    std::fs::create_dir_all(folder).map_err(|error| file(folder, &error))?;
    let mut names = Vec::new();
    for (axis, title, has_memory) in FIGURES {
        let series: Vec<&Series> = scaling
            .series
            .iter()
            .filter(|line| line.axis == axis)
            .collect();
        let mut panels = vec![(
            "ms a step",
            lines(&series, |line| line.time, |point| Some(point.step_ms)),
        )];
        if has_memory {
            panels.push((
                "MB above the libraries",
                lines(&series, |line| line.memory, |point| point.peak_mb),
            ));
        }
        panels.retain(|(_, lines)| !lines.is_empty());
        if panels.is_empty() {
            continue;
        }
        let name = format!("performance-{axis}.svg");
        let mut svg = String::new();
        draw(&mut svg, title, &panels).map_err(|error| PerfError::Figure {
            name: name.clone(),
            message: error.to_string(),
        })?;
        let path = folder.join(&name);
        write_atomically(&path, svg.as_bytes()).map_err(|error| file(&path, &error))?;
        names.push(name);
    }
    Ok(names)
}

fn lines(
    series: &[&Series],
    fit: impl Fn(&Series) -> Option<Fit>,
    value: impl Fn(&super::scaling::Point) -> Option<f64>,
) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in series {
        let points: Vec<(f64, f64)> = line
            .points
            .iter()
            .filter_map(|point| Some((point.x, value(point)?)))
            .filter(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite())
            .collect();
        if !points.is_empty() {
            let label = match fit(line) {
                Some(fit) => format!("{}, ^{:.2}", line.label, fit.exponent),
                None => line.label.clone(),
            };
            lines.push((label, points));
        }
    }
    lines
}

const PANEL: (u32, u32) = (460, 340);

fn draw(
    svg: &mut String,
    title: &str,
    panels: &[(&str, Vec<Line>)],
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let size = (PANEL.0 * panels.len() as u32, PANEL.1);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, (unit, lines)) in root.split_evenly((1, panels.len())).iter().zip(panels) {
        let points = || lines.iter().flat_map(|line| &line.1);
        let (x, y) = (
            around(points().map(|p| p.0), 1.1),
            around(points().map(|p| p.1), 1.6),
        );
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(58)
            .build_cartesian_2d(x.log_scale(), y.log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(title)
            .y_desc(*unit)
            .draw()?;
        for (index, (label, points)) in lines.iter().enumerate() {
            let colour = PALETTE[index % PALETTE.len()];
            let style = colour.stroke_width(2);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), style))?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
            chart.draw_series(
                points
                    .iter()
                    .map(|&point| Circle::new(point, 3, colour.filled())),
            )?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.4))
            .draw()?;
    }
    root.present()
}

/// A range on a logarithmic axis with a margin, never empty.
fn around(values: impl Iterator<Item = f64>, margin: f64) -> std::ops::Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, 0f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    low / margin..high * margin
}

#[cfg(test)]
mod tests {
    use super::super::scaling::Point;
    use super::*;

    #[test]
    fn figures_show_every_series_with_its_exponent() {
        let point = |x: f64, step_ms: f64| Point {
            x,
            step_ms,
            peak_mb: Some(3.0 * x),
            route: None,
        };
        let line = |label: &str| Series {
            axis: "particles".to_owned(),
            label: label.to_owned(),
            points: vec![point(2.0, 1.0), point(20.0, 30.0), point(40.0, f64::NAN)],
            time: Some(Fit {
                exponent: 1.48,
                factor: 1.0,
            }),
            memory: None,
        };
        let scaling = Scaling {
            series: vec![line("svgd"), line("joint")],
            crossover: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("figures");
        assert_eq!(
            write(&inner, &scaling).unwrap(),
            ["performance-particles.svg"]
        );
        let svg = std::fs::read_to_string(inner.join("performance-particles.svg")).unwrap();
        for text in ["svgd, ^1.48", "joint, ^1.48", "particles N", "MB above"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN"));
    }
}
