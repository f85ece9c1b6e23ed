//! Names beside their marks in a strip above all panels, where they lie over nothing.

use plotters::prelude::*;

use super::marks::mark;
use super::{Area, Drawn};

/// A name in a legend. Its mark is that of its place among all.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry<'a> {
    /// The name.
    pub label: &'a str,
    /// Its colour.
    pub colour: RGBColor,
    /// Whether marks are joined by a line.
    pub line: bool,
}

/// Pixels of a row of names.
const ROW: u32 = 20;
/// Pixels beside each name: the mark before it, and the distance to the next.
const BESIDE: u32 = 48;
/// Pixels of a character, on the safe side.
const CHARACTER: u32 = 7;

/// Pixels from the left and the row of each name, as many to a row as fit.
fn places(entries: &[Entry<'_>], width: u32) -> Vec<(u32, u32)> {
    let (mut x, mut row) = (8, 0);
    let place = |entry: &Entry<'_>| {
        let own = BESIDE + CHARACTER * entry.label.chars().count() as u32;
        if x > 8 && x + own > width {
            (x, row) = (8, row + 1);
        }
        x += own;
        (x - own, row)
    };
    entries.iter().map(place).collect()
}

/// Pixels that the strip takes; none for no names.
pub(super) fn height(entries: &[Entry<'_>], width: u32) -> u32 {
    let last = places(entries, width).last().copied();
    last.map_or(0, |(_, row)| (row + 1) * ROW + 4)
}

/// Draw them.
pub(super) fn draw(entries: &[Entry<'_>], area: &Area<'_>) -> Drawn {
    let width = area.dim_in_pixel().0;
    let placed = entries.iter().zip(places(entries, width));
    for (index, (entry, (x, row))) in placed.enumerate() {
        let (x, y) = (x as i32, (row * ROW + ROW / 2 + 4) as i32);
        if entry.line {
            let stroke = vec![(x, y), (x + 18, y)];
            area.draw(&PathElement::new(stroke, entry.colour.stroke_width(2)))?;
        }
        area.draw(&mark(index, (x + 9, y), entry.colour))?;
        let style = ("sans-serif", 12).into_font();
        area.draw(&Text::new(entry.label.to_owned(), (x + 25, y - 6), style))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_fit_go_to_the_next_row() {
        let entry = |label| Entry {
            label,
            colour: BLACK,
            line: true,
        };
        let entries = ["ab", "cd", "a name that is long"].map(entry);
        // 48 + 14 pixels each of the first two.
        assert_eq!(places(&entries, 200), [(8, 0), (70, 0), (8, 1)]);
        assert_eq!(height(&entries, 200), 44);
        // One that is too wide for any row has a row.
        assert_eq!(places(&entries[2..], 50), [(8, 0)]);
        assert_eq!(height(&[], 50), 0);
    }
}
