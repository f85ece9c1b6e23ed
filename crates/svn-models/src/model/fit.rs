//! From arrays to an ensemble: checks, split, scaling, training, density.

use ndarray::{Array1, ArrayView1, ArrayView2, Axis, concatenate};

use super::split::{Split, split};
use super::{Builder, Ensemble, Target, Training, data};
use crate::fit::{EpochReport, Observer, Part, Start, Within};
use crate::predictive::Predictor;
use crate::recipe::{Head, Problem, Recipe};
use crate::scaling::{FeatureScaler, TargetScaler};
use crate::{LabelEncoding, ModelError, Rows, Task};

impl Builder<'_> {
    /// Train on the rows of `x`, some of them set aside for validation.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`.
    ///
    /// # Errors
    /// As for [`Ensemble::fit`], and [`ModelError::Setting`] for a setting out of range or a single group.
    pub fn fit(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        task: Task,
    ) -> Result<Ensemble, ModelError> {
        data::check_rows(x, y.len())?;
        data::check_targets(y)?;
        match task {
            Task::Regression => self.fit_split(x, y, None),
            Task::Classification => self.fit_labels(x, &names(y)),
        }
    }

    /// [`fit`](Self::fit) of classes by their names.
    ///
    /// # Shapes
    /// `x`: `n × p`, `labels`: `n`.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit).
    pub fn fit_labels(
        self,
        x: ArrayView2<'_, f64>,
        labels: &[impl AsRef<str>],
    ) -> Result<Ensemble, ModelError> {
        data::check_rows(x, labels.len())?;
        let (labels, classes) = encoded(labels)?;
        self.fit_split(x, classes.view(), Some(labels))
    }

    /// [`fit`](Self::fit) with validation rows of one's own.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`; of validation `m × p` and `m`.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit), [`ModelError::UnknownLabel`] for a class that is in the validation rows alone.
    pub fn fit_with(
        self,
        (x, y): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        validation: (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        task: Task,
    ) -> Result<Ensemble, ModelError> {
        if self.groups.is_some() {
            let expected = "none beside validation rows of your own";
            return Err(ModelError::setting("groups", "given", expected));
        }
        let (vx, vy) = validation;
        data::check_rows(x, y.len())?;
        data::check_targets(y)?;
        if vx.nrows() != vy.len() || vy.is_empty() || vx.ncols() != x.ncols() {
            return Err(ModelError::Shape {
                what: "validation features beside their targets".into(),
                found: vx.shape().to_vec(),
                expected: vec![vy.len().max(1), x.ncols()],
            });
        }
        data::check_features(vx)?;
        data::check_targets(vy)?;
        let (labels, y, vy) = match task {
            Task::Regression => (None, y.to_owned(), vy.to_owned()),
            Task::Classification => {
                let (labels, classes) = encoded(&names(y))?;
                let vy = indices(&labels, &names(vy))?;
                (Some(labels), classes, vy)
            }
        };
        self.fit_parts((x, y.view()), (vx, vy.view()), labels)
    }

    /// [`fit_with`](Self::fit_with) of classes by their index among `labels`, so that a class may be in few of the rows or none.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`; of validation `m × p` and `m`.
    ///
    /// # Errors
    /// As for [`fit_with`](Self::fit_with); [`ModelError::Cell`] for what is no index of a label.
    pub fn fit_classes(
        self,
        (x, y): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        (vx, vy): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        labels: &LabelEncoding,
    ) -> Result<Ensemble, ModelError> {
        data::check_rows(x, y.len())?;
        data::check_features(vx)?;
        data::check_classes(labels)?;
        for y in [y, vy] {
            data::check_indices(y, labels.len())?;
        }
        self.fit_parts((x, y), (vx, vy), Some(labels.clone()))
    }

    /// Go on from a trained ensemble, with its network, scaling and labels, on other rows.
    pub(super) fn go_on(
        mut self,
        before: Ensemble,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
    ) -> Result<Ensemble, ModelError> {
        data::check_rows(x, y.len())?;
        data::check_targets(y)?;
        let resolved = &before.resolved;
        self.method = resolved.method;
        self.network = resolved.problem.network.clone();
        // Few rows may be less than a batch.
        let batch = resolved
            .recipe
            .batch_size
            .map(|size| size.min(y.len().div_ceil(2)));
        self.recipe = self.recipe.or(&Recipe {
            batch_size: batch,
            ..resolved.recipe.clone()
        });
        self.feature_names = before.feature_names.clone();
        let (labels, y) = match &before.target {
            Target::Number(_) => (None, y.to_owned()),
            Target::Classes(labels) => (Some(labels.clone()), indices(labels, &names(y))?),
        };
        self.goes_on = Some(before);
        self.fit_split(x, y.view(), labels)
    }

    /// Targets are numbers, or indices of `labels`.
    fn fit_split(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        labels: Option<LabelEncoding>,
    ) -> Result<Ensemble, ModelError> {
        let groups = self.groups.as_deref();
        if let Some(groups) = groups {
            data::check_groups(groups, y.len())?;
        }
        if self.in_folds() {
            return self.fit_folds(x, y, labels);
        }
        if self.by_evidence() {
            return self.fit_evidence(x, y, labels);
        }
        let share = self.validation_share;
        if !(share > 0.0 && share < 1.0) {
            let expected = "above 0 and below 1";
            return Err(ModelError::setting("validation share", share, expected));
        }
        let strata: Option<Vec<usize>> = labels
            .as_ref()
            .map(|_| y.iter().map(|&class| class as usize).collect());
        let Split { train, validation } =
            split(y.len(), share, strata.as_deref(), groups, self.seed);
        if validation.is_empty() {
            let expected = "at least 2 rows of a class, or validation rows of your own";
            return Err(ModelError::setting("rows", y.len(), expected));
        }
        let part = |rows: &[usize]| (x.select(Axis(0), rows), y.select(Axis(0), rows));
        let (train, aside) = (part(&train), part(&validation));
        let mut ensemble = self.fit_parts(
            (train.0.view(), train.1.view()),
            (aside.0.view(), aside.1.view()),
            labels,
        )?;
        ensemble.training.set_aside = validation;
        Ok(ensemble)
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

    pub(super) fn check_names(&self, columns: usize) -> Result<(), ModelError> {
        match &self.feature_names {
            Some(names) if names.len() != columns => {
                let expected = format!("{columns}, one a column");
                Err(ModelError::setting("feature names", names.len(), &expected))
            }
            _ => Ok(()),
        }
    }

    fn fit_parts(
        self,
        (x, y): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        (vx, vy): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        labels: Option<LabelEncoding>,
    ) -> Result<Ensemble, ModelError> {
        if self.in_folds() || self.by_evidence() {
            let joined = |parts: &[_]| concatenate(Axis(0), parts);
            let (Ok(x), Ok(y)) = (joined(&[x, vx]), concatenate(Axis(0), &[y, vy])) else {
                let expected = "of as many columns as the training rows";
                return Err(ModelError::setting("validation rows", "others", expected));
            };
            return match self.by_evidence() {
                true => self.fit_evidence(x.view(), y.view(), labels),
                false => self.fit_folds(x.view(), y.view(), labels),
            };
        }
        self.check_names(x.ncols())?;
        let validation = Some((vx, vy));
        if labels.is_none() && self.is_undecided() {
            let fit = |builder: Builder<'_>| builder.fit_rows((x, y), validation, None);
            return self.race_likelihoods(y, fit);
        }
        self.fit_rows((x, y), validation, labels)
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
        let problem = Problem {
            network: self.network.clone(),
            rows: train.len(),
            features: train.width(),
            classes: labels.as_ref().map(LabelEncoding::len),
        };
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
            let settings = resolved.fit_settings(self.device, self.seed)?;
            let (with_noise, log) = members.with_evidence(settings.prior_precision, &train)?;
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

/// Classes of labels, and the index of each label.
fn encoded(labels: &[impl AsRef<str>]) -> Result<(LabelEncoding, Array1<f64>), ModelError> {
    let encoding = LabelEncoding::fit(labels.iter().map(AsRef::as_ref));
    data::check_classes(&encoding)?;
    let classes = indices(&encoding, labels)?;
    Ok((encoding, classes))
}

fn indices(
    encoding: &LabelEncoding,
    labels: &[impl AsRef<str>],
) -> Result<Array1<f64>, ModelError> {
    let index = |label: &_| Ok(encoding.encode(AsRef::as_ref(label))? as f64);
    labels.iter().map(index).collect()
}

/// Classes by number as text.
fn names(y: ArrayView1<'_, f64>) -> Vec<String> {
    y.iter().map(f64::to_string).collect()
}
