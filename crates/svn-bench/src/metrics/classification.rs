//! Metrics of a classification ensemble; definitions in the [module's table](crate::metrics).
//!
//! Everything is done on logarithms, `ln p̄_c = logsumexp_p(z_pc − logsumexp_c z_pc) − ln N`, so that a probability
//! that underflows still has its logarithm.

use ndarray::{Array2, ArrayView2, Axis};
use svn_models::ClassPrediction;

use super::auroc::auroc;
use super::calibration::expected_calibration_error;
use super::{MetricError, Metrics};

/// All classification metrics.
///
/// # Shapes
/// `targets`: `n` class indices below `C`.
///
/// # Errors
/// [`MetricError::Shape`], [`MetricError::Target`] for an index that is no class.
pub fn classification_metrics(
    prediction: &ClassPrediction,
    targets: &[usize],
) -> Result<Metrics, MetricError> {
    let logits = prediction.logits();
    let (_, n, classes) = logits.dim();
    if targets.len() != n {
        return Err(MetricError::Shape {
            what: "target",
            found: vec![targets.len()],
            expected: vec![n],
        });
    }
    if let Some((row, &class)) = targets
        .iter()
        .enumerate()
        .find(|(_, class)| **class >= classes)
    {
        let expected = format!("a class index below {classes}");
        return Err(MetricError::Target {
            row,
            value: class as f64,
            expected,
        });
    }
    let log_p = prediction.log_mean_probability();
    let log_p_of_mean = log_softmax_rows(&prediction.mean_logit());
    let over_rows = |term: &dyn Fn(usize) -> f64| Some((0..n).map(term).sum::<f64>() / n as f64);

    let mut metrics = Metrics::default();
    metrics.insert("nll", over_rows(&|i| -log_p[[i, targets[i]]]));
    metrics.insert("nll_logit", over_rows(&|i| -log_p_of_mean[[i, targets[i]]]));
    let predicted: Vec<usize> = (0..n)
        .map(|i| argmax(log_p.row(i).iter().copied()))
        .collect();
    let correct: Vec<bool> = predicted.iter().zip(targets).map(|(a, b)| a == b).collect();
    metrics.insert("accuracy", over_rows(&|i| f64::from(correct[i])));
    let confidence: Vec<f64> = (0..n)
        .map(|i| log_p[[i, predicted[i]]].exp().min(1.0))
        .collect();
    metrics.insert(
        "ece",
        Some(expected_calibration_error(&confidence, &correct)),
    );
    let brier = |i: usize| {
        let error = |class: usize| log_p[[i, class]].exp() - f64::from(class == targets[i]);
        (0..classes).map(|class| error(class).powi(2)).sum()
    };
    metrics.insert("brier", over_rows(&brier));
    metrics.insert(
        "entropy",
        over_rows(&|i| -log_p.row(i).iter().map(|l| l.exp() * l).sum::<f64>()),
    );
    insert_auroc(&mut metrics, &log_p, targets);
    Ok(metrics)
}

/// Macro average one-vs-rest. The score of class `c` is `ln p̄_c − ln (1 − p̄_c)`: the same order as `p̄_c`, and not
/// flat where `p̄_c` rounds to 0 or 1.
fn insert_auroc(metrics: &mut Metrics, log_p: &Array2<f64>, targets: &[usize]) {
    let classes = log_p.ncols();
    let mut sum = Some(0.0);
    for class in 0..classes {
        let rest = |row: usize| {
            log_sum_exp(
                (0..classes)
                    .filter(|c| *c != class)
                    .map(|c| log_p[[row, c]]),
            )
        };
        let scores: Vec<f64> = (0..targets.len())
            .map(|row| log_p[[row, class]] - rest(row))
            .collect();
        let positive: Vec<bool> = targets.iter().map(|&target| target == class).collect();
        let area = auroc(&scores, &positive);
        if area.is_none() {
            let which = if positive.contains(&true) {
                "all of"
            } else {
                "absent from"
            };
            metrics
                .warnings
                .push(format!("auroc: class {class} is {which} the test part"));
        }
        sum = sum.zip(area).map(|(sum, area)| sum + area);
    }
    metrics.insert("auroc", sum.map(|sum| sum / classes as f64));
}

/// `z − logsumexp_c z`, row by row.
fn log_softmax_rows(logits: &Array2<f64>) -> Array2<f64> {
    let view: ArrayView2<'_, f64> = logits.view();
    let normalisers = view.map_axis(Axis(1), |row| log_sum_exp(row.iter().copied()));
    logits - &normalisers.insert_axis(Axis(1))
}

/// `ln Σ exp x`, stable; −∞ for nothing.
fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let greatest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if greatest == f64::NEG_INFINITY {
        return greatest;
    }
    greatest
        + values
            .map(|value| (value - greatest).exp())
            .sum::<f64>()
            .ln()
}

/// Index of the greatest value, the first one among equals.
pub(super) fn argmax(values: impl Iterator<Item = f64>) -> usize {
    let (mut best, mut index) = (f64::NEG_INFINITY, 0);
    for (i, value) in values.enumerate() {
        if value > best {
            (best, index) = (value, i);
        }
    }
    index
}

#[cfg(test)]
#[path = "classification_tests.rs"]
mod tests;
