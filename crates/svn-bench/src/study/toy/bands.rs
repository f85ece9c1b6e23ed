//! Each method's mean with bands of one, two and three standard deviations, and the posterior's.

use plotters::prelude::*;

use super::data::{train, truth};
use super::{ToyPage, posterior};
use crate::report::figure::{Area, Drawn, colours, sheet};
use crate::report::{Figure, ReportError, Row};

/// A panel.
struct Bands {
    title: String,
    colour: RGBColor,
    x: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

/// `bands.svg`: a panel a method, that of the posterior first.
pub(super) fn bands(rows: &[Row<ToyPage>]) -> Result<Figure, ReportError> {
    let posterior = posterior().map_err(ReportError::Printed)?;
    let methods: Vec<_> = rows.iter().map(|row| row.method).collect();
    let panel = |(row, colour): (&Row<ToyPage>, RGBColor)| Bands {
        title: row.label.clone(),
        colour,
        x: posterior.x.clone(),
        mean: row.extra.mean.clone(),
        sd: row.extra.sd.clone(),
    };
    let own = rows.iter().zip(colours(&methods)).map(panel);
    let mut panels = vec![Bands {
        title: "posterior (Hamiltonian Monte Carlo)".to_owned(),
        colour: BLACK,
        x: posterior.x.clone(),
        mean: posterior.mean.clone(),
        sd: posterior.sd.clone(),
    }];
    panels.extend(own);
    sheet(
        "bands.svg".to_owned(),
        &panels,
        (4, (330, 260)),
        |_, panel, area| draw(area, panel),
    )
}

fn draw(area: &Area<'_>, bands: &Bands) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .caption(&bands.title, ("sans-serif", 14))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(36)
        .build_cartesian_2d(0.0..7.0, -40.0..70.0)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(8)
        .y_labels(6)
        .draw()?;
    let points = || bands.x.iter().zip(bands.mean.iter().zip(&bands.sd));
    for width in [3.0, 2.0, 1.0] {
        let upper = points().map(|(&x, (mean, sd))| (x, mean + width * sd));
        let lower = points().map(|(&x, (mean, sd))| (x, mean - width * sd));
        let lower: Vec<_> = lower.collect();
        let outline: Vec<_> = upper.chain(lower.into_iter().rev()).collect();
        chart.draw_series([Polygon::new(outline, bands.colour.mix(0.18))])?;
    }
    let mean = points().map(|(&x, (&mean, _))| (x, mean));
    chart.draw_series(LineSeries::new(mean, bands.colour.stroke_width(2)))?;
    let curve = bands.x.iter().map(|&x| (x, truth(x)));
    chart.draw_series(LineSeries::new(curve, BLACK.mix(0.6)))?;
    let (x, y) = train();
    let rows = x.iter().zip(&y);
    chart.draw_series(rows.map(|(&x, &y)| Circle::new((x, y), 1, BLACK.filled())))?;
    Ok(())
}
