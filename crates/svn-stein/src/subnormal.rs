//! Subnormal numbers as zeros: they say nothing here, and some processors take a hundred times as long with them.

use svn_linalg::dense;

/// Zero for a subnormal number.
#[inline(always)]
pub(crate) fn flush(x: f64) -> f64 {
    if x.abs() < f64::MIN_POSITIVE { 0.0 } else { x }
}

/// [`flush`] each of them.
pub(crate) fn flush_all(values: &mut [f64]) {
    dense::vectorized(
        #[inline(always)]
        || values.iter_mut().for_each(|value| *value = flush(*value)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnormal_numbers_become_zero_and_no_others() {
        let least = f64::MIN_POSITIVE;
        let mut values = [1e-310, -1e-310, least, -least, 0.0, 1.0, f64::INFINITY];
        flush_all(&mut values);
        assert_eq!(values, [0.0, 0.0, least, -least, 0.0, 1.0, f64::INFINITY]);
        assert!(flush(f64::NAN).is_nan());
    }
}
