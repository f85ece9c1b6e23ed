//! How far an ensemble's function is from the posterior's.
//!
//! ```text
//! mean      rms_i (m_i − μ_i)/τ_i                        μ, τ mean and standard deviation of the posterior at point i
//! sd        rms_i (s_i − τ_i)/τ_i                        m, s those of the members
//! interval  rms_i √{[(a_i − α_i)² + (b_i − β_i)²]/2} / (β_i − α_i)      α, β and a, b: 5 and 95 % quantiles
//! ```
//!
//! All of the mean output, without noise.

use ndarray::{ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use crate::chains::round;

/// Moments and quantiles at each point, in units of the target.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Band {
    pub mean: Vec<f64>,
    pub sd: Vec<f64>,
    /// 5 % quantile.
    pub low: Vec<f64>,
    /// 95 % quantile.
    pub high: Vec<f64>,
}

/// Errors over a group of points.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Errors {
    pub mean: f64,
    pub sd: f64,
    pub interval: f64,
}

impl Band {
    /// Of draws, a row each.
    pub(crate) fn of(draws: ArrayView2<'_, f64>) -> Self {
        let mut band = Self::default();
        for column in draws.axis_iter(Axis(1)) {
            let mut sorted = column.to_vec();
            sorted.sort_by(f64::total_cmp);
            band.mean.push(column.mean().unwrap_or(f64::NAN));
            band.sd.push(column.std(0.0));
            band.low.push(quantile(&sorted, 0.05));
            band.high.push(quantile(&sorted, 0.95));
        }
        band
    }

    /// Six digits of each number.
    pub(crate) fn rounded(mut self) -> Self {
        let all = [&mut self.mean, &mut self.sd, &mut self.low, &mut self.high];
        let values = all.into_iter().flatten();
        values.for_each(|value| *value = round(*value));
        self
    }

    /// How far this is from the posterior's at some of the points.
    pub(crate) fn errors(&self, posterior: &Self, points: std::ops::Range<usize>) -> Errors {
        let rms = |error: &dyn Fn(usize) -> f64| {
            let squares = points.clone().map(|i| error(i).powi(2));
            (squares.sum::<f64>() / points.len() as f64).sqrt()
        };
        let width = |i: usize| posterior.high[i] - posterior.low[i];
        let ends = |i: usize| {
            (self.low[i] - posterior.low[i]).hypot(self.high[i] - posterior.high[i])
                / std::f64::consts::SQRT_2
        };
        Errors {
            mean: rms(&|i| (self.mean[i] - posterior.mean[i]) / posterior.sd[i]),
            sd: rms(&|i| (self.sd[i] - posterior.sd[i]) / posterior.sd[i]),
            interval: rms(&|i| ends(i) / width(i)),
        }
    }
}

impl Errors {
    /// Over groups of as many points each.
    pub(crate) fn together(groups: &[Self]) -> Self {
        let rms = |part: fn(&Self) -> f64| {
            let squares = groups.iter().map(|errors| part(errors).powi(2));
            (squares.sum::<f64>() / groups.len() as f64).sqrt()
        };
        Self {
            mean: rms(|errors| errors.mean),
            sd: rms(|errors| errors.sd),
            interval: rms(|errors| errors.interval),
        }
    }

    pub(crate) fn values(self) -> [f64; 3] {
        [self.mean, self.sd, self.interval]
    }
}

/// The quantile of sorted numbers, between neighbours by a straight line.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = share * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (place - below as f64) * (high - low)
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    fn normal_scores(n: usize, shift: f64, scale: f64) -> Array2<f64> {
        // Evenly spaced: all moments and quantiles by hand.
        Array2::from_shape_fn((n, 2), |(i, _)| {
            shift + scale * (i as f64 / (n - 1) as f64 - 0.5)
        })
    }

    #[test]
    fn what_is_moved_and_narrowed_by_known_amounts_is_off_by_these() {
        let posterior = Band::of(normal_scores(101, 0.0, 2.0).view());
        assert!((posterior.low[0] + 0.9).abs() < 1e-12 && (posterior.high[0] - 0.9).abs() < 1e-12);
        let sd = posterior.sd[0];
        let ours = Band::of(normal_scores(101, 0.5, 1.0).view());
        let errors = ours.errors(&posterior, 0..2);
        assert!((errors.mean - 0.5 / sd).abs() < 1e-12, "{errors:?}");
        assert!((errors.sd - 0.5).abs() < 1e-12, "{errors:?}");
        // Ends 0.05 and 0.95 where −0.9 and 0.9 are.
        let ends = (0.95_f64.hypot(0.05) / 2.0_f64.sqrt()) / 1.8;
        assert!((errors.interval - ends).abs() < 1e-12, "{errors:?}");
    }
}
