//! Whether all numbers of a row are finite, at the speed of a dot product.

use ndarray::{ArrayView1, ArrayView2};
use svn_linalg::dense;

/// `‖x‖²` is finite only if every entry is; where it overflows the entries decide.
pub(crate) fn is_finite(row: ArrayView1<'_, f64>) -> bool {
    dense::dot(row, row).is_finite() || row.iter().all(|x| x.is_finite())
}

/// Index of the first row with a NaN or an infinity.
pub(crate) fn first_non_finite(rows: ArrayView2<'_, f64>) -> Option<usize> {
    rows.rows().into_iter().position(|row| !is_finite(row))
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::first_non_finite;

    #[test]
    fn nan_and_infinity_are_found_and_large_numbers_are_not() {
        for (value, expected) in [
            (f64::NAN, Some(2)),
            (f64::INFINITY, Some(2)),
            (f64::NEG_INFINITY, Some(2)),
            (1e300, None),
            (-0.0, None),
        ] {
            let mut x = Array2::from_elem((4, 77), 0.5);
            x[(2, 76)] = value;
            assert_eq!(first_non_finite(x.view()), expected, "{value}");
        }
    }
}
