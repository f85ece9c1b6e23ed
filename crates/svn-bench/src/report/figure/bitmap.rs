//! Rectangles of pixels inside an SVG, and the colours of numbers.

use std::iter::{Once, once};

use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters_backend::{BackendCoord, DrawingBackend, DrawingErrorKind};

/// From dark blue over grey to yellow: lightness rises all the way, so that it reads in grey, and blue and yellow stay apart for
/// colour-blind readers (Nuñez, Anderton and Renslow, *Optimizing colormaps with consideration for color vision deficiency*, 2018).
const CIVIDIS: [RGBColor; 10] = [
    RGBColor(0, 34, 78),
    RGBColor(18, 53, 112),
    RGBColor(59, 73, 108),
    RGBColor(87, 93, 109),
    RGBColor(112, 113, 115),
    RGBColor(138, 134, 120),
    RGBColor(165, 156, 116),
    RGBColor(195, 179, 105),
    RGBColor(225, 204, 85),
    RGBColor(254, 232, 56),
];

/// Steps of the colours: a bitmap of few colours is a small one.
const STEPS: f64 = 96.0;

/// The colour of a number from 0 to 1, dark to light.
pub(super) fn cividis(place: f64) -> RGBColor {
    let place = (place.clamp(0.0, 1.0) * STEPS).round() / STEPS;
    let along = place * (CIVIDIS.len() - 1) as f64;
    let low = (along as usize).min(CIVIDIS.len() - 2);
    mixed(CIVIDIS[low], CIVIDIS[low + 1], along - low as f64)
}

/// The colour of a number from 0 to 1, white to a light blue that black and the palette stand out from.
pub(super) fn shade(place: f64) -> RGBColor {
    let place = (place.clamp(0.0, 1.0) * STEPS).round() / STEPS;
    mixed(WHITE, RGBColor(150, 178, 205), place)
}

fn mixed(from: RGBColor, to: RGBColor, share: f64) -> RGBColor {
    let mix = |from: u8, to: u8| (f64::from(from) * (1.0 - share) + f64::from(to) * share) as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// A rectangle of pixels.
#[derive(Debug)]
pub(super) struct Bitmap {
    /// The upper left corner.
    corner: BackendCoord,
    size: (u32, u32),
    rgb: Vec<u8>,
}

impl Bitmap {
    /// Coloured by column and row, from the upper left.
    pub(super) fn new(
        corner: BackendCoord,
        size: (u32, u32),
        colour: impl Fn(u32, u32) -> RGBColor,
    ) -> Self {
        let pixels = (0..size.1).flat_map(|row| (0..size.0).map(move |column| (column, row)));
        let rgb = pixels.map(|(column, row)| colour(column, row));
        Self {
            corner,
            size,
            rgb: rgb.flat_map(|RGBColor(r, g, b)| [r, g, b]).collect(),
        }
    }
}

impl<'a> PointCollection<'a, BackendCoord> for &'a Bitmap {
    type Point = &'a BackendCoord;
    type IntoIter = Once<&'a BackendCoord>;

    fn point_iter(self) -> Self::IntoIter {
        once(&self.corner)
    }
}

impl<DB: DrawingBackend> Drawable<DB> for Bitmap {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut points: I,
        backend: &mut DB,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<DB::ErrorType>> {
        match points.next() {
            Some(corner) => backend.blit_bitmap(corner, self.size, &self.rgb),
            None => Ok(()),
        }
    }
}

/// The media type of bitmaps, which `plotters-svg` 0.3 writes without its first half.
pub(super) fn named(svg: String) -> String {
    const HALF: &str = "href=\"data:png;";
    match svg.contains(HALF) {
        true => svg.replace(HALF, "href=\"data:image/png;"),
        false => svg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what a grey printer makes of a colour.
    fn lightness(colour: RGBColor) -> f64 {
        0.299 * f64::from(colour.0) + 0.587 * f64::from(colour.1) + 0.114 * f64::from(colour.2)
    }

    #[test]
    fn larger_numbers_are_lighter() {
        let all: Vec<f64> = (0..=96)
            .map(|k| lightness(cividis(f64::from(k) / 96.0)))
            .collect();
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
        assert!(all[96] - all[0] > 150.0);
        assert_eq!(cividis(-1.0), CIVIDIS[0]);
        assert_eq!(cividis(f64::INFINITY), CIVIDIS[9]);
    }
}
