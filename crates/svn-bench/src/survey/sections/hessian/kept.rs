//! Symmetric matrices as they are kept: one triangle, four digits.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// The upper triangle of a symmetric matrix, row by row, to four significant digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Triangle(Vec<f32>);

impl Triangle {
    pub(super) fn of(matrix: ArrayView2<'_, f64>) -> Self {
        let dim = matrix.nrows();
        let places = (0..dim).flat_map(|i| (i..dim).map(move |j| (i, j)));
        Self(places.map(|place| four_digits(matrix[place])).collect())
    }

    /// The whole matrix; of as many entries as fill a triangle.
    pub(super) fn matrix(&self) -> Array2<f64> {
        let mut dim = 0;
        while (dim + 1) * (dim + 2) / 2 <= self.0.len() {
            dim += 1;
        }
        let mut matrix = Array2::zeros((dim, dim));
        let places = (0..dim).flat_map(|i| (i..dim).map(move |j| (i, j)));
        for ((i, j), &entry) in places.zip(&self.0) {
            matrix[(i, j)] = f64::from(entry);
            matrix[(j, i)] = f64::from(entry);
        }
        matrix
    }
}

/// The number that is written with four significant digits.
fn four_digits(value: f64) -> f32 {
    if value == 0.0 || !value.is_finite() {
        return value as f32;
    }
    let unit = 10f64.powi(value.abs().log10().floor() as i32 - 3);
    let digits = (value / unit).round();
    // Divided where the unit is less than one: 10⁻ᵏ is no number of the machine, 10ᵏ is.
    match unit < 1.0 {
        true => (digits / (1.0 / unit).round()) as f32,
        false => (digits * unit) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_comes_back_from_its_file_to_four_digits() {
        let matrix = Array2::from_shape_fn((9, 9), |(i, j)| {
            let at = (i.min(j) * 9 + i.max(j)) as f64;
            (at + 0.1).sin() * 10f64.powf(at.rem_euclid(11.0) - 5.0)
        });
        let text = serde_json::to_string(&Triangle::of(matrix.view())).unwrap();
        let triangle: Triangle = serde_json::from_str(&text).unwrap();
        let back = triangle.matrix();
        for (found, expected) in back.iter().zip(&matrix) {
            assert!(
                (found - expected).abs() <= 5.1e-4 * expected.abs(),
                "{found} {expected}"
            );
        }
        // At most a sign, four digits, a point, zeros before them and a comma.
        assert!(text.len() < 45 * 13, "{}: {text}", text.len());
    }

    #[test]
    fn four_digits_are_written_as_four() {
        let texts = [1234.567, -0.000_123_456, 1e9 / 3.0, 0.0, 2.0]
            .map(|value| serde_json::to_string(&four_digits(value)).unwrap());
        assert_eq!(texts, ["1235.0", "-0.0001235", "333300000.0", "0.0", "2.0"]);
    }
}
