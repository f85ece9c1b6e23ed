//! Ranges of axes that are never empty.

use std::ops::Range;

use crate::engine::quantile;

/// The values with a margin of 8 %; around a single value, ±1 or ±10 % of it; `[0, 1)` for none.
pub(super) fn padded(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if low > high {
        return 0.0..1.0;
    }
    let margin = if high > low {
        0.08 * (high - low)
    } else {
        (0.1 * high.abs()).max(1.0)
    };
    // Values of 1e16 with a difference that rounding eats still get a range.
    let margin = margin.max(1e-9 * high.abs().max(low.abs()));
    low - margin..high + margin
}

/// From the least value to the 90 % quantile: the first epochs can be far above everything that matters.
pub(super) fn visible(mut values: Vec<f64>) -> Range<f64> {
    values.sort_by(f64::total_cmp);
    let high = quantile(&values, 0.9).unwrap_or(1.0);
    padded(values.iter().map(|value| value.min(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_never_empty() {
        for values in [
            vec![],
            vec![0.0],
            vec![3.0, 3.0],
            vec![1e300],
            vec![f64::NAN],
            vec![1e16, 1e16 + 2.0],
        ] {
            let range = padded(values.iter().copied());
            assert!(
                range.start < range.end && range.start.is_finite() && range.end.is_finite(),
                "{values:?}"
            );
        }
        let range = padded([1.0, 2.0, f64::INFINITY].into_iter());
        assert!((range.start - 0.92).abs() < 1e-12 && (range.end - 2.08).abs() < 1e-12);
    }
    #[test]
    fn a_few_large_values_do_not_hide_the_rest() {
        let values = (0..20).map(f64::from).chain([1e6]).collect();
        // The 90 % quantile of 0, …, 19, 1e6 is 18.
        let range = visible(values);
        assert!((range.start + 1.44).abs() < 1e-12 && (range.end - 19.44).abs() < 1e-12);
    }
}
