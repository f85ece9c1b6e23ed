//! The data of the toy study: a cubic with noise, in blobs on two intervals with a gap between them.
//!
//! ```text
//! y = (x − 3)³ + ε,   ε ~ N(0, 0.25²)
//!
//! blobs   one in each half of [2, 3] and in each third of [4.5, 6], its centre uniform there but for a tenth at the ends
//! rows    30 of each blob, x = centre + 0.1 z with z ~ N(0, 1), clipped to the interval
//! grid    200 points evenly on [0, 7], both ends among them
//! ```
//!
//! All draws come from one stream of ChaCha20: first the centres, then x and ε of each row in turn, of the training rows first.

use ndarray::{Array1, Array2, s};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

/// Standard deviation of the noise.
pub const NOISE_SD: f64 = 0.25;
/// Training rows.
pub const ROWS: usize = 150;
/// Points of the grid.
pub const POINTS: usize = 200;

const SEED: u64 = 42;
/// Where there are rows, and how many blobs.
const INTERVALS: [([f64; 2], usize); 2] = [([2.0, 3.0], 2), ([4.5, 6.0], 3)];
/// Rows of a blob.
const BLOB: usize = 30;
/// Standard deviation of a blob, and how far its centre stays from the ends of its part.
const SPREAD: f64 = 0.1;

/// The curve without noise.
pub fn truth(x: f64) -> f64 {
    (x - 3.0).powi(3)
}

/// Whether training rows may lie at `x`.
pub fn is_inside(x: f64) -> bool {
    INTERVALS
        .iter()
        .any(|([low, high], _)| (*low..=*high).contains(&x))
}

/// Features (`150 × 1`) and noisy targets of the training rows, blob by blob.
pub fn train() -> (Array2<f64>, Array1<f64>) {
    let (mut x, mut y) = rows();
    x.slice_collapse(s![..ROWS, ..]);
    y.slice_collapse(s![..ROWS]);
    (x, y)
}

/// As many others from the same blobs, to stop on.
pub fn validation() -> (Array2<f64>, Array1<f64>) {
    let (mut x, mut y) = rows();
    x.slice_collapse(s![ROWS.., ..]);
    y.slice_collapse(s![ROWS..]);
    (x, y)
}

/// All rows: those to train on, then those to validate on.
fn rows() -> (Array2<f64>, Array1<f64>) {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let mut blobs = Vec::new();
    for (interval @ [low, high], count) in INTERVALS {
        let part = (high - low) / count as f64;
        for k in 0..count {
            let start = low + k as f64 * part;
            let centre = rng.random_range(start + SPREAD..start + part - SPREAD);
            blobs.push((centre, interval));
        }
    }
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut x = Array2::zeros((2 * ROWS, 1));
    let mut y = Array1::zeros(2 * ROWS);
    for i in 0..2 * ROWS {
        let (centre, [low, high]) = blobs[i / BLOB % blobs.len()];
        x[(i, 0)] = (centre + SPREAD * normal()).clamp(low, high);
        y[i] = truth(x[(i, 0)]) + NOISE_SD * normal();
    }
    (x, y)
}

/// The points at which curves are compared, `200 × 1`.
pub fn grid() -> Array2<f64> {
    Array2::from_shape_fn((POINTS, 1), |(i, _)| 7.0 * i as f64 / (POINTS - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_in_blobs_in_their_intervals() {
        let (x, y) = train();
        assert_eq!((x.dim(), y.len()), ((ROWS, 1), ROWS));
        let x = x.column(0);
        assert!(x.iter().all(|&x| is_inside(x)));
        assert_eq!(x.iter().filter(|&&x| x < 4.0).count(), 2 * BLOB);
        for blob in 0..ROWS / BLOB {
            let rows = x.slice(ndarray::s![blob * BLOB..(blob + 1) * BLOB]);
            // 30 numbers: the deviation is known to an eighth; clipping takes some of it.
            let sd = rows.std(1.0);
            assert!((0.05..0.14).contains(&sd), "blob {blob}: {sd}");
        }
        assert!(!is_inside(1.99) && !is_inside(3.5) && is_inside(4.5) && !is_inside(6.01));
    }

    #[test]
    fn noise_has_its_deviation() {
        let (x, y) = train();
        let noise = &y - &x.column(0).mapv(truth);
        let mean = noise.mean().unwrap();
        let square = noise.mapv(|e| e * e).mean().unwrap().sqrt();
        // Four standard errors.
        assert!(mean.abs() < 4.0 * NOISE_SD / 150_f64.sqrt(), "{mean}");
        assert!(
            (square / NOISE_SD - 1.0).abs() < 4.0 / 300_f64.sqrt(),
            "{square}"
        );
    }

    #[test]
    fn the_grid_has_both_ends() {
        let grid = grid();
        assert_eq!(grid.dim(), (POINTS, 1));
        assert_eq!((grid[(0, 0)], grid[(POINTS - 1, 0)]), (0.0, 7.0));
        assert!((grid[(1, 0)] - 7.0 / 199.0).abs() < 1e-15);
        assert_eq!([truth(3.0), truth(5.0), truth(1.0)], [0.0, 8.0, -8.0]);
    }

    /// What every result of the study rests on.
    #[test]
    fn the_first_rows_are_these() {
        let (x, y) = train();
        let expected = [
            (2.2154570160762534, -0.3096154121096719),
            (2.241795790893565, -0.721517531850281),
            (2.212562100523847, -0.7703073896267914),
        ];
        for (i, (feature, target)) in expected.into_iter().enumerate() {
            assert!((x[(i, 0)] - feature).abs() < 1e-12, "row {i}");
            assert!((y[i] - target).abs() < 1e-12, "row {i}");
        }
        assert_eq!(train(), (x.clone(), y));
        let (other, targets) = validation();
        assert_eq!((other.dim(), targets.len()), ((ROWS, 1), ROWS));
        assert!(other.iter().all(|&x| is_inside(x)));
        // Rows that the ends of an interval have cut may agree.
        let same = other.iter().filter(|other| x.iter().any(|x| x == *other));
        assert!(same.count() < ROWS / 10);
    }
}
