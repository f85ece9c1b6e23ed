//! Metrics of a regression ensemble; definitions in the [module's table](crate::metrics).

use ndarray::{Array1, ArrayView1, ArrayView2, Axis};
use svn_models::Prediction;

use super::gaussian::{gaussian_nll, half_nll};
use super::{MetricError, Metrics};

/// What the paper's protocol adds to the spread of the members.
pub const PAPER_VARIANCE_FLOOR: f64 = 1e-6;

/// All regression metrics. `laplace` are the Laplace variances of the members' means for `nll_epistemic`, whether the
/// density has them or not.
///
/// # Shapes
/// `targets`: `n`, original units, as the prediction; `laplace`: `N × n`.
///
/// # Errors
/// [`MetricError::Shape`], [`MetricError::Target`] for a target that is not finite.
pub fn regression_metrics(
    prediction: &Prediction,
    laplace: Option<ArrayView2<'_, f64>>,
    targets: ArrayView1<'_, f64>,
) -> Result<Metrics, MetricError> {
    Ok(RegressionRows::new(prediction, laplace, targets)?.mean(None))
}

/// What [`regression_metrics`] takes the means of, row by row, so that means over other rows cost nothing more.
#[derive(Debug)]
pub struct RegressionRows {
    squares: Array1<f64>,
    /// By key; what is not defined has no rows.
    terms: Vec<(&'static str, Option<Array1<f64>>)>,
}

impl RegressionRows {
    /// Of each row.
    ///
    /// # Shapes
    /// As for [`regression_metrics`].
    ///
    /// # Errors
    /// As for [`regression_metrics`].
    pub fn new(
        prediction: &Prediction,
        laplace: Option<ArrayView2<'_, f64>>,
        targets: ArrayView1<'_, f64>,
    ) -> Result<Self, MetricError> {
        let n = prediction.rows();
        let shape = || MetricError::Shape {
            what: "target",
            found: vec![targets.len()],
            expected: vec![n],
        };
        if targets.len() != n {
            return Err(shape());
        }
        if let Some((row, &value)) = targets
            .iter()
            .enumerate()
            .find(|(_, value)| !value.is_finite())
        {
            return Err(MetricError::Target {
                row,
                value,
                expected: "a finite number".to_owned(),
            });
        }
        let mean = prediction.mean();
        let members = prediction.members() as f64;
        let total = prediction.variance();
        let each = |term: &dyn Fn(usize) -> f64| (0..n).map(term).collect::<Array1<f64>>();
        // One target a row, and a level within 0 and 1: neither is refused.
        let density = prediction.log_density(targets).map_err(|_| shape())?;
        let crps = prediction.crps(targets).map_err(|_| shape())?;
        let (low, high) = prediction.interval(0.9).map_err(|_| shape())?;
        let spread = (members > 1.0).then(|| {
            squared_deviations(prediction.means(), &mean) / (members - 1.0) + PAPER_VARIANCE_FLOOR
        });
        let paper = spread
            .as_ref()
            .map(|v| each(&|i| half_nll(targets[i], mean[i], v[i])));
        let epistemic = laplace.map(|laplace| {
            let v = average(laplace)
                + spread.unwrap_or_else(|| Array1::from_elem(n, PAPER_VARIANCE_FLOOR));
            each(&|i| half_nll(targets[i], mean[i], v[i]))
        });
        let covered = |i: usize| f64::from(low[i] <= targets[i] && targets[i] <= high[i]);
        let moments = |i: usize| gaussian_nll(targets[i], mean[i], total[i]);
        let terms = vec![
            ("nll", Some(-density)),
            ("nll_moments", Some(each(&moments))),
            ("crps", Some(crps)),
            ("coverage90", Some(each(&covered))),
            ("width90", Some(high - &low)),
            ("nll_paper", paper),
            ("nll_epistemic", epistemic),
        ];
        Ok(Self {
            squares: each(&|i| (targets[i] - mean[i]).powi(2)),
            terms,
        })
    }

    /// Means over all rows, or over these; a row may come more than once.
    ///
    /// # Panics
    /// For an index that is no row.
    pub fn mean(&self, rows: Option<&[usize]>) -> Metrics {
        let mean = |values: &Array1<f64>| match rows {
            None => values.sum() / values.len() as f64,
            Some(rows) => rows.iter().map(|&row| values[row]).sum::<f64>() / rows.len() as f64,
        };
        let mut metrics = Metrics::default();
        let mse = mean(&self.squares);
        metrics.insert("mse", Some(mse));
        metrics.insert("rmse", Some(mse.sqrt()));
        for (key, values) in &self.terms {
            if *key == "nll_paper" && values.is_none() {
                metrics
                    .warnings
                    .push("nll_paper: the spread of a single particle is not defined".to_owned());
            }
            metrics.insert(key, values.as_ref().map(mean));
        }
        metrics
    }
}

/// `(1/N) Σ_p a_pi`.
fn average(values: ArrayView2<'_, f64>) -> Array1<f64> {
    values.sum_axis(Axis(0)) / values.nrows() as f64
}

/// `Σ_p (μ_pi − μ_i)²`.
fn squared_deviations(means: ArrayView2<'_, f64>, mean: &Array1<f64>) -> Array1<f64> {
    (&means - mean)
        .mapv(|deviation| deviation * deviation)
        .sum_axis(Axis(0))
}

#[cfg(test)]
#[path = "regression_tests.rs"]
mod tests;
