//! Metrics of a regression ensemble; definitions in the [module's table](crate::metrics).

use ndarray::{Array1, ArrayView1, ArrayView2, Axis};
use svn_models::Prediction;

use super::gaussian::{Z90, gaussian_crps, gaussian_nll, half_nll};
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
    let n = prediction.rows();
    if targets.len() != n {
        return Err(MetricError::Shape {
            what: "target",
            found: vec![targets.len()],
            expected: vec![n],
        });
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
    let squares = squared_deviations(prediction.means(), &mean);
    let members = prediction.members() as f64;
    let total = prediction.variance();

    let mut metrics = Metrics::default();
    let over_rows = |term: &dyn Fn(usize) -> f64| Some((0..n).map(term).sum::<f64>() / n as f64);
    let mse = over_rows(&|i| (targets[i] - mean[i]).powi(2));
    metrics.insert("mse", mse);
    metrics.insert("rmse", mse.map(f64::sqrt));
    let moments = over_rows(&|i| gaussian_nll(targets[i], mean[i], total[i]));
    if prediction.is_gaussian() {
        metrics.insert("nll", moments);
    } else {
        // One target a row, as checked above.
        let density = prediction.negative_log_density(targets).ok();
        metrics.insert("nll", density);
        metrics.insert("nll_moments", moments);
    }
    metrics.insert(
        "crps",
        over_rows(&|i| gaussian_crps(targets[i], mean[i], total[i])),
    );
    let covered = |i: usize| f64::from((targets[i] - mean[i]).abs() <= Z90 * total[i].sqrt());
    metrics.insert("coverage90", over_rows(&covered));
    metrics.insert("width90", over_rows(&|i| 2.0 * Z90 * total[i].sqrt()));

    let spread = (members > 1.0).then(|| &squares / (members - 1.0) + PAPER_VARIANCE_FLOOR);
    let paper = spread
        .as_ref()
        .and_then(|v| over_rows(&|i| half_nll(targets[i], mean[i], v[i])));
    if paper.is_none() {
        metrics
            .warnings
            .push("nll_paper: the spread of a single particle is not defined".to_owned());
    }
    metrics.insert("nll_paper", paper);
    let epistemic = laplace.and_then(|laplace| {
        let v =
            average(laplace) + spread.unwrap_or_else(|| Array1::from_elem(n, PAPER_VARIANCE_FLOOR));
        over_rows(&|i| half_nll(targets[i], mean[i], v[i]))
    });
    metrics.insert("nll_epistemic", epistemic);
    Ok(metrics)
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
