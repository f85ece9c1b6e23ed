//! How good a model is on its validation rows, beside what people compare with.

use std::collections::BTreeSet;

use ndarray::Axis;
use svn_models::recipe::Method;
use svn_models::{Ensemble, Prediction};

use super::bootstrap::metrics;
use super::importance::importance;
use super::kept::{Coverage, Score};
use super::{Conformal, Importance, Novelty, TabularError, Truth, baselines, predicted};
use crate::data::Learned;
use crate::engine::{Predicted, RunError};
use crate::metrics::{ReliabilityBin, reliability};

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

/// Measure everything on the rows that were set aside, or on all of them by members that have not seen them; nothing where all were trained on.
///
/// # Errors
/// [`TabularError::Model`], [`TabularError::Run`].
pub(super) fn judge(
    ensemble: &Ensemble,
    method: Method,
    learned: &Learned,
    truth: &Truth,
) -> Result<Judged, TabularError> {
    let training = ensemble.training();
    let classes = ensemble.labels().len();
    // What each row is judged in: the rows of a part are predicted by what was trained on all others.
    let (part, judged): (Vec<usize>, Vec<usize>) = match &training.out_of_fold {
        Some(out_of_fold) => (out_of_fold.folds.clone(), (0..truth.len()).collect()),
        None => {
            let aside = |row: usize| training.set_aside.binary_search(&row).is_ok();
            let part = (0..truth.len()).map(|row| usize::from(!aside(row)));
            (part.collect(), training.set_aside.clone())
        }
    };
    if judged.is_empty() {
        return unjudged(ensemble, learned);
    }
    let vx = learned.x.select(Axis(0), &judged);
    let y = &truth.select(&judged);
    let found = match &training.out_of_fold {
        Some(out_of_fold) => out_of_fold.predicted.clone(),
        None => predicted(ensemble, vx.view())?,
    };
    let (mut linear, mut constant) = (Vec::new(), Vec::new());
    let parts: BTreeSet<usize> = judged.iter().map(|&row| part[row]).collect();
    for own in parts {
        let others: Vec<usize> = (0..truth.len()).filter(|&row| part[row] != own).collect();
        let places: Vec<usize> = (0..judged.len())
            .filter(|&at| part[judged[at]] == own)
            .collect();
        let (x, others) = (learned.x.select(Axis(0), &others), truth.select(&others));
        let at = vx.select(Axis(0), &places);
        let by_line = baselines::linear(x.view(), &others, classes, at.view())?;
        let by_none = baselines::constant(&others, classes, places.len())?;
        linear.push((places.clone(), by_line));
        constant.push((places, by_none));
    }
    let (linear, constant) = (Predicted::gather(linear)?, Predicted::gather(constant)?);
    let score = |model: String, predicted: &Predicted| {
        let metrics = metrics(predicted, y)?.values;
        Ok::<_, RunError>(Score { model, metrics })
    };
    let weight = ensemble.linear_weight();
    let name = match weight > 0.0 {
        true => format!("{method} + {:.0} % linear", 100.0 * weight),
        false => method.to_string(),
    };
    let scores = vec![
        score(name, &found)?,
        score(baselines::linear_name(y).to_owned(), &linear)?,
        score(baselines::constant_name(y).to_owned(), &constant)?,
    ];
    let (coverage, conformal) = match (&found, y) {
        (Predicted::Numbers(prediction), Truth::Numbers(y)) => {
            (coverage(prediction, y)?, Some(conformal(prediction, y)))
        }
        _ => (Vec::new(), None),
    };
    let reliability = match (&found, y) {
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
        importance: importance(ensemble, vx.view(), y, &learned.schema.columns())?,
    })
}

/// Of a model without validation rows: how much its members disagree at the rows that it was trained on.
fn unjudged(ensemble: &Ensemble, learned: &Learned) -> Result<Judged, TabularError> {
    let said = predicted(ensemble, learned.x.view())?;
    let text = "all rows were trained on: no row judges the model, and novelty is a rank among them; `svn evaluate` judges it on others";
    Ok(Judged {
        scores: Vec::new(),
        coverage: Vec::new(),
        reliability: Vec::new(),
        conformal: match &said {
            Predicted::Numbers(_) => Some(Conformal::new(Vec::new())),
            Predicted::Classes(_) => None,
        },
        novelty: Novelty::new(&said),
        importance: Vec::new(),
        warnings: vec![text.to_owned()],
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
