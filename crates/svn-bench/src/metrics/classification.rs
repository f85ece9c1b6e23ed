//! Metrics of a classification ensemble; definitions in the [module's table](crate::metrics).
//!
//! Everything is done on logarithms, `ln p̄_c = logsumexp_p(z_pc − logsumexp_c z_pc) − ln N`, so that a probability
//! that underflows still has its logarithm.

use ndarray::Array2;
use svn_models::ClassPrediction;
use svn_models::members::log_sum_exp;

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
    let log_p_of_mean = prediction.log_softmax_of_mean_logit();
    let over_rows = |term: &dyn Fn(usize) -> f64| Some((0..n).map(term).sum::<f64>() / n as f64);

    let mut metrics = Metrics::default();
    metrics.insert("nll", over_rows(&|i| -log_p[[i, targets[i]]]));
    metrics.insert("nll_logit", over_rows(&|i| -log_p_of_mean[[i, targets[i]]]));
    let predicted = prediction.most_probable();
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
    metrics.insert("entropy", prediction.entropy().mean());
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

#[cfg(test)]
#[path = "classification_tests.rs"]
mod tests;
