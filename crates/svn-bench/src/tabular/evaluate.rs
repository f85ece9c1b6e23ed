//! How good a model is on a file that it has not seen.

use std::collections::BTreeMap;
use std::path::Path;

use ndarray::{Array2, ArrayView2};
use svn_models::{Ensemble, Task};

use super::judge::coverage;
use super::kept::{Coverage, Kept};
use super::{Measured, TabularError, Truth, bootstrap, predicted};
use crate::data::{Outcome, Reading, TableReader, TargetCell};
use crate::engine::{Predicted, RunError};
use crate::metrics::{ReliabilityBin, reliability};
use crate::terminal::print::escaped as shown;

/// What was found.
#[derive(Debug)]
pub struct Evaluation {
    /// Rows that were measured.
    pub rows: usize,
    /// Rows that were not, for missing cells or a missing target.
    pub left_out: usize,
    /// By key, with intervals by the bootstrap.
    pub metrics: BTreeMap<String, Measured>,
    /// How often intervals held the target; none for classes.
    pub coverage: Vec<Coverage>,
    /// How often a class was right; none for numbers.
    pub reliability: Vec<ReliabilityBin>,
    /// Mean, standard deviation and target of each row; none for classes.
    pub points: Vec<[f64; 3]>,
    /// What should be known of the file.
    pub notes: Vec<String>,
}

/// Predict the rows of a file and compare with its targets.
///
/// # Errors
/// As for [`predict`](super::predict()); [`TabularError::Option`] for a file without a row that can be measured.
pub fn evaluate(
    (ensemble, kept): (&Ensemble, &Kept),
    input: &Path,
) -> Result<Evaluation, TabularError> {
    let mut reader = TableReader::open(input, &Reading::default())?;
    let mut matched = kept.schema.matched(reader.columns(), input)?;
    if !matched.has_target() {
        let (file, target) = (input.display(), shown(kept.schema.target()));
        let text = format!("{file}: no column `{target}`, the target; `svn predict` needs none");
        return Err(TabularError::Option(text));
    }
    let width = kept.schema.width();
    let (mut features, mut left_out, mut unknown) = (Vec::new(), 0, 0);
    let mut truth = match ensemble.task() {
        Task::Regression => Truth::Numbers(Vec::new()),
        Task::Classification => Truth::Classes(Vec::new()),
    };
    let mut buffer = vec![0.0; width];
    while let Some(row) = reader.next()? {
        let target = matched.target(&row)?;
        let full = matches!(matched.features(&row, &mut buffer)?, Outcome::Full);
        match (target, &mut truth) {
            (Some(TargetCell::Number(value)), Truth::Numbers(y)) if full => y.push(value),
            (Some(TargetCell::Label(label)), Truth::Classes(y)) if full => {
                match ensemble.class_of(&label) {
                    Some(class) => y.push(class),
                    None => {
                        (left_out, unknown) = (left_out + 1, unknown + 1);
                        continue;
                    }
                }
            }
            _ => {
                left_out += 1;
                continue;
            }
        }
        features.extend_from_slice(&buffer);
    }
    let mut notes = reader.notes();
    notes.extend(matched.told().iter().map(ToString::to_string));
    if unknown > 0 {
        notes.push(format!(
            "{unknown} rows have a class that the model does not know and are left out"
        ));
    }
    let rows = features.len() / width.max(1);
    if rows == 0 {
        let text = format!("{}: no row with a target and all cells", input.display());
        return Err(TabularError::Option(text));
    }
    let x: Array2<f64> = ArrayView2::from_shape((rows, width), &features)
        .map_err(RunError::failed)?
        .to_owned();
    let found = predicted(ensemble, x.view())?;
    let mut evaluation = Evaluation {
        rows,
        left_out,
        metrics: bootstrap(&found, &truth)?,
        coverage: Vec::new(),
        reliability: Vec::new(),
        points: Vec::new(),
        notes,
    };
    match (&found, &truth) {
        (Predicted::Numbers(prediction), Truth::Numbers(y)) => {
            evaluation.coverage = coverage(prediction, y)?;
            let (mean, sd) = (prediction.mean(), prediction.sd());
            let points = mean.iter().zip(&sd).zip(y);
            evaluation.points = points.map(|((mean, sd), y)| [*mean, *sd, *y]).collect();
        }
        (Predicted::Classes(prediction), Truth::Classes(y)) => {
            evaluation.reliability = reliability(prediction, y).map_err(RunError::failed)?;
        }
        _ => {}
    }
    Ok(evaluation)
}
