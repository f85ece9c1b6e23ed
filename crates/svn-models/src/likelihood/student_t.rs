//! Student's t likelihood: location `μ` and squared scale `v` from network outputs `(μ, s)`, tails that outliers fit into.
//!
//! ```text
//! v, t = ∂ ln v/∂s           the variance link of `variance.rs`, with its floor
//! ℓ = ½ (ν + 1) ln(1 + q/ν) + ½ ln v − ln c_ν            q = (y − μ)²/v
//! ln c_ν = ln Γ(½ν + ½) − ln Γ(½ν) − ½ ln(νπ)
//! −∂ℓ/∂μ = w (y − μ)/v      −∂ℓ/∂s = ½ t [ w q − 1 ]      w = (ν + 1)/(ν + q)
//! Fisher information in (μ, s) = diag( (ν + 1)/((ν + 3) v),  t² ν/(2 (ν + 3)) )
//! ```
//!
//! In `ln √v` the second entry is the textbook's `2ν/(ν + 3)`, a quarter of which is that of `ln v`. With `ν → ∞` all is
//! the heteroscedastic Gaussian's. The variance is `v ν/(ν − 2)`, so `ν > 2` is asked for.
//!
//! Reference: Lange, Little and Taylor, *Robust statistical modeling using the t distribution*, JASA 1989.

use std::f64::consts::PI;

use ndarray::{Array4, ArrayView2, ArrayView3};
use rand::{Rng, RngExt};
use rand_distr::StudentT as Standard;
use serde::{Deserialize, Serialize};

use super::rows::{by_row, roots_by_row};
use super::{LossTerms, VarianceLink};
use crate::ModelError;

/// `t_ν(y | μ, v)` with outputs `(μ, s)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StudentT {
    degrees: f64,
    scale: VarianceLink,
}

impl StudentT {
    /// Degrees of freedom where none are said.
    pub const DEGREES: f64 = 4.0;

    /// A likelihood with `ν` degrees of freedom and the default floor of the scale.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless `ν` is above 2 and at most a million.
    pub fn new(degrees: f64) -> Result<Self, ModelError> {
        if degrees > 2.0 && degrees <= 1e6 {
            Ok(Self {
                degrees,
                scale: VarianceLink::default(),
            })
        } else {
            let expected = "above 2 and at most 1e6";
            Err(ModelError::setting("degrees of freedom", degrees, expected))
        }
    }

    /// The same with another link from `s` to the squared scale.
    #[must_use]
    pub fn with_scale(self, scale: VarianceLink) -> Self {
        Self { scale, ..self }
    }

    /// `ν`.
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// From `s` to the squared scale.
    pub fn scale(&self) -> VarianceLink {
        self.scale
    }

    /// Squared scale `v` where the output is `s`.
    pub(crate) fn squared_scale(&self, s: f64) -> f64 {
        self.scale.log_variance(s).0.exp()
    }

    pub(super) fn loss(
        &self,
        outputs: ArrayView3<'_, f64>,
        targets: ArrayView2<'_, f64>,
    ) -> Result<LossTerms, ModelError> {
        let (nu, constant) = (self.degrees, log_normaliser(self.degrees));
        by_row(outputs, targets, |f, y, mut ascent| {
            let (log_v, slope) = self.scale.log_variance(f[1]);
            let (residual, v) = (y - f[0], log_v.exp());
            let q = residual * residual / v;
            ascent[0] = (nu + 1.0) * residual / (nu * v + residual * residual);
            // w q; a residual of zero has none.
            ascent[1] = 0.5 * slope * ((nu + 1.0) / (1.0 + nu / q) - 1.0);
            let loss = 0.5 * ((nu + 1.0) * (q / nu).ln_1p() + log_v) - constant;
            (loss, residual)
        })
    }

    pub(super) fn curvature_root(&self, outputs: ArrayView3<'_, f64>) -> Array4<f64> {
        let nu = self.degrees;
        let of_location = ((nu + 1.0) / (nu + 3.0)).sqrt();
        let of_scale = (0.5 * nu / (nu + 3.0)).sqrt();
        roots_by_row(outputs, 2, |f, mut root| {
            let (log_v, slope) = self.scale.log_variance(f[1]);
            root[[0, 0]] = of_location * (-0.5 * log_v).exp();
            root[[1, 1]] = of_scale * slope;
        })
    }

    pub(super) fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: ArrayView3<'_, f64>,
        samples: usize,
        rng: &mut R,
    ) -> Result<Array4<f64>, ModelError> {
        let nu = self.degrees;
        let standard = standard(nu)?;
        let weight = (samples as f64).sqrt().recip();
        Ok(roots_by_row(outputs, samples, |f, mut root| {
            let (log_v, slope) = self.scale.log_variance(f[1]);
            let inverse_scale = (-0.5 * log_v).exp();
            for j in 0..samples {
                let z: f64 = rng.sample(standard);
                let w = (nu + 1.0) / (nu + z * z);
                root[[0, j]] = weight * w * z * inverse_scale;
                root[[1, j]] = weight * 0.5 * slope * (w * z * z - 1.0);
            }
        }))
    }
}

/// `ln c_ν`, the logarithm of the standard density at zero.
pub(crate) fn log_normaliser(degrees: f64) -> f64 {
    libm::lgamma(0.5 * degrees + 0.5) - libm::lgamma(0.5 * degrees) - 0.5 * (degrees * PI).ln()
}

/// The distribution of location 0 and scale 1, to draw from.
pub(crate) fn standard(degrees: f64) -> Result<Standard<f64>, ModelError> {
    Standard::new(degrees)
        .map_err(|_| ModelError::setting("degrees of freedom", degrees, "a positive number"))
}
