//! Metrics of a fitted ensemble in original units, by the predictive density that was asked for.

use svn_models::Rows;
use svn_models::fit::Fit;
use svn_models::predictive::Predictor;
use svn_models::recipe::{Predictive, Recipe};

use super::{failed, rows};
use crate::data::Task;
use crate::experiment::{FoldJob, Part, RunError};
use crate::metrics::{Metrics, classification_metrics, regression_metrics};

/// Metrics of the test part, and the validation NLL where it is not that of the best epoch.
pub(super) struct Measured {
    pub test: Option<Metrics>,
    pub validation_nll: Option<f64>,
}

/// Metrics of the test part, if there is one, and the validation NLL under the predictive density of the settings.
pub(super) fn measure(job: &FoldJob, fit: &Fit, test: Option<&Part>) -> Result<Measured, RunError> {
    // Epistemic variances are for the test metrics alone.
    let unused = test.is_none() && job.settings.predictive == Some(Predictive::Epistemic);
    let recipe = Recipe {
        predictive: job.settings.predictive.filter(|_| !unused),
        ..job.settings.clone()
    };
    let validation: Rows = rows(&job.validation)?;
    let members = &fit.ensemble;
    let predictor = Predictor::new(members, &recipe, job.train.x.view(), &validation);
    let predictor = predictor.map_err(failed)?;
    let scaler = &job.target_scaler;
    let test = test.map(|part| -> Result<Metrics, RunError> {
        let features = part.x.view();
        let mut metrics = match job.dataset.task {
            Task::Classification => {
                let prediction = predictor
                    .predict_classes(members, features)
                    .map_err(failed)?;
                classification_metrics(&prediction, &part.classes())
            }
            Task::Regression => {
                let prediction = predictor.predict(members, features).map_err(failed)?;
                // Of a density that has them they are known already.
                let laplace = match prediction.laplace_variances() {
                    Some(variances) => Some(variances.to_owned()),
                    None => predictor
                        .laplace_variances(members, features)
                        .map_err(failed)?,
                };
                let laplace = laplace.map(|variances| scaler.inverse_variances(variances));
                regression_metrics(
                    &prediction.rescaled(scaler.mean, scaler.scale),
                    laplace.as_ref().map(|variances| variances.view()),
                    part.original_y.view(),
                )
            }
        }
        .map_err(failed)?;
        // What was chosen on validation rows stands beside the metrics.
        for (key, value) in [
            ("laplace_precision", predictor.laplace_precision()),
            ("temperature", predictor.temperature()),
        ] {
            if value.is_some() {
                metrics.values.insert(key.to_owned(), value);
            }
        }
        Ok(metrics)
    });
    Ok(Measured {
        test: test.transpose()?,
        validation_nll: predictor
            .validation_nll()
            .map(|nll| nll + super::original_units(job)),
    })
}
