//! From a fitted ensemble to predictions in original units, by the predictive density that was asked for.

use ndarray::{Array2, ArrayView2};
use svn_models::ensemble::best_noise_variance;
use svn_models::fit::Fit;
use svn_models::likelihood::Gaussian;
use svn_models::{Likelihood, Prediction};

use super::{failed, required};
use crate::data::Task;
use crate::experiment::{FoldJob, Part, Predictive, RunError};
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

/// The members' class probabilities, at the temperature that suits the validation rows best if that is asked for.
fn classes(job: &FoldJob, fit: &Fit, test: Option<&Part>) -> Result<Measured, RunError> {
    let predict = |part: &Part| fit.ensemble.predict_classes(part.x.view()).map_err(failed);
    let (mut temperature, mut validation_nll) = (None, None);
    if job.settings.temperature == Some(true) {
        let (prediction, targets) = (predict(&job.validation)?, job.validation.y.view());
        let best = prediction.best_temperature(targets).map_err(failed)?;
        let scaled = prediction.with_temperature(best);
        validation_nll = Some(scaled.negative_log_likelihood(targets).map_err(failed)?);
        temperature = Some(best);
    }
    let test = match test {
        None => None,
        Some(part) => {
            let mut prediction = predict(part)?;
            if let Some(temperature) = temperature {
                prediction = prediction.with_temperature(temperature);
            }
            let logits = ClassPrediction::new(prediction.logits().to_owned()).map_err(failed)?;
            let mut metrics = classification_metrics(&logits, &part.classes()).map_err(failed)?;
            if let Some(temperature) = temperature {
                let key = "temperature".to_owned();
                metrics.values.insert(key, Some(temperature));
            }
            Some(metrics)
        }
    };
    Ok(Measured {
        test,
        validation_nll,
    })
}

/// A regression ensemble of a job.
struct Regression<'a> {
    job: &'a FoldJob,
    fit: &'a Fit,
}

impl Regression<'_> {
    fn measure(&self, test: Option<&Part>) -> Result<Measured, RunError> {
        let predictive = self.job.settings.predictive;
        let kind = predictive.unwrap_or(Predictive::Moments);
        let laplace = match kind {
            Predictive::Moments => None,
            Predictive::Epistemic | Predictive::Laplace => Some(self.laplace(test)?),
        };
        let [validation_laplace, test_laplace] =
            laplace.map_or([None, None], |[a, b]| [Some(a), Some(b)]);
        let mut common_noise = None;
        let mut validation_nll = None;
        if kind == Predictive::Laplace {
            let mut prediction = self.predict(&self.job.validation)?;
            let laplace = validation_laplace.unwrap_or_default();
            common_noise = self.common_noise(&prediction, laplace.view());
            if let Some(noise) = common_noise {
                prediction.noise_variances.fill(noise);
            }
            prediction.noise_variances += &laplace;
            let nll = prediction.negative_log_likelihood(self.job.validation.y.view());
            validation_nll = Some(nll + self.job.target_scaler.scale.ln());
        }
        let test = match test {
            None => None,
            Some(part) => {
                let mut prediction = self.predict(part)?;
                if let Some(noise) = common_noise {
                    prediction.noise_variances.fill(noise);
                }
                if kind == Predictive::Laplace
                    && let Some(laplace) = &test_laplace
                {
                    prediction.noise_variances += laplace;
                }
                let prediction = self.in_original_units(prediction, test_laplace)?;
                Some(regression_metrics(&prediction, part.original_y.view()).map_err(failed)?)
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

    /// Of the validation and the test part; no rows of the latter if there is none.
    fn laplace(&self, test: Option<&Part>) -> Result<[Array2<f64>; 2], RunError> {
        let job = self.job;
        let precision = required(job.settings.prior_precision, "prior-precision")?;
        let none = Array2::zeros((0, job.train.x.ncols()));
        let test = test.map_or(none.view(), |part| part.x.view());
        let found = self
            .fit
            .ensemble
            .laplace_variances(
                job.train.x.view(),
                precision,
                &[job.validation.x.view(), test],
            )
            .map_err(failed)?;
        <[Array2<f64>; 2]>::try_from(found)
            .map_err(|_| RunError::Unsupported("one Laplace variance for each part".to_owned()))
    }

    /// A common noise is the one that suits the validation rows best, given spread and Laplace variance.
    fn common_noise(&self, prediction: &Prediction, laplace: ArrayView2<'_, f64>) -> Option<f64> {
        let Likelihood::Gaussian(_) = self.fit.ensemble.likelihood() else {
            return None;
        };
        let errors = (&self.job.validation.y - &prediction.mean()).mapv(|error| error * error);
        let members = laplace.nrows().max(1) as f64;
        let variance = prediction.spread() + laplace.sum_axis(ndarray::Axis(0)) / members;
        Some(best_noise_variance(
            errors.view(),
            variance.view(),
            Gaussian::FLOOR,
        ))
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
