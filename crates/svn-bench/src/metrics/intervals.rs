//! Predicted intervals beside what it was, for rows of similar predictions: what a reliability diagram is for classes.

use serde::{Deserialize, Serialize};

use super::Density;
use super::density::MEDIAN;
use super::summary::quantile;

/// Rows of a bin, at least; with fewer than half as many there is none.
const ROWS: usize = 20;
/// Bins, at most.
const BINS: usize = 12;

/// Quantiles 5, 25, 50, 75 and 95 % of rows of similar predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalBin {
    /// Means of the predicted ones.
    pub predicted: [f64; 5],
    /// Those of the numbers themselves.
    pub observed: [f64; 5],
}

/// At most 12 bins of equally many rows, at least 20, by ascending predictive median; of 10 to 39 rows one. None of them is of few rows.
///
/// # Shapes
/// `targets`: as many as the density has rows.
pub fn interval_bins(density: &Density, targets: &[f64]) -> Vec<IntervalBin> {
    let rows = targets.len();
    let bins = (rows / ROWS).clamp(usize::from(2 * rows >= ROWS), BINS);
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|&a, &b| density.at(a, MEDIAN).total_cmp(&density.at(b, MEDIAN)));
    let bin = |k: usize| {
        let own = &order[k * rows / bins..(k + 1) * rows / bins];
        let mut observed: Vec<f64> = own.iter().map(|&row| targets[row]).collect();
        observed.sort_by(f64::total_cmp);
        let mean =
            |level| own.iter().map(|&row| density.at(row, level)).sum::<f64>() / own.len() as f64;
        IntervalBin {
            predicted: [0, 2, MEDIAN, 4, 6].map(mean),
            observed: [0.05, 0.25, 0.5, 0.75, 0.95]
                .map(|level| quantile(&observed, level).unwrap_or(f64::NAN)),
        }
    };
    let bins = (0..bins).map(bin);
    bins.filter(|bin| bin.predicted.iter().all(|value| value.is_finite()))
        .collect()
}

/// Means over runs, bin by bin; as many as the run with the fewest has.
pub fn mean_bins(runs: &[&[IntervalBin]]) -> Vec<IntervalBin> {
    let count = runs.iter().map(|bins| bins.len()).min().unwrap_or(0);
    let bin = |place: usize| {
        let mean = |value: &dyn Fn(&IntervalBin) -> f64| {
            runs.iter().map(|bins| value(&bins[place])).sum::<f64>() / runs.len() as f64
        };
        IntervalBin {
            predicted: std::array::from_fn(|level| mean(&|bin| bin.predicted[level])),
            observed: std::array::from_fn(|level| mean(&|bin| bin.observed[level])),
        }
    };
    (0..count).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use svn_models::Prediction;

    use super::*;

    /// Medians 30, 31, … and standard deviations 10, of two members that agree.
    fn bins(rows: usize, target: impl Fn(usize) -> f64) -> Vec<IntervalBin> {
        let means = Array2::from_shape_fn((2, rows), |(_, row)| 30.0 + row as f64);
        let prediction = Prediction::new(means, Array2::from_elem((2, rows), 100.0)).unwrap();
        let targets: Vec<f64> = (0..rows).map(target).collect();
        interval_bins(&Density::new(&prediction, false).unwrap(), &targets)
    }

    #[test]
    fn bins_hold_equally_many_rows_in_the_order_of_predictions() {
        let bins = bins(60, |row| 2.0 * row as f64);
        assert_eq!(bins.len(), 3);
        // Rows 20 to 39: medians 50 to 69, numbers 40 to 78.
        assert!((bins[1].predicted[2] - 59.5).abs() < 1e-12);
        assert!((bins[1].predicted[4] - 59.5 - 16.448536).abs() < 1e-5);
        assert!((bins[1].predicted[1] - 59.5 + 6.744898).abs() < 1e-5);
        assert!((bins[1].observed[2] - 59.0).abs() < 1e-12);
        assert!((bins[1].observed[1] - 49.5).abs() < 1e-12);
    }

    #[test]
    fn no_bin_is_of_few_rows() {
        assert_eq!(bins(9, |_| 30.0), []);
        for (rows, count) in [(10, 1), (39, 1), (40, 2), (1000, 12)] {
            assert_eq!(bins(rows, |_| 30.0).len(), count, "{rows}");
        }
    }

    #[test]
    fn runs_are_averaged_bin_by_bin() {
        let (a, b) = (bins(40, |_| 40.0), bins(25, |_| 44.0));
        let mean = mean_bins(&[&a, &b]);
        assert_eq!(mean.len(), 1);
        assert_eq!(mean[0].observed, [42.0; 5]);
        assert_eq!(
            mean[0].predicted[2],
            (a[0].predicted[2] + b[0].predicted[2]) / 2.0
        );
        assert_eq!(mean_bins(&[]), []);
    }
}
