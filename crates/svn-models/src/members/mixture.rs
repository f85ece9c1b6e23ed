//! The mixture of the members' densities: density, distribution, quantiles, draws.
//!
//! ```text
//! p(y) = (1/N) Σ_p Σ_k w_pk f((y − m_pk)/s_pk)/s_pk        F(y) = (1/N) Σ_p Σ_k w_pk Φ((y − m_pk)/s_pk)
//! ```
//!
//! with weights `w`, locations `m`, scales `s` of the components, `f` and `Φ` the standard density and distribution of
//! their family. Of levels `p` is the probability of the nearest one over their step, and `F` a staircase.

use ndarray::{Array1, Array2, ArrayView1};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::{Component, Family, Prediction, log_sum_exp};
use crate::ModelError;
use crate::likelihood::Levels;

/// Standard deviations within which a quantile is found.
const CLOSE: f64 = 1e-14;

impl Prediction {
    /// `ln p(y)` of one target a row, in nats; finite however far the target is.
    ///
    /// # Shapes
    /// `targets` and the result: `n`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] unless there is one target a row.
    pub fn log_density(&self, targets: ArrayView1<'_, f64>) -> Result<Array1<f64>, ModelError> {
        self.check_rows(targets.len())?;
        let (members, family) = ((self.members() as f64).ln(), self.family());
        Ok(Array1::from_shape_fn(self.rows(), |row| {
            let terms = self.components(row).map(|component| {
                component.log_weight + family.log_density(&component, targets[row])
            });
            log_sum_exp(terms) - members
        }))
    }

    /// Mean negative log density of one target a row, in nats a row: [`log_density`](Self::log_density) as a score.
    ///
    /// # Errors
    /// As for [`log_density`](Self::log_density).
    pub fn negative_log_density(&self, targets: ArrayView1<'_, f64>) -> Result<f64, ModelError> {
        let sum = self.log_density(targets)?.sum();
        Ok(-sum / targets.len().max(1) as f64)
    }

    /// `p(y)` of one target a row, in one over the units of the targets.
    ///
    /// # Errors
    /// As for [`log_density`](Self::log_density).
    pub fn density(&self, targets: ArrayView1<'_, f64>) -> Result<Array1<f64>, ModelError> {
        Ok(self.log_density(targets)?.mapv_into(f64::exp))
    }

    /// `F(y)` of one target a row: the probability of no more than that.
    ///
    /// # Errors
    /// As for [`log_density`](Self::log_density).
    pub fn cumulative(&self, targets: ArrayView1<'_, f64>) -> Result<Array1<f64>, ModelError> {
        self.check_rows(targets.len())?;
        let at = |row| self.cumulative_at(row, targets[row]);
        Ok(Array1::from_shape_fn(self.rows(), at))
    }

    /// The `y` with `F(y) = level`, `n`, to about `1e-14` standard deviations; of levels the least with `F(y) ≥ level`.
    ///
    /// It lies between the least and the largest quantile of a component, where Newton's method looks for it, and halves what is
    /// left wherever a step leads out.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless `0 < level < 1`.
    pub fn quantile(&self, level: f64) -> Result<Array1<f64>, ModelError> {
        if !(level > 0.0 && level < 1.0) {
            let expected = "a number between 0 and 1, neither of them";
            return Err(ModelError::setting("quantile", level, expected));
        }
        if let Family::Ordinal(levels) = self.family() {
            let at = |row| self.level_quantile(row, level, levels);
            return Ok(Array1::from_shape_fn(self.rows(), at));
        }
        let z = self.family().standard_quantile(level);
        let rows: Vec<f64> = (0..self.rows())
            .into_par_iter()
            .map(|row| self.quantile_at(row, level, z))
            .collect();
        Ok(rows.into())
    }

    /// The least level with `F ≥ level`.
    fn level_quantile(&self, row: usize, level: f64, levels: Levels) -> f64 {
        let reaches = |k: &usize| self.cumulative_at(row, levels.value(*k)) >= level;
        let last = levels.count().saturating_sub(1);
        levels.value((0..last).find(reaches).unwrap_or(last))
    }

    /// `z` is the quantile of the family's standard density.
    fn quantile_at(&self, row: usize, level: f64, z: f64) -> f64 {
        let ends = self.components(row).map(|component| {
            let scale = component.squared_scale.sqrt();
            let end = component.location + z * scale;
            (end, end, scale)
        });
        let (mut low, mut high, sd) = ends
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), a.2.min(b.2)))
            .unwrap_or((f64::NAN, f64::NAN, f64::NAN));
        let mut y = low + 0.5 * (high - low);
        loop {
            let (excess, density) = self.cumulative_and_density_at(row, y);
            let excess = excess - level;
            if excess < 0.0 {
                low = y;
            } else {
                high = y;
            }
            let middle = low + 0.5 * (high - low);
            let newton = y - excess / density;
            let next = match newton > low && newton < high {
                true => newton,
                false => middle,
            };
            // Nothing lies between neighbours; a member alone begins at its end.
            if !(middle > low && middle < high) || (next - y).abs() <= CLOSE * sd {
                return if newton.is_finite() { next } else { y };
            }
            y = next;
        }
    }

    /// Ends of the interval that has `level` of the probability and as much on either side of it, `n` each.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<(Array1<f64>, Array1<f64>), ModelError> {
        Ok((
            self.quantile(0.5 - 0.5 * level)?,
            self.quantile(0.5 + 0.5 * level)?,
        ))
    }

    /// Draws of each row's target, `count × n`; the same for the same seed. Rows are drawn independently of each other.
    pub fn sample(&self, count: usize, seed: u64) -> Array2<f64> {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let (family, components) = (self.family(), self.components_per_member());
        Array2::from_shape_fn((count, self.rows()), |(_, row)| {
            let member = random.random_range(0..self.members());
            let k = match components {
                1 => 0,
                _ => self.chosen_component(member, row, random.random()),
            };
            let standard = family.draw(&mut random);
            let component = self.component(member, row, k);
            family.observed(component.location + standard * component.squared_scale.sqrt())
        })
    }

    /// The component of a member within whose weight the share `left` of all weights falls.
    fn chosen_component(&self, member: usize, row: usize, mut left: f64) -> usize {
        let last = self.components_per_member() - 1;
        let within = |k: &usize| {
            left -= self.component(member, row, *k).log_weight.exp();
            left < 0.0
        };
        (0..last).find(within).unwrap_or(last)
    }

    pub(super) fn cumulative_at(&self, row: usize, y: f64) -> f64 {
        self.cumulative_and_density_at(row, y).0
    }

    fn cumulative_and_density_at(&self, row: usize, y: f64) -> (f64, f64) {
        let family = self.family();
        let at = |component: Component| {
            let weight = component.log_weight.exp();
            let (below, density) = family.cumulative_and_density(&component, y);
            (weight * below, weight * density)
        };
        let sums = self.components(row).map(at);
        let (below, density) = sums.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let members = self.members() as f64;
        (below / members, density / members)
    }

    pub(super) fn check_rows(&self, found: usize) -> Result<(), ModelError> {
        if found == self.rows() {
            return Ok(());
        }
        Err(ModelError::Shape {
            what: "targets beside the prediction".into(),
            found: vec![found],
            expected: vec![self.rows()],
        })
    }
}

#[cfg(test)]
#[path = "mixture_tests.rs"]
mod tests;
