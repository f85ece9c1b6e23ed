//! How good a model is on its validation rows, beside what people compare with.

use ndarray::Array2;
use svn_models::recipe::Method;
use svn_models::{Ensemble, Prediction};

use super::bootstrap::metrics;
use super::importance::importance;
use super::kept::{Coverage, Score};
use super::{Conformal, Importance, Novelty, TabularError, Truth, baselines, predicted};
use crate::data::Schema;
use crate::engine::{Predicted, RunError};
use crate::metrics::{ReliabilityBin, reliability};

/// Features and targets of either part.
#[derive(Debug)]
pub(super) struct Parts {
    pub training: (Array2<f64>, Truth),
    pub validation: (Array2<f64>, Truth),
}

/// What is found; see [`Kept`](super::Kept).
#[derive(Debug)]
pub(super) struct Judged {
    pub scores: Vec<Score>,
    pub coverage: Vec<Coverage>,
    pub reliability: Vec<ReliabilityBin>,
    pub conformal: Option<Conformal>,
    pub novelty: Novelty,
    pub importance: Vec<Importance>,
    pub warnings: Vec<String>,
}

/// Levels whose intervals are counted.
pub(super) const LEVELS: [f64; 11] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/// Measure everything on the validation rows.
///
/// # Errors
/// [`TabularError::Model`], [`TabularError::Run`].
pub(super) fn judge(
    ensemble: &Ensemble,
    method: Method,
    schema: &Schema,
    parts: &Parts,
) -> Result<Judged, TabularError> {
    let ((x, y), (vx, vy)) = (&parts.training, &parts.validation);
    let classes = ensemble.labels().len();
    let found = predicted(ensemble, vx.view())?;
    let linear = baselines::linear(x.view(), y, classes, vx.view())?;
    let constant = baselines::constant(y, classes, vx.nrows())?;
    let score = |model: &str, predicted: &Predicted| {
        let metrics = metrics(predicted, vy, None)?.values;
        let model = model.to_owned();
        Ok::<_, RunError>(Score { model, metrics })
    };
    let scores = vec![
        score(&method.to_string(), &found)?,
        score(baselines::linear_name(vy), &linear)?,
        score(baselines::constant_name(vy), &constant)?,
    ];
    let (coverage, conformal) = match (&found, vy) {
        (Predicted::Numbers(prediction), Truth::Numbers(y)) => {
            (coverage(prediction, y)?, Some(conformal(prediction, y)))
        }
        _ => (Vec::new(), None),
    };
    let reliability = match (&found, vy) {
        (Predicted::Classes(prediction), Truth::Classes(y)) => {
            reliability(prediction, y).map_err(RunError::failed)?
        }
        _ => Vec::new(),
    };
    Ok(Judged {
        warnings: warnings(&scores),
        scores,
        coverage,
        reliability,
        conformal,
        novelty: Novelty::new(&found),
        importance: importance(ensemble, vx.view(), vy, &schema.columns())?,
    })
}

/// What a reader has to know before the model is used.
fn warnings(scores: &[Score]) -> Vec<String> {
    let [model, linear, ..] = scores else {
        return Vec::new();
    };
    let (Some(ours), Some(theirs)) = (model.metric("nll"), linear.metric("nll")) else {
        return Vec::new();
    };
    if ours < theirs {
        return Vec::new();
    }
    vec![format!(
        "{} does not beat {} on the validation rows (NLL {ours:.4} and {theirs:.4} nats a row): use the linear model, or find better columns",
        model.model, linear.model
    )]
}

/// How often central intervals hold the target: where `|F(y) − ½| ≤ level / 2`.
///
/// # Errors
/// [`TabularError::Model`].
pub(super) fn coverage(prediction: &Prediction, y: &[f64]) -> Result<Vec<Coverage>, TabularError> {
    let places = prediction.cumulative(y.into())?;
    let of = |level: f64| {
        let held = places.iter().filter(|f| (*f - 0.5).abs() <= 0.5 * level);
        let share = held.count() as f64 / y.len().max(1) as f64;
        Coverage { level, share }
    };
    Ok(LEVELS.map(of).to_vec())
}

fn conformal(prediction: &Prediction, y: &[f64]) -> Conformal {
    let (mean, sd) = (prediction.mean(), prediction.sd());
    let scores = y.iter().zip(mean.iter().zip(&sd));
    Conformal::new(
        scores
            .map(|(y, (mean, sd))| (y - mean).abs() / sd)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ndarray::Array2;

    use super::*;

    #[test]
    fn coverage_is_that_of_central_intervals() {
        // Standard normal; 0.5 is within the central 0.3829, 1.5 within 0.8664, 2.5 within 0.9876.
        let prediction = Prediction::new(Array2::zeros((1, 3)), Array2::ones((1, 3))).unwrap();
        let found = coverage(&prediction, &[0.5, -1.5, 2.5]).unwrap();
        let share = |level| found.iter().find(|at| at.level == level).unwrap().share;
        assert_eq!(
            [0.3, 0.4, 0.8, 0.9, 0.99].map(share),
            [0.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]
        );
    }

    #[test]
    fn a_model_that_a_line_beats_is_told() {
        let score = |model: &str, nll| Score {
            model: model.to_owned(),
            metrics: BTreeMap::from([("nll".to_owned(), Some(nll))]),
        };
        let of = |ours, theirs| warnings(&[score("svn", ours), score("ridge regression", theirs)]);
        assert!(of(1.0, 1.1).is_empty());
        for (ours, theirs) in [(1.1, 1.0), (1.0, 1.0)] {
            assert!(of(ours, theirs)[0].contains("does not beat ridge regression"));
        }
    }
}
