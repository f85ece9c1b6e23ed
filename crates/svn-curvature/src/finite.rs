//! Whether numbers are finite, at the speed of a sum.

use ndarray::{ArrayView, Dimension};
use svn_linalg::dense;

/// Index of the first part with a NaN or an infinity.
///
/// A sum is finite only if no term is NaN or infinite; where it overflows the terms decide.
pub(crate) fn first_non_finite<'a, D: Dimension + 'a>(
    parts: impl IntoIterator<Item = ArrayView<'a, f64, D>>,
) -> Option<usize> {
    let finite = |part: ArrayView<'a, f64, D>| match part.as_slice_memory_order() {
        Some(values) => slice_is_finite(values),
        None => part.iter().all(|value| value.is_finite()),
    };
    parts.into_iter().position(|part| !finite(part))
}

/// Whether all values are finite.
pub(crate) fn slice_is_finite(values: &[f64]) -> bool {
    dense::vectorized(
        #[inline(always)]
        || {
            // Sums of zeros, and of NaN where a value is not finite: none overflows. Several at a time, which vectorises.
            let mut sums = [0.0; 16];
            let chunks = values.chunks_exact(16);
            let rest: f64 = chunks.remainder().iter().map(|v| v * 0.0).sum();
            for chunk in chunks {
                for i in 0..16 {
                    sums[i] += chunk[i] * 0.0;
                }
            }
            rest + sums.iter().sum::<f64>() == 0.0
        },
    )
}

#[cfg(test)]
mod tests {
    use super::first_non_finite;
    use ndarray::Array2;

    #[test]
    fn nan_and_infinity_are_found_and_large_numbers_are_not() {
        for (value, expected) in [
            (f64::NAN, Some(2)),
            (f64::INFINITY, Some(2)),
            (f64::NEG_INFINITY, Some(2)),
            (f64::MAX, None),
            (-0.0, None),
        ] {
            for column in [0, 40, 76] {
                let mut x = Array2::from_elem((4, 77), f64::MAX);
                x[(2, column)] = value;
                assert_eq!(first_non_finite(x.outer_iter()), expected, "{value}");
                let y = x.t().as_standard_layout().into_owned();
                assert_eq!(first_non_finite(y.t().outer_iter()), expected, "{value}");
            }
        }
    }
}
