//! Panels of lines with error bars: mean ± standard error.

use std::ops::Range;

use plotters::prelude::*;

use super::marks::{mark, marked};
use super::{Area, Drawn, Entry, Figure, ReportError, axis, sheet_under};
use crate::metrics::Estimate;

/// What runs along the bottom.
#[derive(Debug, Clone)]
pub enum Axis {
    /// Numbers, with what they are.
    Numbers(&'static str),
    /// Whole numbers, with what they are.
    Whole(&'static str),
    /// Decimal logarithms of numbers, with what the numbers are.
    Decades(&'static str),
    /// Names of the places 0, 1, 2, …, with what they are.
    Names(&'static str, Vec<String>),
}

impl Axis {
    fn title(&self) -> &'static str {
        match self {
            Self::Numbers(title) | Self::Whole(title) => title,
            Self::Decades(title) | Self::Names(title, _) => title,
        }
    }

    fn range(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        match self {
            Self::Names(_, names) => -0.3..names.len() as f64 - 0.7,
            _ => axis::padded(values),
        }
    }

    /// Text at a place, empty for none.
    fn text(&self, value: f64) -> String {
        let near = (value - value.round()).abs() < 1e-6;
        match self {
            Self::Numbers(_) => format!("{}", (value * 1e6).round() / 1e6),
            Self::Whole(_) if near => value.round().to_string(),
            Self::Names(_, names) if near && value > -0.5 => names
                .get(value.round() as usize)
                .cloned()
                .unwrap_or_default(),
            Self::Whole(_) | Self::Names(..) => String::new(),
            // Two significant digits.
            Self::Decades(_) if value.abs() >= 5.0 => {
                format!("{:.1e}", 10f64.powf(value)).replace(".0e", "e")
            }
            Self::Decades(_) => {
                let decimals = (1.0 - value.floor()).max(0.0) as usize;
                let text = format!("{:.decimals$}", 10f64.powf(value));
                match text.split_once('.') {
                    Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                    None => text,
                }
            }
        }
    }
}

/// A line and its points.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name in the legend; a line without is a thin one of many, with no marks.
    pub label: String,
    /// Its colour.
    pub colour: RGBColor,
    /// By ascending place.
    pub points: Vec<(f64, Estimate)>,
}

/// One diagram.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Along the bottom.
    pub x: Axis,
    /// The range upwards; that of the points if left out. What lies above is drawn along the upper edge.
    pub y: Option<Range<f64>>,
    /// What is shown.
    pub lines: Vec<Line>,
}

/// How panels are arranged.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// Panels side by side, at most.
    pub columns: usize,
    /// Pixels of a panel.
    pub size: (u32, u32),
}

/// Points of a line up to which each has a mark of its own.
const MARKED: usize = 20;

/// A figure of panels.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn draw_lines(name: String, panels: &[Panel], form: &Sheet) -> Result<Figure, ReportError> {
    let panels: Vec<_> = panels.iter().map(|panel| (panel, None)).collect();
    draw(name, &panels, form)
}

/// The same with what runs upwards in each panel.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn draw_lines_up(
    name: String,
    panels: &[(Panel, Axis)],
    form: &Sheet,
) -> Result<Figure, ReportError> {
    let panels: Vec<_> = panels.iter().map(|(panel, up)| (panel, Some(up))).collect();
    draw(name, &panels, form)
}

fn draw(
    name: String,
    panels: &[(&Panel, Option<&Axis>)],
    form: &Sheet,
) -> Result<Figure, ReportError> {
    // A name has one colour and one mark in all panels.
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in panels.iter().flat_map(|(panel, _)| &panel.lines) {
        let known = entries.iter().any(|entry| entry.label == line.label);
        if !known && !line.label.is_empty() {
            entries.push(Entry {
                label: &line.label,
                colour: line.colour,
                line: true,
            });
        }
    }
    let size = (form.columns, form.size);
    sheet_under(name, &entries, panels, size, |_, (panel, up), area| {
        draw_panel(area, panel, *up, &entries)
    })
}

/// Mean less and plus the standard error.
pub(super) fn ends(estimate: &Estimate) -> [f64; 2] {
    let se = estimate.se.unwrap_or(0.0);
    [estimate.mean - se, estimate.mean + se]
}

fn draw_panel(area: &Area<'_>, panel: &Panel, up: Option<&Axis>, entries: &[Entry<'_>]) -> Drawn {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let x = panel.x.range(points().map(|(place, _)| *place));
    let all = || axis::padded(points().flat_map(|(_, estimate)| ends(estimate)));
    let y = panel.y.clone().unwrap_or_else(all);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(56)
        .build_cartesian_2d(x, y.clone())?;
    let across = |place: &f64| panel.x.text(*place);
    let height = |place: &f64| up.map_or_else(String::new, |up| up.text(*place));
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT)
        .x_label_formatter(&across)
        .x_desc(panel.x.title())
        .y_labels(6);
    if let Some(up) = up {
        mesh.y_label_formatter(&height).y_desc(up.title());
    }
    mesh.draw()?;
    for line in &panel.lines {
        let (colour, many) = (line.colour, line.label.is_empty());
        let style = colour.stroke_width(if many { 1 } else { 2 });
        let height = |estimate: &Estimate| estimate.mean.min(y.end);
        let means = line.points.iter().map(|(place, of)| (*place, height(of)));
        chart.draw_series(LineSeries::new(means, style))?;
        if many {
            continue;
        }
        let same = |entry: &Entry<'_>| entry.label == line.label;
        let index = entries.iter().position(same).unwrap_or(0);
        let bars = line.points.iter().filter(|_| line.points.len() <= MARKED);
        chart.draw_series(bars.map(|(place, estimate)| {
            let [low, high] = ends(estimate).map(|end| (*place, end.min(y.end)));
            PathElement::new([low, high], colour.stroke_width(1))
        }))?;
        let places = marked(index, line.points.len(), MARKED).map(|place| &line.points[place]);
        chart.draw_series(places.map(|(place, of)| mark(index, (*place, height(of)), colour)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_their_text() {
        let decades = Axis::Decades("seconds");
        let texts = [-1.5, -1.0, 0.0, 0.5, 1.0, 2.5].map(|value| decades.text(value));
        assert_eq!(texts, ["0.032", "0.1", "1", "3.2", "10", "316"]);
        assert_eq!(
            [5.0, 6.5, -6.0].map(|value| decades.text(value)),
            ["1e5", "3.2e6", "1e-6"]
        );
        let names = Axis::Names("images", vec!["500".to_owned(), "all".to_owned()]);
        let texts = [-1.0, 0.0, 0.5, 1.0, 2.0].map(|value| names.text(value));
        assert_eq!(texts, ["", "500", "", "all", ""]);
        let epochs = [1.5, 2.0].map(|value| Axis::Whole("epoch").text(value));
        assert_eq!(epochs, ["", "2"]);
        assert_eq!(Axis::Numbers("degrees").text(0.1 + 0.2), "0.3");
    }
}
