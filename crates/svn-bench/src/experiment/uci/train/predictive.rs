//! From a fitted ensemble to predictions in original units, by the predictive density that was asked for.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use svn_models::ensemble::best_noise_variance;
use svn_models::fit::Fit;
use svn_models::likelihood::Gaussian;
use svn_models::recipe::Predictive;
use svn_models::{Likelihood, Prediction};

use super::{failed, laplace};
use crate::data::Task;
use crate::experiment::{FoldJob, Part, RunError};
use crate::metrics::{
    ClassPrediction, Metrics, RegressionPrediction, classification_metrics, regression_metrics,
};

/// Metrics of the test part, and the validation NLL where it is not that of the best epoch.
pub(super) struct Measured {
    pub test: Option<Metrics>,
    pub validation_nll: Option<f64>,
}

/// Metrics of the test part, if there is one, and the validation NLL under the predictive density of the settings.
pub(super) fn measure(job: &FoldJob, fit: &Fit, test: Option<&Part>) -> Result<Measured, RunError> {
    match job.dataset.task {
        Task::Regression => Regression { job, fit }.measure(test),
        Task::Classification => classes(job, fit, test),
    }
}

/// Of the members' means, `N × rows`.
struct LaplaceVariances {
    precision: f64,
    validation: Array2<f64>,
    test: Array2<f64>,
}

/// The members' class probabilities: averaged over their Laplace approximations, and at the temperature that suits the
/// validation rows best, where that is asked for.
fn classes(job: &FoldJob, fit: &Fit, test: Option<&Part>) -> Result<Measured, RunError> {
    let predict = |part: &Part| fit.ensemble.predict_classes(part.x.view()).map_err(failed);
    let (laplace, temperature) = (
        job.settings.predictive == Some(Predictive::Laplace),
        job.settings.temperature == Some(true),
    );
    let mut validation = predict(&job.validation)?;
    let mut test_prediction = test.map(predict).transpose()?;
    let targets = job.validation.y.view();
    let mut chosen = Vec::new();
    if laplace {
        let curvature = fit.ensemble.laplace(job.train.x.view()).map_err(failed)?;
        let part = laplace::sample(job);
        let plain = predict(&part)?;
        let precision = laplace::best_precision(&curvature, part.x.view(), |variances| {
            plain
                .with_logit_variances(variances.view())
                .and_then(|shrunk| shrunk.negative_log_likelihood(part.y.view()))
                .map_err(failed)
        })?;
        chosen.push(("laplace_precision", precision));
        let parts = [
            Some((&mut validation, &job.validation)),
            test_prediction.as_mut().zip(test),
        ];
        for (prediction, part) in parts.into_iter().flatten() {
            let variances = laplace::variances(&curvature, precision, part)?;
            *prediction = prediction
                .with_logit_variances(variances.view())
                .map_err(failed)?;
        }
    }
    if temperature {
        let best = validation.best_temperature(targets).map_err(failed)?;
        chosen.push(("temperature", best));
        validation = validation.with_temperature(best);
        test_prediction = test_prediction.map(|prediction| prediction.with_temperature(best));
    }
    let validation_nll = match chosen.is_empty() {
        true => None,
        false => Some(
            validation
                .negative_log_likelihood(targets)
                .map_err(failed)?,
        ),
    };
    let test = match test.zip(test_prediction) {
        None => None,
        Some((part, prediction)) => {
            let logits = ClassPrediction::new(prediction.logits().to_owned()).map_err(failed)?;
            let mut metrics = classification_metrics(&logits, &part.classes()).map_err(failed)?;
            insert(&mut metrics, &chosen);
            Some(metrics)
        }
    };
    Ok(Measured {
        test,
        validation_nll,
    })
}

/// What was chosen on validation rows, reported beside the metrics.
fn insert(metrics: &mut Metrics, chosen: &[(&str, f64)]) {
    for (key, value) in chosen {
        metrics.values.insert((*key).to_owned(), Some(*value));
    }
}

/// A regression ensemble of a job.
struct Regression<'a> {
    job: &'a FoldJob,
    fit: &'a Fit,
}

