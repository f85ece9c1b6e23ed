//! Marks that tell lines apart where their colours do not: in grey, or to colour-blind readers.

use plotters::element::ComposedElement;
use plotters::prelude::*;

/// Corners of the marks in pixels: a disc, a triangle, a square, a triangle on its tip, a diamond.
const SHAPES: [&[(i32, i32)]; 5] = [
    &[
        (4, 0),
        (3, 3),
        (0, 4),
        (-3, 3),
        (-4, 0),
        (-3, -3),
        (0, -4),
        (3, -3),
    ],
    &[(0, -5), (5, 4), (-5, 4)],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, 5), (5, -4), (-5, -4)],
    &[(0, -6), (5, 0), (0, 6), (-5, 0)],
];

/// A mark at a place.
pub(super) type Mark<Coord, DB> =
    ComposedElement<Coord, DB, Polygon<(i32, i32)>, PathElement<(i32, i32)>>;

/// The mark of the line of this index: filled shapes, then the same hollow, and again.
pub(super) fn mark<Coord, DB: DrawingBackend>(
    index: usize,
    place: Coord,
    colour: RGBColor,
) -> Mark<Coord, DB> {
    let shape = SHAPES[index % SHAPES.len()];
    let hollow = index / SHAPES.len() % 2 == 1;
    let fill = if hollow { WHITE } else { colour };
    let outline: Vec<(i32, i32)> = shape.iter().chain(&shape[..1]).copied().collect();
    EmptyElement::at(place)
        + Polygon::new(shape, fill.filled())
        + PathElement::new(outline, colour.stroke_width(1))
}

/// Which of so many points of a line have a mark: all where they are few, else about eight, at other places for each line.
pub(super) fn marked(index: usize, points: usize, few: usize) -> impl Iterator<Item = usize> {
    let every = if points <= few { 1 } else { points.div_ceil(8) };
    (index % every..points).step_by(every)
}
