//! One panel a design: test NLL of each result, mean ± standard error.

use plotters::prelude::*;

use super::lines::ends;
use super::{Area, Drawn, Family, Figure, Page, ReportError, axis, colours, sheet};
use crate::metrics::Estimate;

/// A design and its results by label.
struct Panel {
    title: String,
    points: Vec<(String, RGBColor, Estimate)>,
}

/// `nll.svg`, if there is any.
pub(super) fn draw<P: Page>(families: &[Family<'_, P>]) -> Result<Option<Figure>, ReportError> {
    let panels: Vec<Panel> = families
        .iter()
        .map(panel)
        .filter(|panel| !panel.points.is_empty())
        .collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let most = panels.iter().map(|panel| panel.points.len()).max();
    let height = 24 * most.unwrap_or(0).max(5) as u32 + 90;
    let draw = |_, panel: &Panel, area: &Area<'_>| draw_panel(area, panel);
    sheet("nll.svg".to_owned(), &panels, (3, (400, height)), draw).map(Some)
}

fn panel<P: Page>(family: &Family<'_, P>) -> Panel {
    let methods: Vec<_> = family.rows.iter().map(|row| row.method).collect();
    let rows = family.rows.iter().zip(colours(&methods));
    let points = rows.filter_map(|(row, colour)| {
        let nll = row.metric("nll")?;
        Some((row.label.clone(), colour, nll))
    });
    Panel {
        title: family.name.clone(),
        points: points.collect(),
    }
}

/// Results below each other, so that their labels have room.
fn draw_panel(area: &Area<'_>, panel: &Panel) -> Drawn {
    let range = axis::padded(panel.points.iter().flat_map(|(_, _, nll)| ends(nll)));
    let count = panel.points.len();
    let widest = panel
        .points
        .iter()
        .map(|point| point.0.chars().count())
        .max();
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size((12 + 6 * widest.unwrap_or(0) as u32).min(220))
        .build_cartesian_2d(range, count as f64 - 0.5..-0.5)?;
    let name = |y: &f64| {
        let near = (y - y.round()).abs() < 1e-6 && *y > -0.5;
        let point = panel.points.get(y.round() as usize).filter(|_| near);
        point.map_or_else(String::new, |point| point.0.clone())
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(5)
        .x_desc("test NLL")
        .y_labels(2 * count + 1)
        .y_label_formatter(&name)
        .draw()?;
    for (index, (_, colour, nll)) in panel.points.iter().enumerate() {
        let ([low, high], style) = (ends(nll), colour.stroke_width(2).filled());
        let bar = ErrorBar::new_horizontal(index as f64, low, nll.mean, high, style, 10);
        chart.draw_series([bar])?;
    }
    Ok(())
}
