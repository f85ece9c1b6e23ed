//! Metrics by name, and their means over folds with the standard error `s/√k`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Metrics of one fold. `None` is a metric that is not defined here; a warning says why if that is unexpected.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics {
    /// By key, see [`metrics`](crate::metrics).
    pub values: BTreeMap<String, Option<f64>>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

impl Metrics {
    /// A defined value.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.values.get(key).copied().flatten()
    }

    /// Store a value; what is not finite is not defined.
    pub(super) fn insert(&mut self, key: &str, value: Option<f64>) {
        self.values
            .insert(key.to_owned(), value.filter(|value| value.is_finite()));
    }
}

/// A mean over folds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean `x̄`.
    pub mean: f64,
    /// Standard error `√(Σ(x−x̄)²/(k−1)) / √k`; undefined for `k = 1`.
    pub se: Option<f64>,
    /// Number of values `k`.
    pub n: usize,
}

impl Estimate {
    /// Mean and standard error; `None` for no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let se = (n > 1).then(|| (squares / (n - 1) as f64 / n as f64).sqrt());
        Some(Self { mean, se, n })
    }
}

/// Quantile of ascending values by linear interpolation; `None` for none.
pub(crate) fn quantile(sorted: &[f64], level: f64) -> Option<f64> {
    let position = level * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (position.floor() as usize, position.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_standard_error() {
        // Deviations −2, 0, 2: variance 8/2 = 4, standard error 2/√3.
        let estimate = Estimate::of(&[1.0, 3.0, 5.0]).unwrap();
        assert_eq!((estimate.mean, estimate.n), (3.0, 3));
        assert!((estimate.se.unwrap() - 2.0 / 3f64.sqrt()).abs() < 1e-15);
        assert_eq!(
            Estimate::of(&[7.0]),
            Some(Estimate {
                mean: 7.0,
                se: None,
                n: 1
            })
        );
        assert_eq!(Estimate::of(&[]), None);
    }
}
