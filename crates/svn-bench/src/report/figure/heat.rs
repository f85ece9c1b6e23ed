//! Heat maps of square matrices in a grid, all in one scale of colours.
//!
//! ```text
//! colour of v:   ½ + ½ sign(v) lg(1 + |v|/t) / lg(1 + max/t)        linear up to about t, logarithmic beyond
//! ```

use std::ops::Range;

use ndarray::ArrayView2;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::bitmap::{Bitmap, cividis};
use super::{Area, Drawn, Figure, ReportError, sheet};

/// Pixels between maps.
const GAP: i32 = 14;

/// Pixels left of the maps, for the names of rows.
const LEFT: i32 = 78;

/// Above them, for the names of columns.
const TOP: i32 = 30;

/// Below them, for the names of parts and of the axis.
const BOTTOM: i32 = 44;

/// Right of them, for the bar of colours.
const RIGHT: i32 = 120;

/// Colours of numbers of both signs over many decades.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SymmetricLog {
    /// Up to here it is about linear; positive.
    pub linear: f64,
    /// The largest size of a number.
    pub most: f64,
}

impl SymmetricLog {
    /// From 0 (−most) over ½ (zero) to 1 (most).
    fn place(&self, value: f64) -> f64 {
        let size = |value: f64| (1.0 + value.abs() / self.linear).log10();
        let share = size(value) / size(self.most.max(self.linear));
        0.5 + 0.5 * share.min(1.0) * value.signum()
    }

    /// Zero, and every other power of ten from `linear` on with both signs; every one where they are few.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (low, high) = (self.linear.log10().ceil(), self.most.log10().floor());
        let step = if high - low > 3.0 { 2.0 } else { 1.0 };
        let powers = (0..).map(|k| high - step * f64::from(k));
        let powers: Vec<f64> = powers.take_while(|power| *power >= low).collect();
        let of = |sign: f64, power: f64| {
            let text = if sign < 0.0 { "−" } else { "" };
            (sign * 10f64.powf(power), format!("{text}1e{power}"))
        };
        let negative = powers.iter().map(|&power| of(-1.0, power));
        let positive = powers.iter().rev().map(|&power| of(1.0, power));
        negative
            .chain([(0.0, "0".to_owned())])
            .chain(positive)
            .collect()
    }
}

/// What is shown, and in which words.
#[derive(Debug)]
pub struct Heat<'a> {
    /// Names of the columns of the grid.
    pub columns: Vec<String>,
    /// Names of its rows, and a square matrix for each column.
    pub rows: Vec<(String, Vec<ArrayView2<'a, f64>>)>,
    /// Parts of both sides of a matrix with their names; a part without has a boundary alone.
    pub parts: Vec<(String, Range<usize>)>,
    /// What runs along both sides.
    pub axis: &'static str,
    /// What the numbers are, with their unit.
    pub unit: &'static str,
    /// Their colours.
    pub scale: SymmetricLog,
    /// Pixels of an entry.
    pub pixels: u32,
}

impl Heat<'_> {
    /// Pixels of a map.
    fn side(&self) -> i32 {
        let matrices = self.rows.iter().flat_map(|(_, matrices)| matrices);
        let dim = matrices.map(|matrix| matrix.nrows()).max().unwrap_or(1);
        (dim as u32 * self.pixels) as i32
    }

    /// The upper left corner of a map.
    fn corner(&self, row: usize, column: usize) -> (i32, i32) {
        let step = self.side() + GAP;
        (LEFT + column as i32 * step, TOP + row as i32 * step)
    }
}

/// A figure of maps, row by row.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn draw_heat(name: String, heat: &Heat<'_>) -> Result<Figure, ReportError> {
    let (width, height) = heat.corner(heat.rows.len(), heat.columns.len());
    let size = ((width - GAP + RIGHT) as u32, (height - GAP + BOTTOM) as u32);
    sheet(name, &[heat], (1, size), |_, heat, area| draw(area, heat))
}

/// Text of so many pixels around a place.
fn text(area: &Area<'_>, words: &str, place: (i32, i32), style: (u32, HPos)) -> Drawn {
    let style = ("sans-serif", style.0)
        .into_font()
        .color(&BLACK)
        .pos(Pos::new(style.1, VPos::Center));
    area.draw(&Text::new(words, place, style))
}

fn draw(area: &Area<'_>, heat: &Heat<'_>) -> Drawn {
    let side = heat.side();
    for (column, name) in heat.columns.iter().enumerate() {
        let (x, y) = heat.corner(0, column);
        text(area, name, (x + side / 2, y - 14), (13, HPos::Center))?;
        let (_, below) = heat.corner(heat.rows.len(), 0);
        for (name, part) in &heat.parts {
            let middle = (part.start + part.end) as i32 * heat.pixels as i32 / 2;
            text(area, name, (x + middle, below - 2), (11, HPos::Center))?;
        }
    }
    for (row, (name, matrices)) in heat.rows.iter().enumerate() {
        let (x, y) = heat.corner(row, 0);
        text(area, name, (x - 12, y + side / 2), (13, HPos::Right))?;
        for (column, matrix) in matrices.iter().enumerate() {
            map(area, heat, matrix, heat.corner(row, column))?;
        }
    }
    let (right, below) = heat.corner(heat.rows.len(), heat.columns.len());
    let middle = (LEFT + right - GAP) / 2;
    text(area, heat.axis, (middle, below + 22), (13, HPos::Center))?;
    bar(area, heat, (right + 22, TOP), below - GAP - TOP)
}