impl Regression<'_> {
    fn measure(&self, test: Option<&Part>) -> Result<Measured, RunError> {
        let kind = self.job.settings.predictive.unwrap_or(Predictive::Moments);
        let is_laplace = kind == Predictive::Laplace;
        // Epistemic variances are for the test metrics alone.
        let wanted = is_laplace || (kind == Predictive::Epistemic && test.is_some());
        let laplace = wanted.then(|| self.laplace(kind, test)).transpose()?;
        let mut common_noise = None;
        let mut validation_nll = None;
        if let Some(laplace) = laplace.as_ref().filter(|_| is_laplace) {
            let mut prediction = self.predict(&self.job.validation)?;
            let targets = self.job.validation.y.view();
            common_noise = self.widen(&mut prediction, laplace.validation.view(), targets);
            let nll = prediction.negative_log_likelihood(targets);
            validation_nll = Some(nll + self.job.target_scaler.scale.ln());
        }
        let test = match test {
            None => None,
            Some(part) => {
                let mut prediction = self.predict(part)?;
                if let Some(noise) = common_noise {
                    prediction.noise_variances.fill(noise);
                }
                if let Some(laplace) = laplace.as_ref().filter(|_| is_laplace) {
                    prediction.noise_variances += &laplace.test;
                }
                let variances = laplace.as_ref().map(|laplace| laplace.test.clone());
                let prediction = self.in_original_units(prediction, variances)?;
                let mut metrics =
                    regression_metrics(&prediction, part.original_y.view()).map_err(failed)?;
                if let Some(laplace) = laplace {
                    insert(&mut metrics, &[("laplace_precision", laplace.precision)]);
                }
                Some(metrics)
            }
        };
        Ok(Measured {
            test,
            validation_nll,
        })
    }

    fn predict(&self, part: &Part) -> Result<Prediction, RunError> {
        self.fit.ensemble.predict(part.x.view()).map_err(failed)
    }

    /// Variances under the prior precision that suits the validation rows best: for what the predictive density is made of.
    fn laplace(&self, kind: Predictive, test: Option<&Part>) -> Result<LaplaceVariances, RunError> {
        let job = self.job;
        let curvature = self
            .fit
            .ensemble
            .laplace(job.train.x.view())
            .map_err(failed)?;
        let part = laplace::sample(job);
        let plain = self.predict(&part)?;
        let targets = part.y.view();
        let precision = laplace::best_precision(&curvature, part.x.view(), |variances| {
            let mut prediction = plain.clone();
            let variances = variances.index_axis(Axis(2), 0);
            if kind == Predictive::Laplace {
                self.widen(&mut prediction, variances, targets);
            } else {
                prediction.noise_variances.assign(&variances);
            }
            Ok(prediction.negative_log_likelihood(targets))
        })?;
        let of = |part: &Part| -> Result<Array2<f64>, RunError> {
            let variances = laplace::variances(&curvature, precision, part)?;
            Ok(variances.index_axis_move(Axis(2), 0))
        };
        Ok(LaplaceVariances {
            precision,
            validation: of(&job.validation)?,
            test: match test {
                Some(part) => of(part)?,
                None => Array2::zeros((plain.means.nrows(), 0)),
            },
        })
    }

    /// Adds the Laplace variances to the noise. A common noise becomes the one that suits the targets best, given spread and
    /// Laplace variance, and is returned.
    fn widen(
        &self,
        prediction: &mut Prediction,
        laplace: ArrayView2<'_, f64>,
        targets: ArrayView1<'_, f64>,
    ) -> Option<f64> {
        let mut noise = None;
        if let Likelihood::Gaussian(_) = self.fit.ensemble.likelihood() {
            let errors = (&targets - &prediction.mean()).mapv(|error| error * error);
            let members = laplace.nrows().max(1) as f64;
            let variance = prediction.spread() + laplace.sum_axis(Axis(0)) / members;
            let best = best_noise_variance(errors.view(), variance.view(), Gaussian::FLOOR);
            prediction.noise_variances.fill(best);
            noise = Some(best);
        }
        prediction.noise_variances += &laplace;
        noise
    }

    fn in_original_units(
        &self,
        prediction: Prediction,
        laplace: Option<Array2<f64>>,
    ) -> Result<RegressionPrediction, RunError> {
        let scaler = &self.job.target_scaler;
        RegressionPrediction::new(
            scaler.inverse_means(prediction.means),
            scaler.inverse_variances(prediction.noise_variances),
            laplace.map(|variances| scaler.inverse_variances(variances)),
        )
        .map_err(failed)
    }
}
