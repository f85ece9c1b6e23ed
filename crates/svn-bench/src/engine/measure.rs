//! Metrics of a model on the test part of a fold, in original units, by its predictive density.

use svn_models::Predicted;

use super::{Fold, Model, RunError};
use crate::metrics::{Metrics, classification_metrics, regression_metrics};

/// The common metrics, and what the model has chosen on validation rows beside them; of numbers, where rows were set aside to choose on, the CRPS of these as
/// well: who compares methods by it should not have to look at the test part.
pub(super) fn measure(
    model: &dyn Model,
    fold: &Fold,
    set_aside: bool,
) -> Result<(Metrics, Predicted), RunError> {
    let test = &fold.test;
    let x = test.x.view();
    let (metrics, predicted) = match fold.labels {
        Some(_) => {
            let prediction = model.predict_classes(x).map_err(RunError::failed)?;
            let metrics = classification_metrics(&prediction, &test.classes());
            (metrics, Predicted::Classes(prediction))
        }
        None => {
            let prediction = model.predict(x).map_err(RunError::failed)?;
            // Of a density that has them they are known already.
            let laplace = match prediction.laplace_variances() {
                Some(variances) => Some(variances.to_owned()),
                None => model.laplace_variances(x).map_err(RunError::failed)?,
            };
            let laplace = laplace.as_ref().map(|variances| variances.view());
            let metrics = regression_metrics(&prediction, laplace, test.y.view());
            (metrics, Predicted::Numbers(prediction))
        }
    };
    let mut metrics = metrics.map_err(RunError::failed)?;
    if set_aside && fold.labels.is_none() {
        let (x, y) = (fold.validation.x.view(), fold.validation.y.view());
        let prediction = model.predict(x).map_err(RunError::failed)?;
        let crps = prediction.crps(y).map_err(RunError::failed)?;
        metrics
            .values
            .insert("validation_crps".to_owned(), crps.mean());
    }
    for (key, value) in model.chosen() {
        metrics.values.insert(key, Some(value));
    }
    Ok((metrics, predicted))
}
