//! Intervals of metrics by the bootstrap: rows are drawn again with replacement, and the metric is computed anew.
//!
//! # References
//! Efron and Tibshirani, *An introduction to the bootstrap*, 1993: percentile intervals.

use std::collections::BTreeMap;

use rand::RngExt;
use svn_models::{ClassPrediction, ModelError};

use crate::engine::{Predicted, RunError, quantile};
use crate::metrics::{Metrics, RegressionRows, classification_metrics};
use crate::split::stream;

/// Targets beside a prediction.
#[derive(Debug, Clone)]
pub enum Truth {
    /// In the units of the data.
    Numbers(Vec<f64>),
    /// Indices of classes.
    Classes(Vec<usize>),
}

impl Truth {
    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(y) => y.len(),
            Self::Classes(y) => y.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// These rows, in this order; those beyond the last are left out.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(y) => {
                Self::Numbers(rows.iter().filter_map(|&row| y.get(row).copied()).collect())
            }
            Self::Classes(y) => {
                Self::Classes(rows.iter().filter_map(|&row| y.get(row).copied()).collect())
            }
        }
    }
}

/// A metric and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Of the rows.
    pub value: f64,
    /// The middle 90 % of the draws; none for too few rows.
    pub interval: Option<(f64, f64)>,
}

/// All metrics of all rows.
///
/// # Errors
/// [`RunError::Failed`] for a prediction and targets that do not fit each other.
pub(super) fn metrics(predicted: &Predicted, truth: &Truth) -> Result<Metrics, RunError> {
    Measurable::new(predicted, truth)?.metrics(None)
}

/// What has metrics, of all rows or of some.
enum Measurable<'a> {
    Numbers(RegressionRows),
    Classes(&'a ClassPrediction, &'a [usize]),
}

impl<'a> Measurable<'a> {
    fn new(predicted: &'a Predicted, truth: &'a Truth) -> Result<Self, RunError> {
        match (predicted, truth) {
            (Predicted::Numbers(prediction), Truth::Numbers(y)) => {
                let rows = RegressionRows::new(prediction, None, y.as_slice().into());
                rows.map(Self::Numbers).map_err(RunError::failed)
            }
            (Predicted::Classes(prediction), Truth::Classes(y)) => Ok(Self::Classes(prediction, y)),
            (Predicted::Numbers(_), Truth::Classes(_)) => {
                Err(RunError::failed(ModelError::OtherTask {
                    likelihood: "numbers",
                    instead: "a model of classes",
                }))
            }
            (Predicted::Classes(_), Truth::Numbers(_)) => {
                Err(RunError::failed(ModelError::OtherTask {
                    likelihood: "classes",
                    instead: "a model of numbers",
                }))
            }
        }
    }

    /// Of these rows, of which one may come more than once, or of all.
    fn metrics(&self, rows: Option<&[usize]>) -> Result<Metrics, RunError> {
        match (self, rows) {
            (Self::Numbers(each), rows) => Ok(each.mean(rows)),
            (Self::Classes(prediction, y), None) => {
                classification_metrics(prediction, y).map_err(RunError::failed)
            }
            (Self::Classes(prediction, y), Some(rows)) => {
                let y: Vec<usize> = rows.iter().filter_map(|&row| y.get(row).copied()).collect();
                classification_metrics(&prediction.select(rows), &y).map_err(RunError::failed)
            }
        }
    }
}

/// Rows times draws that are computed at most, and the fewest and most draws.
const WORK: usize = 2_000_000;
const DRAWS: (usize, usize) = (100, 1000);

/// Each metric of all rows, with the 5 % and 95 % quantiles of its values on rows drawn with replacement.
///
/// # Errors
/// [`RunError::Failed`] for a prediction and targets that do not fit each other.
pub fn bootstrap(
    predicted: &Predicted,
    truth: &Truth,
) -> Result<BTreeMap<String, Measured>, RunError> {
    let n = truth.len();
    let measurable = Measurable::new(predicted, truth)?;
    let all = measurable.metrics(None)?;
    let draws = (WORK / n.max(1)).clamp(DRAWS.0, DRAWS.1);
    let mut random = stream(0, &["bootstrap"]);
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for _ in 0..if n > 1 { draws } else { 0 } {
        let rows: Vec<usize> = (0..n).map(|_| random.random_range(0..n)).collect();
        let drawn = measurable.metrics(Some(&rows))?;
        for key in all.values.keys() {
            if let Some(value) = drawn.value(key) {
                values.entry(key).or_default().push(value);
            }
        }
    }
    for values in values.values_mut() {
        values.sort_by(f64::total_cmp);
    }
    let measured = all.values.keys().filter_map(|key| {
        let drawn = values.get(key.as_str()).map_or(&[][..], Vec::as_slice);
        // A class that most draws lack has no area under its curve in them.
        let enough = 2 * drawn.len() > draws;
        let end = |level| quantile(drawn, level).filter(|_| enough);
        let value = all.value(key)?;
        let interval = end(0.05).zip(end(0.95));
        Some((key.clone(), Measured { value, interval }))
    });
    Ok(measured.collect())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};
    use svn_models::Prediction;

    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_that_of_its_standard_error() {
        let n = 400;
        let mut random = stream(3, &["test"]);
        let y: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
        let prediction = Prediction::new(Array2::zeros((1, n)), Array2::ones((1, n))).unwrap();
        let truth = Truth::Numbers(y.clone());
        let found = bootstrap(&Predicted::Numbers(prediction), &truth).unwrap();
        let squares = Array1::from(y).mapv_into(|y| y * y);
        let mean = squares.mean().unwrap();
        let se = squares.std(1.0) / (n as f64).sqrt();
        let mse = found["mse"];
        let (low, high) = mse.interval.unwrap();
        assert!((mse.value - mean).abs() < 1e-12);
        assert!((low - (mean - 1.645 * se)).abs() < 0.25 * se, "{low}");
        assert!((high - (mean + 1.645 * se)).abs() < 0.25 * se, "{high}");
    }

    #[test]
    fn one_row_has_no_interval_and_tasks_do_not_mix() {
        let prediction = Prediction::new(Array2::zeros((2, 1)), Array2::ones((2, 1))).unwrap();
        let predicted = Predicted::Numbers(prediction);
        let found = bootstrap(&predicted, &Truth::Numbers(vec![1.0])).unwrap();
        assert_eq!((found["rmse"].value, found["rmse"].interval), (1.0, None));
        assert!(bootstrap(&predicted, &Truth::Classes(vec![0])).is_err());
    }
}
