//! What the reference runs of several studies have in common: the sampler, and whether its chains agree.

pub(crate) mod convergence;
pub(crate) mod hmc;

/// Six significant digits.
pub(crate) fn round(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        assert_eq!(round(1234567.8), 1234570.0);
        assert_eq!(round(-0.000123456789), -0.000123457);
        assert_eq!(round(0.0), 0.0);
    }
}
