//! Corruptions of images: turned about the centre, or with Gaussian noise added.
//!
//! ```text
//! rotation   out(p) = bilinear in(c + R(−angle)(p − c)),   0 outside the image
//! noise      out = clip(in + level · z, 0, 1),   z ~ N(0, 1)
//! ```

use ndarray::{Array2, ArrayView1, ArrayView2};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::SIDE;

/// What is done to the images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Corruption {
    /// Turned; the level is the angle in degrees.
    Rotation,
    /// Gaussian noise; the level is its standard deviation, white being 1.
    Noise,
}

impl Corruption {
    /// Its name in records and figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rotation => "rotation",
            Self::Noise => "noise",
        }
    }

    /// Levels that are measured; 0 is the images as they are.
    pub fn levels(self) -> &'static [f64] {
        match self {
            Self::Rotation => &[15.0, 30.0, 45.0, 60.0, 90.0],
            Self::Noise => &[0.1, 0.2, 0.3, 0.5, 0.7],
        }
    }

    /// The images at a level.
    ///
    /// # Shapes
    /// `images` and the result: `n × 784`, in `[0, 1]`.
    pub fn apply(self, images: ArrayView2<'_, f64>, level: f64, rng: &mut impl Rng) -> Array2<f64> {
        match self {
            Self::Rotation => rotate(images, level),
            Self::Noise => add_noise(images, level, rng),
        }
    }
}

/// Turn each image clockwise about its centre, bilinearly; what comes from outside is black.
///
/// # Shapes
/// `images` and the result: `n × 784`, row by row.
pub fn rotate(images: ArrayView2<'_, f64>, degrees: f64) -> Array2<f64> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let centre = (SIDE as f64 - 1.0) / 2.0;
    let mut out = Array2::zeros(images.raw_dim());
    for index in 0..SIDE * SIDE {
        let (x, y) = (
            (index % SIDE) as f64 - centre,
            (index / SIDE) as f64 - centre,
        );
        // Rounding, so that quarter turns meet the pixels.
        let snap = |v: f64| (v * 1e9).round() / 1e9;
        let (x, y) = (
            snap(centre + cos * x + sin * y),
            snap(centre - sin * x + cos * y),
        );
        for (mut turned, image) in out.rows_mut().into_iter().zip(images.rows()) {
            turned[index] = bilinear(image, x, y);
        }
    }
    out
}

fn bilinear(image: ArrayView1<'_, f64>, x: f64, y: f64) -> f64 {
    let level = |column: f64, row: f64| {
        let inside = |v: f64| v >= 0.0 && v < SIDE as f64;
        if inside(column) && inside(row) {
            image[row as usize * SIDE + column as usize]
        } else {
            0.0
        }
    };
    let (left, top) = (x.floor(), y.floor());
    let (right, below) = (x - left, y - top);
    (1.0 - below) * ((1.0 - right) * level(left, top) + right * level(left + 1.0, top))
        + below * ((1.0 - right) * level(left, top + 1.0) + right * level(left + 1.0, top + 1.0))
}

/// Add Gaussian noise of standard deviation `level` to each pixel and cut to `[0, 1]`.
pub fn add_noise(images: ArrayView2<'_, f64>, level: f64, rng: &mut impl Rng) -> Array2<f64> {
    images.mapv(|value| {
        let z: f64 = StandardNormal.sample(rng);
        (value + level * z).clamp(0.0, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::images::{Synthetic, synthetic};
    use crate::split::stream;

    fn images() -> Array2<f64> {
        synthetic(Synthetic::Digits, 10, 1, 3).scaled(&[0, 3, 7])
    }

    #[test]
    fn quarter_turns_move_pixels_and_nothing_else() {
        let images = images();
        assert_eq!(rotate(images.view(), 0.0), images);
        // Clockwise with rows downwards: the pixel at (row, column) goes to (column, last − row).
        let quarter = rotate(images.view(), 90.0);
        for (turned, image) in quarter.rows().into_iter().zip(images.rows()) {
            for row in 0..SIDE {
                for column in 0..SIDE {
                    let to = column * SIDE + (SIDE - 1 - row);
                    assert_eq!(turned[to], image[row * SIDE + column]);
                }
            }
        }
        assert_eq!(rotate(quarter.view(), 270.0), images);
    }

    /// A plane of grey levels is turned exactly by bilinear interpolation: out(p) is the plane at the turned place.
    #[test]
    fn a_slanted_plane_stays_a_plane() {
        let at = |x: f64, y: f64| 0.2 + 0.01 * x + 0.005 * y;
        let image = Array2::from_shape_fn((1, SIDE * SIDE), |(_, i)| {
            at((i % SIDE) as f64, (i / SIDE) as f64)
        });
        let turned = rotate(image.view(), 33.0);
        let (sin, cos) = 33.0f64.to_radians().sin_cos();
        for (row, column) in [(13, 13), (5, 16), (20, 9), (14, 22)] {
            let (x, y) = (column as f64 - 13.5, row as f64 - 13.5);
            let expected = at(13.5 + cos * x + sin * y, 13.5 - sin * x + cos * y);
            // Places are rounded to 1e-9 of a pixel, levels change by 0.01 a pixel.
            assert!((turned[[0, row * SIDE + column]] - expected).abs() < 1e-10);
        }
        // The corners come from outside.
        assert_eq!(turned[[0, 0]], 0.0);
    }

    #[test]
    fn noise_has_its_level_and_stays_in_range() {
        let grey = Array2::from_elem((20, SIDE * SIDE), 0.5);
        let noisy = add_noise(grey.view(), 0.1, &mut stream(1, &["noise"]));
        let (n, mean) = (noisy.len() as f64, noisy.mean().unwrap());
        let std = (noisy.mapv(|v| (v - mean).powi(2)).sum() / n).sqrt();
        // 15 680 draws: four standard errors of mean and deviation.
        assert!((mean - 0.5).abs() < 4.0 * 0.1 / n.sqrt());
        assert!((std / 0.1 - 1.0).abs() < 4.0 / (2.0 * n).sqrt());
        let loud = add_noise(grey.view(), 3.0, &mut stream(1, &["noise"]));
        assert!(loud.iter().all(|v| (0.0..=1.0).contains(v)) && loud.iter().any(|v| *v == 0.0));
    }
}
