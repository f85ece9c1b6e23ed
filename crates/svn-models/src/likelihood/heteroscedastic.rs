//! Gaussian likelihood whose mean `μ` and variance `v` are both made from network outputs, `(μ, s)`.
//!
//! ```text
//! v, t = ∂ ln v/∂s           the variance link of `variance.rs`, with its floor
//! ℓ = ½ [ (y − μ)²/v + ln v + ln 2π ]
//! −∂ℓ/∂μ = (y − μ)/v      −∂ℓ/∂s = ½ t [ (y − μ)²/v − 1 ]
//! Fisher information in (μ, s) = diag(1/v, ½ t²)
//! ```
//!
//! Reference: Nix and Weigend, *Estimating the mean and variance of the target probability distribution* (1994).

use super::{LossTerms, VarianceLink, check_outputs};
use crate::ModelError;
use ndarray::{Array2, Array3, Array4, ArrayView1, ArrayView2, ArrayView3, Axis, Zip};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use svn_curvature::Loss;

/// `N(y | μ, σ₀² + exp(s))` with outputs `(μ, s)`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HeteroscedasticGaussian {
    link: VarianceLink,
}

/// Outputs of a batch as the parameters of its Gaussians.
struct Parameters {
    /// `(μ, ln v)`; `N × b × 2`.
    natural: Array3<f64>,
    /// `t = ∂ ln v/∂s`; `N × b`.
    slope: Array2<f64>,
}

impl HeteroscedasticGaussian {
    /// A likelihood with noise of at least `floor`, a standard deviation, whose variance grows linearly from `s = linear_from` on.
    ///
    /// # Errors
    /// As for [`VarianceLink::new`].
    pub fn new(floor: f64, linear_from: f64) -> Result<Self, ModelError> {
        let link = VarianceLink::new(floor, linear_from)?;
        Ok(Self { link })
    }

    /// The same with noise of at least this standard deviation.
    ///
    /// # Errors
    /// As for [`VarianceLink::with_floor`].
    pub fn with_floor(self, standard_deviation: f64) -> Result<Self, ModelError> {
        let link = self.link.with_floor(standard_deviation)?;
        Ok(Self { link })
    }

    fn parameters(&self, outputs: ArrayView3<'_, f64>) -> Parameters {
        let mut natural = outputs.to_owned();
        let mut slope = Array2::zeros((outputs.dim().0, outputs.dim().1));
        Zip::from(natural.index_axis_mut(Axis(2), 1))
            .and(&mut slope)
            .for_each(|s, t| (*s, *t) = self.link.log_variance(*s));
        Parameters { natural, slope }
    }

    /// Noise variance `v` of each row; `N × b`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if `outputs` is not `N × b × 2`.
    pub fn noise_variance(&self, outputs: ArrayView3<'_, f64>) -> Result<Array2<f64>, ModelError> {
        check_outputs(outputs, 2)?;
        let s = outputs.index_axis_move(Axis(2), 1);
        Ok(s.mapv(|s| self.link.log_variance(s).0.exp()))
    }

    pub(super) fn loss(
        &self,
        outputs: ArrayView3<'_, f64>,
        targets: ArrayView2<'_, f64>,
    ) -> Result<LossTerms, ModelError> {
        let Parameters { natural, slope } = self.parameters(outputs);
        let (value, mut ascent) =
            Loss::HeteroscedasticGaussian.value_and_gradient(natural.view(), targets)?;
        ascent
            .index_axis_mut(Axis(2), 1)
            .zip_mut_with(&slope, |g, t| *g *= t);
        let rows = targets.nrows() as f64;
        let mean_square = |mean: ArrayView1<'_, f64>| {
            let squares = mean.iter().zip(targets).map(|(mean, y)| (y - mean).powi(2));
            squares.sum::<f64>() / rows
        };
        Ok(LossTerms {
            negative_log_likelihood: value + 0.5 * rows * (2.0 * PI).ln(),
            ascent: -ascent,
            mean_squared_residual: Some(
                natural
                    .index_axis(Axis(2), 0)
                    .map_axis(Axis(1), mean_square),
            ),
        })
    }

    pub(super) fn curvature_root(
        &self,
        outputs: ArrayView3<'_, f64>,
    ) -> Result<Array4<f64>, ModelError> {
        self.through_slope(outputs, |natural| {
            Loss::HeteroscedasticGaussian.root(natural)
        })
    }

    pub(super) fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: ArrayView3<'_, f64>,
        samples: usize,
        rng: &mut R,
    ) -> Result<Array4<f64>, ModelError> {
        self.through_slope(outputs, |natural| {
            Loss::HeteroscedasticGaussian.monte_carlo_root(natural, samples, rng)
        })
    }

    /// A root in `(μ, ln v)` as one in `(μ, s)`, by the chain rule.
    fn through_slope(
        &self,
        outputs: ArrayView3<'_, f64>,
        root: impl FnOnce(ArrayView3<'_, f64>) -> svn_curvature::Result<Array4<f64>>,
    ) -> Result<Array4<f64>, ModelError> {
        let Parameters { natural, slope } = self.parameters(outputs);
        let mut root = root(natural.view())?;
        let mut of_log_variance = root.index_axis_mut(Axis(2), 1);
        of_log_variance *= &slope.insert_axis(Axis(2));
        Ok(root)
    }
}
