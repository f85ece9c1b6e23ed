//! One fit: scaling, training, density, and what it is judged by.

use ndarray::{ArrayView1, ArrayView2};

use super::{Builder, Ensemble, Target, Training};
use crate::fit::{EpochReport, Observer, Part, Start, Within};
use crate::predictive::Predictor;
use crate::recipe::{Head, Problem};
use crate::scaling::{FeatureScaler, TargetScaler};
use crate::{LabelEncoding, ModelError, Rows};

impl Builder<'_> {
    /// What defaults follow from, for so many training rows and features.
    pub(super) fn problem(
        &self,
        (rows, features): (usize, usize),
        labels: Option<&LabelEncoding>,
    ) -> Problem {
        Problem {
            network: self.network.clone(),
            rows,
            features,
            classes: labels.map(LabelEncoding::len),
        }
    }

    pub(super) fn feature_scaler(
        &self,
        x: ArrayView2<'_, f64>,
    ) -> Result<FeatureScaler, ModelError> {
        Ok(match self.scaled {
            true => FeatureScaler::fit(x)?,
            false => FeatureScaler::identity(x.ncols()),
        })
    }

    /// Training rows with those at which functions are compared, if there are any.
    pub(super) fn with_context(
        &self,
        train: Rows,
        features: &FeatureScaler,
    ) -> Result<Rows, ModelError> {
        match &self.context {
            Some(context) => train.with_context(features.transform(context.view())?),
            None => Ok(train),
        }
    }

    /// Whole numbers stay whole; their likelihood standardises them.
    pub(super) fn target_scaler(&self, y: ArrayView1<'_, f64>) -> Result<TargetScaler, ModelError> {
        match self.recipe.likelihood {
            Some(Head::Ordinal) => Ok(TargetScaler::IDENTITY),
            _ => Ok(TargetScaler::fit(y)?),
        }
    }

    /// One fit; without validation rows the evidence is what it is judged by.
    pub(super) fn fit_rows(
        self,
        (x, y): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        validation: Option<(ArrayView2<'_, f64>, ArrayView1<'_, f64>)>,
        labels: Option<LabelEncoding>,
    ) -> Result<Ensemble, ModelError> {
        let (features, scaler) = match (self.goes_on.as_ref(), &labels) {
            (Some(before), None) => (before.features.clone(), before.scaler()),
            (Some(before), Some(_)) => (before.features.clone(), TargetScaler::IDENTITY),
            (None, Some(_)) => (self.feature_scaler(x)?, TargetScaler::IDENTITY),
            (None, None) => (self.feature_scaler(x)?, self.target_scaler(y)?),
        };
        let train = Rows::new(features.transform(x)?, scaler.transform(y))?;
        let train = self.with_context(train, &features)?;
        let aside = match validation {
            Some((x, y)) => Some(Rows::new(features.transform(x)?, scaler.transform(y))?),
            None => None,
        };
        let judging = aside.as_ref().unwrap_or(&train);
        let problem = self.problem((train.len(), train.width()), labels.as_ref());
        let resolved = self.resolved(&problem)?;
        // Scores are shown in the units of the target.
        let units = scaler.scale.ln();
        let nobody: &mut dyn Observer = &mut ();
        let mut watch = Within {
            observer: self.observer.unwrap_or(nobody),
            part: Part {
                units,
                ..Part::default()
            },
        };
        let start = match (self.checkpoint, &self.goes_on) {
            (Some(checkpoint), _) => Start::Checkpoint(checkpoint),
            (None, Some(before)) => Start::Members(&before.members),
            (None, None) => Start::Seed,
        };
        let rows = (&train, judging);
        let mut fit = resolved.fit(self.device, self.seed, rows, start, &mut watch)?;
        let (mut members, recipe) = (fit.ensemble, &resolved.recipe);
        let mut evidence = None;
        if aside.is_none() {
            let precision = recipe.prior_precision.unwrap_or(1.0);
            let (with_noise, log) = members.with_evidence(precision, &train)?;
            members = with_noise;
            evidence = Some(units - log / train.len() as f64);
        }
        let predictor = Predictor::new(&members, recipe, train.features(), judging)?;
        let of_best = |epoch: &&EpochReport| epoch.epoch == fit.best_epoch;
        let best = fit.history.iter().find(of_best);
        let nll = predictor
            .validation_nll()
            .or(best.and_then(|epoch| epoch.validation_nll));
        let nll = match (evidence, &labels, validation) {
            (Some(evidence), ..) => evidence,
            (None, None, Some((_, vy))) => {
                let said = predictor.predict(&members, judging.features())?;
                let said = said.rescaled(scaler.mean, scaler.scale);
                match self.trial {
                    Some(measure) => measure.score(&said, vy)?,
                    None => said.negative_log_density(vy)?,
                }
            }
            _ => nll.unwrap_or(f64::NAN),
        };
        for epoch in &mut fit.history {
            epoch.validation_nll = epoch.validation_nll.map(|nll| nll + units);
        }
        Ok(Ensemble {
            predictor,
            features,
            feature_names: self.feature_names,
            target: match labels {
                Some(labels) => Target::Classes(labels),
                None => Target::Number(scaler),
            },
            training: Training {
                train_rows: train.len(),
                validation_rows: aside.as_ref().map_or(0, Rows::len),
                set_aside: Vec::new(),
                out_of_fold: None,
                validation_nll: nll,
                tried: Vec::new(),
                best_epoch: fit.best_epoch,
                epochs: fit.history.len(),
                history: fit.history,
                step_times: fit.step_times,
                epoch_times: fit.epoch_times,
                ending: fit.ending,
            },
            members,
            linear: None,
            resolved,
        })
    }
}
