//! Checks of arrays that come from outside.

use ndarray::{ArrayView1, ArrayView2};

use crate::{LabelEncoding, ModelError};

/// All finite.
pub(super) fn check_features(x: ArrayView2<'_, f64>) -> Result<(), ModelError> {
    match x.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(ModelError::Cell {
            what: format!("feature {column}"),
            row,
            value,
        }),
        None => Ok(()),
    }
}

/// At least two rows of at least one finite feature, and a target for each.
pub(super) fn check_rows(x: ArrayView2<'_, f64>, targets: usize) -> Result<(), ModelError> {
    let (rows, features) = x.dim();
    if targets != rows || rows < 2 || features == 0 {
        return Err(ModelError::Shape {
            what: "features beside the targets".into(),
            found: vec![rows, features],
            expected: vec![targets.max(2), features.max(1)],
        });
    }
    check_features(x)
}

/// All finite.
pub(super) fn check_targets(y: ArrayView1<'_, f64>) -> Result<(), ModelError> {
    match y.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((row, &value)) => Err(ModelError::Cell {
            what: "target".into(),
            row,
            value,
        }),
        None => Ok(()),
    }
}

/// One a row, at least two in all.
pub(super) fn check_groups(groups: &[usize], rows: usize) -> Result<(), ModelError> {
    if groups.len() != rows {
        return Err(ModelError::Shape {
            what: "groups beside the targets".into(),
            found: vec![groups.len()],
            expected: vec![rows],
        });
    }
    if groups.iter().all(|group| *group == groups[0]) {
        let expected = "at least 2 groups of rows";
        return Err(ModelError::setting("groups", 1, expected));
    }
    Ok(())
}

/// Whole numbers below the number of classes.
pub(super) fn check_indices(y: ArrayView1<'_, f64>, classes: usize) -> Result<(), ModelError> {
    let fits = |value: f64| value >= 0.0 && value < classes as f64 && value.fract() == 0.0;
    match y.iter().enumerate().find(|&(_, &value)| !fits(value)) {
        Some((row, &value)) => Err(ModelError::Cell {
            what: "class index".into(),
            row,
            value,
        }),
        None => Ok(()),
    }
}

/// At least two classes.
pub(super) fn check_classes(labels: &LabelEncoding) -> Result<(), ModelError> {
    match labels.classes() {
        [label] => Err(ModelError::OneClass {
            label: label.clone(),
        }),
        _ => Ok(()),
    }
}
