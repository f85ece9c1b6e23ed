//! What decides a training run.

use crate::ModelError;
use crate::posterior::CurvatureSettings;
use serde::{Deserialize, Serialize};
use svn_curvature::Activation;
use svn_stein::Method;

/// How the observation noise is modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoiseModel {
    /// One noise variance, learned from the residuals of the batches; for prediction, fitted on the validation rows.
    Homoscedastic,
    /// Mean and log variance are network outputs.
    Heteroscedastic,
}

/// Settings of [`fit`](super::fit).
///
/// | Name | Purpose | Range |
/// |---|---|---|
/// | `method` | how the particles move | [`Method`] |
/// | `hidden`, `activation` | the multilayer perceptron | widths ≥ 1 |
/// | `noise` | likelihood | [`NoiseModel`] |
/// | `prior_precision` | `δ` of the prior `N(0, δ⁻¹ I)` on standardised data | > 0 |
/// | `particles` | `N` | ≥ 1 |
/// | `epochs` | passes over the training rows | ≥ 1 |
/// | `batch_size` | rows of a minibatch | 1 to the number of training rows |
/// | `curvature` | family, part and memory of the curvature, for methods that use it | [`CurvatureSettings`] |
/// | `seed` | starting weights and order of the rows | any |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSettings {
    /// How the particles move.
    pub method: Method,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// Activation after each hidden layer.
    pub activation: Activation,
    /// Noise model.
    pub noise: NoiseModel,
    /// Prior precision `δ`.
    pub prior_precision: f64,
    /// Number of particles `N`.
    pub particles: usize,
    /// Number of passes over the training rows.
    pub epochs: usize,
    /// Rows of a minibatch.
    pub batch_size: usize,
    /// Curvature of the methods that use it.
    #[serde(default)]
    pub curvature: CurvatureSettings,
    /// Seed.
    pub seed: u64,
}

impl FitSettings {
    /// Check the ranges for a training part of `rows` rows.
    ///
    /// # Errors
    /// [`ModelError::Setting`] naming the first setting out of range, and what [`Method::validate`] says.
    pub fn validate(&self, rows: usize) -> Result<(), ModelError> {
        for (name, value) in [
            ("particles", self.particles),
            ("epochs", self.epochs),
            ("batch size", self.batch_size),
        ] {
            if value == 0 {
                return Err(ModelError::setting(name, value, "at least 1"));
            }
        }
        if self.batch_size > rows {
            return Err(ModelError::setting(
                "batch size",
                self.batch_size,
                &format!("at most the number of training rows, {rows}"),
            ));
        }
        if !(self.prior_precision.is_finite() && self.prior_precision > 0.0) {
            return Err(ModelError::setting(
                "prior precision",
                self.prior_precision,
                "a positive number",
            ));
        }
        self.curvature.validate()?;
        Ok(self.method.validate()?)
    }
}
