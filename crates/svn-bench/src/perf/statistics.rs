//! Medians, ranges, and exponents of power laws.
//!
//! ```text
//! t = C x^k    fitted by least squares on  ln t = ln C + k ln x
//! ```

use serde::{Deserialize, Serialize};

/// Median, smallest and largest of some times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of at least one value; `None` for no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            0.5 * (sorted[middle - 1] + sorted[middle])
        };
        Some(Self { median, min, max })
    }
}

/// A fitted power law `t = factor · x^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// `k`.
    pub exponent: f64,
    /// `C`.
    pub factor: f64,
}

/// Fit a power law to points `(x, t)`; points that are not positive are left out. `None` with fewer than two different
/// `x`.
pub fn power_law(points: &[(f64, f64)]) -> Option<Fit> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(x, t)| *x > 0.0 && *t > 0.0 && x.is_finite() && t.is_finite())
        .map(|(x, t)| (x.ln(), t.ln()))
        .collect();
    let n = logs.len() as f64;
    let mean_x = logs.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_t = logs.iter().map(|p| p.1).sum::<f64>() / n;
    let (mut sxx, mut sxt) = (0.0, 0.0);
    for (x, t) in &logs {
        sxx += (x - mean_x) * (x - mean_x);
        sxt += (x - mean_x) * (t - mean_t);
    }
    (sxx > 1e-12).then(|| {
        let exponent = sxt / sxx;
        Fit {
            exponent,
            factor: (mean_t - exponent * mean_x).exp(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn a_power_law_is_found_again() {
        let points: Vec<_> = [1.0, 2.0, 5.0, 40.0f64]
            .iter()
            .map(|&x| (x, 0.3 * x.powf(1.7)))
            .collect();
        let fit = power_law(&points).unwrap();
        // Four logarithms, a handful of roundings each.
        assert_relative_eq!(fit.exponent, 1.7, max_relative = 1e-13);
        assert_relative_eq!(fit.factor, 0.3, max_relative = 1e-13);
    }

    #[test]
    fn noise_that_is_symmetric_in_the_logarithm_cancels() {
        let points = [(1.0, 2.0), (1.0, 0.5), (100.0, 20.0), (100.0, 5.0)];
        assert_relative_eq!(
            power_law(&points).unwrap().exponent,
            0.5,
            max_relative = 1e-13
        );
    }

    #[test]
    fn one_place_has_no_exponent() {
        assert!(power_law(&[(3.0, 1.0), (3.0, 2.0)]).is_none());
        assert!(power_law(&[]).is_none());
        assert!(power_law(&[(1.0, f64::NAN), (2.0, 1.0)]).is_none());
    }

    #[test]
    fn medians_of_even_and_odd_numbers() {
        let spread = Spread::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((spread.median, spread.min, spread.max), (2.0, 1.0, 3.0));
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert!(Spread::of(&[]).is_none());
    }
}
