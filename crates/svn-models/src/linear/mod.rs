//! Linear models: what every network has to beat.
//!
//! ```text
//! ridge       y = w·z + b + ε,  ε ~ N(0, σ²)        w = (ZᵀZ + λI)⁻¹ Zᵀ(y − ȳ),  b = ȳ
//! logistic    p(c | z) = softmax(Wᵀz + b)_c         W, b minimise −Σ ln p(y_i | z_i) + ½ λ ‖W‖²
//! ```
//!
//! `z` are the features on the scale of the training rows; the intercept is free. They predict as an ensemble of one member
//! does, so that whatever measures an ensemble measures them.

mod logistic;
mod ridge;

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use crate::scaling::FeatureScaler;
use crate::{ClassPrediction, ModelError, Prediction};

/// Penalty `λ` where none is said, that of a standard normal prior for each weight.
pub const PENALTY: f64 = 1.0;

/// A linear model of a number or of classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    features: FeatureScaler,
    /// `p × K`.
    weights: Array2<f64>,
    /// `K`.
    intercepts: Vec<f64>,
    /// Of ridge regression; none of classes.
    noise_variance: Option<f64>,
}

impl Linear {
    /// Ridge regression; the noise variance is `Σ r² / (n − d_eff − 1)`, `d_eff = tr (ZᵀZ + λI)⁻¹ ZᵀZ`.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`.
    ///
    /// # Errors
    /// [`ModelError::Shape`], [`ModelError::Setting`] for a penalty that is not positive, [`ModelError::Scale`].
    pub fn ridge(
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        penalty: f64,
    ) -> Result<Self, ModelError> {
        check(x, y.len(), penalty)?;
        ridge::fit(x, y, penalty)
    }

    /// Logistic regression of classes `0..classes`: one logit for two, a softmax of as many as there are for more.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`.
    ///
    /// # Errors
    /// As for [`ridge`](Self::ridge); [`ModelError::ClassIndex`].
    pub fn logistic(
        x: ArrayView2<'_, f64>,
        y: &[usize],
        classes: usize,
        penalty: f64,
    ) -> Result<Self, ModelError> {
        check(x, y.len(), penalty)?;
        if let Some(row) = y.iter().position(|&class| class >= classes) {
            return Err(ModelError::ClassIndex {
                row,
                found: y[row] as f64,
                classes,
            });
        }
        logistic::fit(x, y, classes, penalty)
    }

    /// Mean and noise at the rows of `x`.
    ///
    /// # Shapes
    /// `x`: `n × p`.
    ///
    /// # Errors
    /// [`ModelError::Scale`] for another number of features, [`ModelError::Predicted`] for what is not finite.
    pub fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Prediction, ModelError> {
        let mean = self.outputs(x)?.reversed_axes();
        let noise = self.noise_variance.unwrap_or(f64::NAN);
        let noise = Array2::from_elem(mean.dim(), noise);
        Prediction::new(mean, noise)
    }

    /// Probabilities of the classes at the rows of `x`.
    ///
    /// # Errors
    /// As for [`predict`](Self::predict).
    pub fn predict_classes(&self, x: ArrayView2<'_, f64>) -> Result<ClassPrediction, ModelError> {
        let outputs = self.outputs(x)?;
        match outputs.ncols() {
            1 => ClassPrediction::bernoulli(outputs.reversed_axes().view()),
            _ => ClassPrediction::new(outputs.insert_axis(Axis(0))),
        }
    }

    /// Weights, `p × K`, and intercepts, `K`, of the features as they are given.
    pub fn affine(&self) -> (Array2<f64>, Vec<f64>) {
        let mut weights = self.weights.clone();
        let mut intercepts = self.intercepts.clone();
        let scales = self.features.means().iter().zip(self.features.scales());
        for (mut row, (mean, scale)) in weights.rows_mut().into_iter().zip(scales) {
            let scale = scale.map_or(0.0, |scale| 1.0 / scale);
            row.map_inplace(|weight| *weight *= scale);
            for (intercept, weight) in intercepts.iter_mut().zip(&row) {
                *intercept -= mean * weight;
            }
        }
        (weights, intercepts)
    }

    /// `n × K`.
    fn outputs(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ModelError> {
        let z = self.features.transform(x)?;
        Ok(z.dot(&self.weights) + ArrayView1::from(&self.intercepts))
    }
}

fn check(x: ArrayView2<'_, f64>, targets: usize, penalty: f64) -> Result<(), ModelError> {
    if targets != x.nrows() || targets == 0 {
        return Err(ModelError::Shape {
            what: "features beside the targets".into(),
            found: x.shape().to_vec(),
            expected: vec![targets.max(1), x.ncols()],
        });
    }
    if !(penalty > 0.0 && penalty.is_finite()) {
        let expected = "a number above 0";
        return Err(ModelError::setting("penalty", penalty, expected));
    }
    Ok(())
}
