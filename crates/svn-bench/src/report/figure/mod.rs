//! SVG figures of all studies: test NLL by data set and method, validation NLL by epoch and by time. What they are drawn with
//! is here for the figures of the studies too.

mod axis;
mod bitmap;
mod curves;
mod family;
mod heat;
mod intervals;
mod legend;
mod lines;
mod marks;
mod nll;
mod paths;
mod reliability;

use plotters::coord::Shift;
use plotters::prelude::*;
use svn_models::recipe::Method;

use super::{Page, RecordOf, ReportError, Row};
pub use curves::{By, curve};
pub use family::{Family, by_design, families};
pub use heat::{Heat, SymmetricLog, draw_heat};
pub use intervals::{Intervals, draw_intervals};
use legend::Entry;
pub use lines::{Axis, Line, Panel, Sheet, draw_lines, draw_lines_up};
pub use paths::{Paths, Plane, draw_paths};
pub use reliability::reliability;

/// A figure and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Name of the file.
    pub name: String,
    /// The file.
    pub svg: String,
}

/// Part of a figure.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What a drawing routine gives back.
pub type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Colours that stay apart for colour-blind readers (Okabe and Ito, and a grey), in the order of methods.
const PALETTE: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(140, 140, 140),
];

/// The common figures: `nll.svg`, and `curve-NAME.svg` and `time-NAME.svg` for each data set, of which different designs are
/// different figures. What no record has is not drawn.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn common<P: Page>(
    rows: &[Row<P>],
    records: &[RecordOf<P>],
) -> Result<Vec<Figure>, ReportError> {
    let families = by_design(rows);
    let mut figures = Vec::new();
    figures.extend(nll::draw(&families)?);
    for family in &families {
        figures.extend(curves::draw(family, records)?);
    }
    Ok(figures)
}

/// Draw panels side by side, at most so many in a row, all of one size in pixels.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn sheet<T>(
    name: String,
    panels: &[T],
    form: (usize, (u32, u32)),
    draw: impl Fn(usize, &T, &Area<'_>) -> Drawn,
) -> Result<Figure, ReportError> {
    sheet_under(name, &[], panels, form, draw)
}

/// The same under a legend.
fn sheet_under<T>(
    name: String,
    entries: &[Entry<'_>],
    panels: &[T],
    (columns, size): (usize, (u32, u32)),
    draw: impl Fn(usize, &T, &Area<'_>) -> Drawn,
) -> Result<Figure, ReportError> {
    let columns = panels.len().clamp(1, columns.max(1));
    let lines = panels.len().div_ceil(columns).max(1);
    let width = size.0 * columns as u32;
    let above = legend::height(entries, width);
    let whole = (width, size.1 * lines as u32 + above);
    let mut svg = String::new();
    let drawn = |svg: &mut String| -> Drawn {
        let root = SVGBackend::with_string(svg, whole).into_drawing_area();
        root.fill(&WHITE)?;
        let (top, below) = root.split_vertically(above);
        legend::draw(entries, &top)?;
        let areas = below.split_evenly((lines, columns));
        for (index, (area, panel)) in areas.iter().zip(panels).enumerate() {
            draw(index, panel, area)?;
        }
        root.present()
    };
    match drawn(&mut svg) {
        Ok(()) => Ok(Figure {
            name,
            svg: bitmap::named(svg),
        }),
        Err(source) => Err(ReportError::Figure { name, source }),
    }
}

/// A colour for each result of a figure: a method's first has its own in all figures, further ones take those that are left.
pub fn colours(methods: &[Method]) -> Vec<RGBColor> {
    let own = |method: &Method| {
        let place = Method::ALL.iter().position(|other| other == method);
        place.unwrap_or(0) % PALETTE.len()
    };
    let taken: Vec<usize> = methods.iter().map(own).collect();
    let mut left = (0..PALETTE.len()).filter(|place| !taken.contains(place));
    // Where none is left they are shared.
    let mut shared = (0..PALETTE.len()).cycle();
    let places = methods.iter().zip(&taken).enumerate();
    places
        .map(|(index, (method, &own))| {
            if methods[..index].contains(method) {
                left.next().or_else(|| shared.next()).unwrap_or(own)
            } else {
                own
            }
        })
        .map(|place| PALETTE[place])
        .collect()
}

#[cfg(test)]
#[path = "figure_tests.rs"]
mod tests;
