//! From arrays to an ensemble: checks and split, before [one fit](super::single) or several.

use ndarray::{Array1, ArrayView1, ArrayView2, Axis, concatenate};

use super::split::{Split, split};
use super::{Builder, Ensemble, Target, data};
use crate::recipe::Recipe;
use crate::{LabelEncoding, ModelError, Task};

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
