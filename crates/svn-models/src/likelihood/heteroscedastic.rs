//! Gaussian likelihood whose mean `μ` and variance `v` are both made from network outputs, `(μ, s)`.
//!
//! ```text
//! v(s) = σ₀² + exp(min(s, M)) (1 + max(s − M, 0))       σ₀ floor of the noise, M where growth turns linear
//! v'(s) = exp(min(s, M)),   t = v'/v = ∂ ln v/∂s ∈ [0, 1]
//! ℓ = ½ [ (y − μ)²/v + ln v + ln 2π ]
//! −∂ℓ/∂μ = (y − μ)/v      −∂ℓ/∂s = ½ t [ (y − μ)²/v − 1 ]
//! Fisher information in (μ, s) = diag(1/v, ½ t²)
//! ```
//!
//! `s` is the log variance of what lies above the floor. The floor adds to it instead of cutting it off, so that `t` is small
//! below the floor but never zero, and a row that is fitted badly can raise its noise again. Above `M` the variance
//! goes on along its tangent, once continuously differentiable: it does not overflow, and it can be lowered again.
//! Without a floor and up to `M`, `ln v = s` and `t = 1`.
//!
//! Reference: Nix and Weigend, *Estimating the mean and variance of the target probability distribution* (1994).

use super::{LossTerms, check_outputs};
use crate::ModelError;
use ndarray::{Array2, Array3, Array4, ArrayView1, ArrayView2, ArrayView3, Axis, Zip};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use svn_curvature::Loss;

/// `N(y | μ, σ₀² + exp(s))` with outputs `(μ, s)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeteroscedasticGaussian {
    /// `σ₀`, a standard deviation.
    floor: f64,
    /// `M`.
    linear_from: f64,
}

impl Default for HeteroscedasticGaussian {
    /// A floor of `e⁻⁷`, about 0.001, and linear growth above `s = 4`, noise of 7 standard deviations of standardised targets.
    fn default() -> Self {
        Self {
            floor: (-7.0f64).exp(),
            linear_from: 4.0,
        }
    }
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
    /// A floor of 0 is none: the variance is then that of the outputs alone, which has to stay above e⁻⁷⁰⁰.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless the floor is at least 0, below `exp(linear_from / 2)`, and both are finite.
    pub fn new(floor: f64, linear_from: f64) -> Result<Self, ModelError> {
        let most = (0.5 * linear_from).exp();
        if linear_from.is_finite() && floor >= 0.0 && floor < most {
            Ok(Self { floor, linear_from })
        } else {
            Err(ModelError::setting(
                "noise floor",
                floor,
                &format!("0 or more and below {most:.1}"),
            ))
        }
    }

    /// The same with noise of at least this standard deviation.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless it is positive and below the noise from which growth is linear.
    pub fn with_floor(self, standard_deviation: f64) -> Result<Self, ModelError> {
        let most = (0.5 * self.linear_from).exp();
        if standard_deviation > 0.0 && standard_deviation < most {
            Self::new(standard_deviation, self.linear_from)
        } else {
            Err(ModelError::setting(
                "noise floor",
                standard_deviation,
                &format!("above 0 and below {most:.1} standard deviations of the targets"),
            ))
        }
    }

    /// `ln v` and its slope `t`: the one place where outputs become variances; in logarithms, so that nothing overflows
    /// or is rounded away.
    fn log_variance(&self, s: f64) -> (f64, f64) {
        // ln v'(s).
        let log_growth = s.min(self.linear_from);
        let above_floor = log_growth + (s - log_growth).ln_1p();
        let log_variance = if self.floor > 0.0 {
            log_add_exp(above_floor, 2.0 * self.floor.ln())
        } else {
            above_floor
        };
        (log_variance, (log_growth - log_variance).exp())
    }

    fn parameters(&self, outputs: ArrayView3<'_, f64>) -> Parameters {
        let mut natural = outputs.to_owned();
        let mut slope = Array2::zeros((outputs.dim().0, outputs.dim().1));
        Zip::from(natural.index_axis_mut(Axis(2), 1))
            .and(&mut slope)
            .for_each(|s, t| (*s, *t) = self.log_variance(*s));
        Parameters { natural, slope }
    }

    /// Noise variance `v` of each row; `N × b`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if `outputs` is not `N × b × 2`.
    pub fn noise_variance(&self, outputs: ArrayView3<'_, f64>) -> Result<Array2<f64>, ModelError> {
        check_outputs(outputs, 2)?;
        let s = outputs.index_axis_move(Axis(2), 1);
        Ok(s.mapv(|s| self.log_variance(s).0.exp()))
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

/// `ln(eᵃ + eᵇ)`.
fn log_add_exp(a: f64, b: f64) -> f64 {
    a.max(b) + (-(a - b).abs()).exp().ln_1p()
}