fn map(
    area: &Area<'_>,
    heat: &Heat<'_>,
    matrix: &ArrayView2<'_, f64>,
    (x, y): (i32, i32),
) -> Drawn {
    let (side, pixels) = (heat.side(), heat.pixels);
    let entry = |column: u32, row: u32| {
        let at = [(row / pixels) as usize, (column / pixels) as usize];
        cividis(heat.scale.place(matrix.get(at).copied().unwrap_or(0.0)))
    };
    area.draw(&Bitmap::new((x, y), (side as u32, side as u32), entry))?;
    let line = WHITE.mix(0.7).stroke_width(1);
    for (_, part) in &heat.parts {
        let at = part.end as i32 * pixels as i32;
        if at < side {
            area.draw(&PathElement::new([(x + at, y), (x + at, y + side)], line))?;
            area.draw(&PathElement::new([(x, y + at), (x + side, y + at)], line))?;
        }
    }
    area.draw(&Rectangle::new(
        [(x, y), (x + side, y + side)],
        BLACK.mix(0.5),
    ))
}

/// The bar of colours, with its numbers and what they are.
fn bar(area: &Area<'_>, heat: &Heat<'_>, (x, y): (i32, i32), height: i32) -> Drawn {
    const WIDTH: i32 = 14;
    let colour = |_, row: u32| cividis(1.0 - (f64::from(row) + 0.5) / f64::from(height));
    area.draw(&Bitmap::new((x, y), (WIDTH as u32, height as u32), colour))?;
    area.draw(&Rectangle::new(
        [(x, y), (x + WIDTH, y + height)],
        BLACK.mix(0.5),
    ))?;
    for (value, words) in heat.scale.ticks() {
        let at = y + (f64::from(height) * (1.0 - heat.scale.place(value))).round() as i32;
        area.draw(&PathElement::new(
            [(x + WIDTH, at), (x + WIDTH + 4, at)],
            BLACK,
        ))?;
        text(area, &words, (x + WIDTH + 8, at), (11, HPos::Left))?;
    }
    let style = ("sans-serif", 13)
        .into_font()
        .transform(FontTransform::Rotate270)
        .color(&BLACK);
    let style = style.pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(
        heat.unit,
        (x + WIDTH + 62, y + height / 2),
        style,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    const SCALE: SymmetricLog = SymmetricLog {
        linear: 1.0,
        most: 99_999.0,
    };

    #[test]
    fn zero_is_in_the_middle_and_a_decade_is_as_wide_on_both_sides() {
        let place = |value| SCALE.place(value);
        assert_eq!(
            [place(0.0), place(99_999.0), place(-99_999.0)],
            [0.5, 1.0, 0.0]
        );
        assert!((place(999.0) + place(-999.0) - 1.0).abs() < 1e-15);
        // lg 1000 of lg 100 000.
        assert!((place(999.0) - 0.8).abs() < 1e-12);
        assert_eq!(place(1e9), 1.0);
    }

    #[test]
    fn ticks_are_powers_of_ten_of_both_signs() {
        let ticks: Vec<String> = SCALE.ticks().into_iter().map(|(_, words)| words).collect();
        assert_eq!(ticks, ["−1e4", "−1e2", "−1e0", "0", "1e0", "1e2", "1e4"]);
    }

    #[test]
    fn every_matrix_is_a_bitmap_with_its_boundaries() {
        let matrix = Array2::from_shape_fn((8, 8), |(i, j)| i as f64 - j as f64);
        let row = |name: &str| (name.to_owned(), vec![matrix.view(); 3]);
        let heat = Heat {
            columns: ["one", "two", "mean"].map(str::to_owned).to_vec(),
            rows: vec![row("epoch 1"), row("epoch 2")],
            parts: vec![("first".to_owned(), 0..5), ("last".to_owned(), 5..8)],
            axis: "parameter",
            unit: "curvature, nats",
            scale: SCALE,
            pixels: 2,
        };
        let svg = draw_heat("maps.svg".to_owned(), &heat).unwrap().svg;
        // Six maps and the bar; of each map one boundary inside, across and down.
        assert_eq!(svg.matches("data:image/png;base64,").count(), 7);
        assert_eq!(svg.matches("opacity=\"0.7\"").count(), 12);
        for words in [
            "one",
            "mean",
            "epoch 2",
            "first",
            "last",
            "parameter",
            "nats",
            "−1e4",
        ] {
            assert!(svg.contains(words), "{words}");
        }
    }
}
