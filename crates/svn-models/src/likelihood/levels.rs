//! Levels on a line at equal distances, and their probabilities under a logistic density cut at the edges between them.
//!
//! ```text
//! level k at y_k = lowest + k · step,   edges y_k ± ½ step,   the outer ones at infinity
//! P_k = σ(b) − σ(a),   ln P_k = −ln(1 + e^{−b}) − ln(1 + e^a) + ln(1 − e^{a−b})
//! ```

use serde::{Deserialize, Serialize};

use super::ordinal::sigmoid;

/// Equidistant levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    lowest: f64,
    step: f64,
    count: usize,
}

impl Levels {
    /// 0 and 1.
    pub(super) const BINARY: Self = Self {
        lowest: 0.0,
        step: 1.0,
        count: 2,
    };

    /// So many from `lowest` on, one apart.
    pub(crate) fn new(lowest: f64, count: usize) -> Self {
        Self {
            lowest,
            step: 1.0,
            count,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Distance of neighbours.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Where level `k` is.
    pub fn value(&self, k: usize) -> f64 {
        self.lowest + self.step * k as f64
    }

    /// In other units: `m + s y` for what is `y` here.
    pub(crate) fn rescaled(self, mean: f64, scale: f64) -> Self {
        Self {
            lowest: mean + scale * self.lowest,
            step: scale * self.step,
            ..self
        }
    }

    /// The level nearest to `y`; of what lies beyond the ends, the end.
    pub(crate) fn nearest(&self, y: f64) -> usize {
        let k = ((y - self.lowest) / self.step).round();
        // Saturates, at 0 also for NaN.
        (k as usize).min(self.count.saturating_sub(1))
    }

    /// Levels that are not above `y`.
    pub(crate) fn not_above(&self, y: f64) -> usize {
        // A level's own value counts, whatever the units have done to its last places.
        let k = ((y - self.lowest) / self.step + 1e-9).floor() + 1.0;
        (k as usize).min(self.count)
    }

    /// Logits of the edges below and above level `k`.
    pub(super) fn logits(&self, k: usize, location: f64, scale: f64) -> (f64, f64) {
        let edge = |below: f64| (self.lowest + self.step * below - location) / scale;
        let a = if k == 0 {
            f64::NEG_INFINITY
        } else {
            edge(k as f64 - 0.5)
        };
        let b = if k + 1 >= self.count {
            f64::INFINITY
        } else {
            edge(k as f64 + 0.5)
        };
        (a, b)
    }

    /// `ln P_k` under a logistic density.
    pub(crate) fn log_probability(&self, k: usize, location: f64, scale: f64) -> f64 {
        let (a, b) = self.logits(k, location, scale);
        (-(a - b).exp_m1()).ln() - softplus(-b) - softplus(a)
    }

    /// Probability of the first `count` levels.
    pub(crate) fn cumulative(&self, count: usize, location: f64, scale: f64) -> f64 {
        match count {
            0 => 0.0,
            count if count >= self.count => 1.0,
            count => sigmoid(self.logits(count - 1, location, scale).1),
        }
    }

    /// Mean and variance under a logistic density.
    pub(crate) fn moments(&self, location: f64, scale: f64) -> (f64, f64) {
        let probability = |k| self.log_probability(k, location, scale).exp();
        let mean: f64 = (0..self.count).map(|k| probability(k) * k as f64).sum();
        let square = |k: usize| probability(k) * (k as f64 - mean).powi(2);
        let variance: f64 = (0..self.count).map(square).sum();
        (self.lowest + self.step * mean, self.step.powi(2) * variance)
    }
}

/// `ln(1 + eˣ)`.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
