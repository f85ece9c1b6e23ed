//! Rows of features and targets, checked once when they enter.

use crate::ModelError;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// `n` rows of `p` features with one numeric target each, all finite, in the units the network sees
/// (usually standardised).
#[derive(Debug, Clone)]
pub struct Rows {
    features: Array2<f64>,
    targets: Array1<f64>,
    context: Option<Array2<f64>>,
}

impl Rows {
    /// Take `features` (`n × p`) and `targets` (`n`).
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the lengths differ or there is no row, [`ModelError::NonFiniteData`] with the row.
    pub fn new(features: Array2<f64>, targets: Array1<f64>) -> Result<Self, ModelError> {
        let (n, p) = features.dim();
        if targets.len() != n || n == 0 || p == 0 {
            return Err(ModelError::Shape {
                what: "features beside the targets".into(),
                found: vec![n, p],
                expected: vec![targets.len().max(1), p.max(1)],
            });
        }
        if let Some(row) = features
            .rows()
            .into_iter()
            .position(|row| !row.iter().all(|v| v.is_finite()))
        {
            return Err(ModelError::NonFiniteData {
                what: "features",
                row,
            });
        }
        if let Some(row) = targets.iter().position(|v| !v.is_finite()) {
            return Err(ModelError::NonFiniteData {
                what: "targets",
                row,
            });
        }
        Ok(Self {
            features,
            targets,
            context: None,
        })
    }

    /// The same with rows of features (`m × p`) at which methods with a repulsion in function space compare their members, for example
    /// those that predictions are wanted of; left out, these rows themselves.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for no row or another width, [`ModelError::NonFiniteData`] with the row.
    pub fn with_context(self, context: Array2<f64>) -> Result<Self, ModelError> {
        let targets = Array1::zeros(context.nrows());
        let context = Self::new(context, targets)?.features;
        if context.ncols() != self.width() {
            return Err(ModelError::Shape {
                what: "context features".into(),
                found: context.shape().to_vec(),
                expected: vec![context.nrows(), self.width()],
            });
        }
        Ok(Self {
            context: Some(context),
            ..self
        })
    }

    /// Where functions are compared, `m × p`.
    pub(crate) fn context(&self) -> ArrayView2<'_, f64> {
        self.own_context().unwrap_or_else(|| self.features())
    }

    /// The same where it was given.
    pub(crate) fn own_context(&self) -> Option<ArrayView2<'_, f64>> {
        self.context.as_ref().map(|context| context.view())
    }

    /// At most `count` rows, evenly spaced, for they may be in an order.
    pub(crate) fn spread_out(&self, count: usize) -> (Array2<f64>, Array1<f64>) {
        let rows = spread_out(self.len(), count);
        (
            self.features.select(Axis(0), &rows),
            self.targets.select(Axis(0), &rows),
        )
    }

    /// Number of rows `n`.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Never true: a table without rows is refused by [`Self::new`].
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Number of features `p`.
    pub fn width(&self) -> usize {
        self.features.ncols()
    }

    /// The features, `n × p`.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.features.view()
    }

    /// The targets, `n`.
    pub fn targets(&self) -> ArrayView1<'_, f64> {
        self.targets.view()
    }
}

/// At most `count` of `all` rows, evenly spaced.
pub(crate) fn spread_out(all: usize, count: usize) -> Vec<usize> {
    let count = all.min(count);
    (0..count).map(|k| k * all / count).collect()
}
