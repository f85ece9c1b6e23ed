//! Whether numbers are finite, at the speed of a sum.

use ndarray::{ArrayView, Dimension};

use super::vectorized;

/// Whether no number is NaN or infinite.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::dense::all_finite;
/// assert!(all_finite(array![f64::MAX, f64::MAX].view()));
/// assert!(!all_finite(array![[0.0, f64::NAN]].view()));
/// ```
pub fn all_finite<D: Dimension>(values: ArrayView<'_, f64, D>) -> bool {
    match values.as_slice_memory_order() {
        Some(values) => slice_is_finite(values),
        None => values.iter().all(|value| value.is_finite()),
    }
}

/// Index of the first part with a NaN or an infinity.
pub fn first_non_finite<'a, D: Dimension + 'a>(
    parts: impl IntoIterator<Item = ArrayView<'a, f64, D>>,
) -> Option<usize> {
    parts.into_iter().position(|part| !all_finite(part))
}

fn slice_is_finite(values: &[f64]) -> bool {
    /// Sums at a time, which vectorises.
    const SUMS: usize = 16;
    vectorized(
        #[inline(always)]
        || {
            // Of zeros, and of NaN where a value is not finite: none overflows.
            let mut sums = [0.0; SUMS];
            let chunks = values.chunks_exact(SUMS);
            let rest: f64 = chunks.remainder().iter().map(|v| v * 0.0).sum();
            for chunk in chunks {
                for i in 0..SUMS {
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
