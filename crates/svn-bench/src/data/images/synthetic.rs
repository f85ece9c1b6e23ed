//! Image sets drawn here: digits and letters by a pen of random width on shifted, turned, sheared paper, with noise.
//!
//! ```text
//! p = centre + shift + size · R(turn) · [1 lean; 0 1] · (glyph point − ½)
//! level = 255 · ink · clip(width/2 + ½ − distance to the nearest line, 0, 1) + noise
//! ```
//!
//! They are for tests and first tries without a download; no file of digits was looked at.

use rand::RngExt;
use rand::rngs::ChaCha20Rng;

use super::glyphs::{Stroke, digit, letter};
use super::set::{ImageSet, Part, SIDE};
use crate::split::stream;

/// Which glyphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synthetic {
    /// The digits 0 to 9.
    Digits,
    /// The letters A E F H K L T X Y Z.
    Letters,
}

impl Synthetic {
    /// Training images of the set.
    pub const TRAIN: usize = 4000;

    /// Test images of the set.
    pub const TEST: usize = 1000;

    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Digits => "synthetic-digits",
            Self::Letters => "synthetic-letters",
        }
    }

    /// The set of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Digits, Self::Letters]
            .into_iter()
            .find(|set| set.name() == name)
    }

    fn glyph(self, class: usize) -> Vec<Stroke> {
        match self {
            Self::Digits => digit(class),
            Self::Letters => letter(class),
        }
    }
}

/// Draw a set of `train` and `test` images, classes in turn. The same arguments give the same images.
///
/// # Examples
/// ```
/// use svn_bench::data::images::{Synthetic, synthetic};
/// let set = synthetic(Synthetic::Digits, 20, 10, 0);
/// assert_eq!((set.len(), set.train, set.classes()[13]), (30, 20, 3));
/// ```
pub fn synthetic(kind: Synthetic, train: usize, test: usize, seed: u64) -> ImageSet {
    let part = |purpose: &str, count: usize| {
        let mut rng = stream(seed, &["images", kind.name(), purpose]);
        let mut part = Part::default();
        for index in 0..count {
            let class = index % 10;
            part.labels.push(class as u8);
            part.pixels.extend(draw(&kind.glyph(class), &mut rng));
        }
        part
    };
    ImageSet::join(kind.name(), part("train", train), part("test", test))
}

/// Grey levels of one image, row by row.
fn draw(glyph: &[Stroke], rng: &mut ChaCha20Rng) -> Vec<u8> {
    let centre = SIDE as f64 / 2.0;
    let (shift_x, shift_y) = (rng.random_range(-2.0..2.0), rng.random_range(-2.0..2.0));
    let (size, turn) = (
        rng.random_range(16.0..21.0),
        rng.random_range(-0.3..0.3_f64),
    );
    let (lean, half_width) = (rng.random_range(-0.3..0.3), rng.random_range(0.6..1.5));
    let (ink, noise) = (rng.random_range(0.7..1.0), rng.random_range(0.0..0.15));
    let (sin, cos) = turn.sin_cos();
    let place = |point: &[f64; 2]| {
        let (x, y) = (point[0] - 0.5, point[1] - 0.5);
        let x = x + lean * y;
        [
            centre + shift_x + size * (cos * x - sin * y),
            centre + shift_y + size * (sin * x + cos * y),
        ]
    };
    let lines: Vec<[[f64; 2]; 2]> = glyph
        .iter()
        .flat_map(|stroke| {
            stroke
                .windows(2)
                .map(|ends| [place(&ends[0]), place(&ends[1])])
        })
        .collect();
    (0..SIDE * SIDE)
        .map(|index| {
            let pixel = [(index % SIDE) as f64 + 0.5, (index / SIDE) as f64 + 0.5];
            let nearest = lines
                .iter()
                .map(|line| distance(pixel, *line))
                .fold(f64::INFINITY, f64::min);
            let level = ink * (half_width + 0.5 - nearest).clamp(0.0, 1.0);
            // The cast rounds down and saturates at 0 and 255.
            (255.0 * (level + noise * rng.random_range(-1.0..1.0)) + 0.5) as u8
        })
        .collect()
}

/// From a point to a line from `a` to `b`.
fn distance(p: [f64; 2], [a, b]: [[f64; 2]; 2]) -> f64 {
    let (along, to) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length = along[0] * along[0] + along[1] * along[1];
    let share =
        ((along[0] * to[0] + along[1] * to[1]) / length.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    (to[0] - share * along[0]).hypot(to[1] - share * along[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_the_same_for_one_seed_and_differ_for_others() {
        let set = |seed| synthetic(Synthetic::Digits, 30, 20, seed);
        assert_eq!(set(1).pixels(), set(1).pixels());
        assert_eq!(set(1).sha256, set(1).sha256);
        assert_ne!(set(1).sha256, set(2).sha256);
        assert_ne!(
            set(1).sha256,
            synthetic(Synthetic::Letters, 30, 20, 1).sha256
        );
        // Test images are no training images.
        assert_ne!(set(1).pixels().row(0), set(1).pixels().row(30));
    }

    #[test]
    fn distances_to_a_line_and_beyond_its_ends() {
        let line = [[1.0, 1.0], [4.0, 5.0]];
        assert!((distance([5.0, 2.0], line) - 13.0 / 5.0).abs() < 1e-12);
        assert_eq!(distance([1.0, 0.0], line), 1.0);
        assert_eq!(distance([7.0, 9.0], line), 5.0);
        assert_eq!(distance([4.0, 5.0], [[1.0, 1.0], [1.0, 1.0]]), 5.0);
    }

    /// One neighbour among 400 images in the plain distance of pixels: far above the 10 % of guessing, below certainty.
    #[test]
    fn classes_can_be_learned_and_are_not_trivial() {
        for kind in [Synthetic::Digits, Synthetic::Letters] {
            let set = synthetic(kind, 400, 200, 5);
            let images = set.scaled(&(0..600).collect::<Vec<_>>());
            let classes = set.classes();
            let right = (400..600)
                .filter(|&test| {
                    let gap =
                        |row: usize| (&images.row(row) - &images.row(test)).mapv(|d| d * d).sum();
                    let nearest = (0..400).min_by(|&a, &b| f64::total_cmp(&gap(a), &gap(b)));
                    nearest.map(|row| classes[row]) == Some(classes[test])
                })
                .count();
            assert!((130..200).contains(&right), "{kind:?}: {right} of 200");
        }
    }
}
