//! Ordinal likelihood of whole numbers: cumulative logits at the edges of the levels, location and scale from network outputs.
//!
//! ```text
//! outputs (f, s)      μ = c + h f,   τ = h √v,   v, t = ∂ ln v/∂s by the variance link;  c, h mean and sd of the training targets
//! P(y ≤ k) = σ(b_k),   b_k = (k + ½ − μ)/τ,   a_k = b_{k−1};   below the first level a = −∞, above the last b = ∞
//! ℓ = −ln P_k,   P_k = σ(b) − σ(a) = σ(b) σ(−a) (1 − e^{a−b})
//! −∂ℓ/∂f = (h/τ) (σ(a) − σ(−b))
//! −∂ℓ/∂s = ½ t (a σ(a) − b σ(−b) − (b − a)/(e^{b−a} − 1))
//! Fisher information = Σ_k P_k ∇ℓ_k ∇ℓ_kᵀ, over all levels
//! ```
//!
//! Targets are in their own units, one apart: `ℓ` is a log probability. The end levels are open and take whatever lies
//! beyond them. The standardisation is here because levels of standardised targets would no longer be whole numbers.
//!
//! Reference: McCullagh, *Regression models for ordinal data*, JRSS B 1980.

use ndarray::{Array4, ArrayView1, ArrayView2, ArrayView3};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::levels::Levels;
use super::rows::{by_row, roots_by_row};
use super::{LossTerms, VarianceLink};
use crate::ModelError;
use crate::scaling::TargetScaler;

/// Levels with cumulative logits of the outputs `(f, s)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ordinal {
    levels: Levels,
    target: TargetScaler,
    scale: VarianceLink,
}

impl Default for Ordinal {
    /// Levels 0 and 1, before there are [targets](Ordinal::of_targets).
    fn default() -> Self {
        Self {
            levels: Levels::BINARY,
            target: TargetScaler::IDENTITY,
            scale: VarianceLink::default(),
        }
    }
}

impl Ordinal {
    /// Most levels there may be.
    pub const MOST: usize = 1000;

    /// The same with the levels from the least to the largest of the training targets, and their mean and standard deviation.
    ///
    /// # Errors
    /// [`ModelError::Level`] for a target that is no whole number, [`ModelError::Setting`] for more than 1000 levels,
    /// [`ModelError::Scale`] for targets that are all the same.
    pub fn of_targets(self, targets: ArrayView1<'_, f64>) -> Result<Self, ModelError> {
        check_whole(targets)?;
        let target = TargetScaler::fit(targets)?;
        let (lowest, highest) = targets
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
                (low.min(*y), high.max(*y))
            });
        let count = highest - lowest + 1.0;
        if count > Self::MOST as f64 {
            let expected = format!("at most {}; take another likelihood", Self::MOST);
            let name = "levels of the ordinal likelihood";
            return Err(ModelError::setting(name, count, &expected));
        }
        Ok(Self {
            levels: Levels::new(lowest, count as usize),
            target,
            ..self
        })
    }

    /// The same with another link from `s` to the squared scale in standard deviations of the targets.
    #[must_use]
    pub fn with_scale(self, scale: VarianceLink) -> Self {
        Self { scale, ..self }
    }

    /// From `s` to the squared scale.
    pub fn scale(&self) -> VarianceLink {
        self.scale
    }

    /// The levels.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// `μ` and `τ²` of a row of outputs.
    pub(crate) fn location_and_squared_scale(&self, f: ArrayView1<'_, f64>) -> (f64, f64) {
        let location = self.target.mean + self.target.scale * f[0];
        let squared_scale = self.target.scale.powi(2) * self.scale.log_variance(f[1]).0.exp();
        (location, squared_scale)
    }

    /// Location, scale and slope `t` of a row.
    fn parameters(&self, f: ArrayView1<'_, f64>) -> (f64, f64, f64) {
        let (location, squared_scale) = self.location_and_squared_scale(f);
        let slope = self.scale.log_variance(f[1]).1;
        (location, squared_scale.sqrt(), slope)
    }

    /// `−∂ℓ/∂(f, s)` of a level.
    fn ascent(&self, level: usize, (location, scale, slope): (f64, f64, f64)) -> [f64; 2] {
        let (a, b) = self.levels.logits(level, location, scale);
        let (below, above) = (sigmoid(a), sigmoid(-b));
        // Nothing comes of an edge at infinity.
        let weighted = |edge: f64, weight: f64| if edge.is_finite() { edge * weight } else { 0.0 };
        let width = b - a;
        let between = if width.is_finite() {
            width / width.exp_m1()
        } else {
            0.0
        };
        [
            self.target.scale / scale * (below - above),
            0.5 * slope * (weighted(a, below) - weighted(b, above) - between),
        ]
    }

    pub(super) fn loss(
        &self,
        outputs: ArrayView3<'_, f64>,
        targets: ArrayView2<'_, f64>,
    ) -> Result<LossTerms, ModelError> {
        by_row(outputs, targets, |f, y, mut ascent| {
            let (location, scale, slope) = self.parameters(f);
            let level = self.levels.nearest(y);
            let found = self.ascent(level, (location, scale, slope));
            ascent[0] = found[0];
            ascent[1] = found[1];
            let log_probability = self.levels.log_probability(level, location, scale);
            (-log_probability, y - location)
        })
    }

    pub(super) fn curvature_root(&self, outputs: ArrayView3<'_, f64>) -> Array4<f64> {
        roots_by_row(outputs, 2, |f, mut root| {
            let (location, scale, slope) = self.parameters(f);
            let [mut ff, mut fs, mut ss] = [0.0; 3];
            for level in 0..self.levels.count() {
                let p = self.levels.log_probability(level, location, scale).exp();
                if p > 0.0 {
                    let [of_f, of_s] = self.ascent(level, (location, scale, slope));
                    ff += p * of_f * of_f;
                    fs += p * of_f * of_s;
                    ss += p * of_s * of_s;
                }
            }
            // Cholesky's factor; where all probability is on one level there is nothing.
            let first = ff.sqrt();
            root[[0, 0]] = first;
            if first > 0.0 {
                root[[1, 0]] = fs / first;
            }
            root[[1, 1]] = (ss - root[[1, 0]].powi(2)).max(0.0).sqrt();
        })
    }

    pub(super) fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: ArrayView3<'_, f64>,
        samples: usize,
        rng: &mut R,
    ) -> Array4<f64> {
        let weight = (samples as f64).sqrt().recip();
        roots_by_row(outputs, samples, |f, mut root| {
            let (location, scale, slope) = self.parameters(f);
            for mut column in root.columns_mut() {
                let y = location + scale * standard_logistic(rng);
                let found = self.ascent(self.levels.nearest(y), (location, scale, slope));
                column[0] = weight * found[0];
                column[1] = weight * found[1];
            }
        })
    }
}

/// All targets are whole numbers.
pub(super) fn check_whole(targets: ArrayView1<'_, f64>) -> Result<(), ModelError> {
    match targets.iter().position(|y| y.fract() != 0.0) {
        Some(row) => Err(ModelError::Level {
            row,
            found: targets[row],
        }),
        None => Ok(()),
    }
}

/// `1/(1 + e⁻ˣ)`.
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A draw from the logistic distribution of location 0 and scale 1.
pub(crate) fn standard_logistic<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    let u: f64 = rng.random();
    // 0 is drawn, 1 is not.
    let u = u.max(f64::MIN_POSITIVE);
    u.ln() - (-u).ln_1p()
}
