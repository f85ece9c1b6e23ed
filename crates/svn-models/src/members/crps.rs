//! Continuous ranked probability score of the mixture of the members' densities.
//!
//! ```text
//! CRPS(F, y) = ∫ (F(t) − 1[t ≥ y])² dt = E|X − y| − ½ E|X − X'|,    X, X' independent draws
//! ```
//!
//! | family | how |
//! |---|---|
//! | Gaussian | `E|X − y| = Σ_i w_i A(y − m_i, v_i)`, `E|X − X'| = Σ_ij w_i w_j A(m_i − m_j, v_i + v_j)`, with `A(m, v) = m (2Φ(m/√v) − 1) + 2 √v φ(m/√v)` |
//! | Student t | `E|X − y| = Σ_i w_i s_i [z (2F_ν(z) − 1) + 2 f_ν(z) (ν + z²)/(ν − 1)]`, `z = (y − m_i)/s_i`; `½ E|X − X'| = ∫ F (1 − F)` by trapezoids |
//! | levels | the integral itself, `F` being a staircase |
//!
//! # References
//! Gneiting and Raftery, *Strictly proper scoring rules, prediction, and estimation*, JASA 2007; Grimit et al., *The continuous
//! ranked probability score for circular variables and its application to mesoscale forecast ensemble verification*, QJRMS
//! 2006, eq. 5 (mixtures of Gaussians).

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use ndarray::{Array1, ArrayView1};
use rayon::prelude::*;

use super::{Component, Family, Prediction};
use crate::ModelError;
use crate::likelihood::Levels;

/// Relative change at which halving the steps of an integral ends, and halvings at most.
const CLOSE: f64 = 1e-9;
const HALVINGS: usize = 8;

/// Logarithm of what is left out of an integral at its ends.
const END: f64 = 30.0;

impl Prediction {
    /// Continuous ranked probability score of one target a row, `n`, in the units of the targets; less is better.
    ///
    /// # Errors
    /// [`ModelError::Shape`] unless there is one target a row.
    pub fn crps(&self, targets: ArrayView1<'_, f64>) -> Result<Array1<f64>, ModelError> {
        self.check_rows(targets.len())?;
        let rows: Vec<f64> = (0..self.rows())
            .into_par_iter()
            .map(|row| self.crps_at(row, targets[row]))
            .collect();
        Ok(rows.into())
    }

    fn crps_at(&self, row: usize, y: f64) -> f64 {
        let members = self.members() as f64;
        let weighted = self
            .components(row)
            .map(|component| (component.log_weight.exp() / members, component));
        match self.family() {
            Family::Gaussian => {
                let all: Vec<_> = weighted.collect();
                gaussians(&all, y)
            }
            Family::StudentT { degrees } => {
                let all: Vec<_> = weighted.collect();
                let distance = all
                    .iter()
                    .map(|(weight, component)| weight * student_t_distance(component, degrees, y));
                distance.sum::<f64>() - self.half_spread(row, degrees, &all)
            }
            Family::Ordinal(levels) => staircase(levels, y, |level| self.cumulative_at(row, level)),
        }
    }

    /// `∫ F (1 − F)`, by trapezoids in `u`, `t = c + a sinh u`: fine about the middle, and far out as fine as the tails are smooth.
    fn half_spread(&self, row: usize, degrees: f64, all: &[(f64, Component)]) -> f64 {
        let scales = || all.iter().map(|(_, of)| of.squared_scale.sqrt());
        let centre = all
            .iter()
            .map(|(weight, of)| weight * of.location)
            .sum::<f64>();
        let least = scales().fold(f64::INFINITY, f64::min);
        let far = all
            .iter()
            .map(|(_, of)| (of.location - centre).abs() + of.squared_scale.sqrt())
            .fold(0.0, f64::max);
        if !(least > 0.0 && far.is_finite()) {
            return f64::NAN;
        }
        let end = (far / least).asinh() + END / (degrees - 1.0);
        let at = |u: f64| {
            let below = self.cumulative_at(row, centre + least * u.sinh());
            least * u.cosh() * below * (1.0 - below)
        };
        let mut steps = 2 * (2.0 * end).ceil() as usize;
        let mut step = 2.0 * end / steps as f64;
        let mut sum: f64 = (0..=steps).map(|k| at(k as f64 * step - end)).sum();
        let mut found = sum * step;
        for _ in 0..HALVINGS {
            sum += (0..steps)
                .map(|k| at((k as f64 + 0.5) * step - end))
                .sum::<f64>();
            (steps, step) = (2 * steps, 0.5 * step);
            let finer = sum * step;
            let done = (finer - found).abs() <= CLOSE * finer;
            found = finer;
            if done {
                break;
            }
        }
        found
    }
}

/// Of weighted Gaussians.
fn gaussians(all: &[(f64, Component)], y: f64) -> f64 {
    let distance = all
        .iter()
        .map(|(weight, of)| weight * mean_distance(y - of.location, of.squared_scale));
    let mut spread = 0.0;
    for (i, (weight, of)) in all.iter().enumerate() {
        let own = mean_distance(0.0, 2.0 * of.squared_scale);
        spread += weight * weight * own;
        for (other_weight, other) in &all[..i] {
            let (mean, variance) = (
                of.location - other.location,
                of.squared_scale + other.squared_scale,
            );
            spread += 2.0 * weight * other_weight * mean_distance(mean, variance);
        }
    }
    distance.sum::<f64>() - 0.5 * spread
}

/// `E|X|` of a Gaussian.
fn mean_distance(mean: f64, variance: f64) -> f64 {
    let sd = variance.sqrt();
    let z = mean / sd;
    // 2Φ(z) − 1 = erf(z/√2) loses no digits near 0.
    mean * libm::erf(z * FRAC_1_SQRT_2) + sd * (2.0 / PI).sqrt() * (-0.5 * z * z).exp()
}

/// `E|X − y|` of a Student t.
fn student_t_distance(of: &Component, degrees: f64, y: f64) -> f64 {
    let family = Family::StudentT { degrees };
    let scale = of.squared_scale.sqrt();
    let z = (y - of.location) / scale;
    let density = scale * family.log_density(of, y).exp();
    let inside = 1.0 - 2.0 * family.upper_tail(z);
    scale * (z * inside + 2.0 * density * (degrees + z * z) / (degrees - 1.0))
}

/// Of a distribution with all its mass on levels.
fn staircase(levels: Levels, y: f64, cumulative: impl Fn(f64) -> f64) -> f64 {
    let last = levels.count().saturating_sub(1);
    // Where there is no mass between the target and the levels.
    let beyond = (levels.value(0) - y).max(y - levels.value(last)).max(0.0);
    let steps = (0..last).map(|k| {
        let (from, to) = (levels.value(k), levels.value(k + 1));
        let split = y.clamp(from, to);
        let below = cumulative(from);
        (split - from) * below.powi(2) + (to - split) * (1.0 - below).powi(2)
    });
    beyond + steps.sum::<f64>()
}

#[cfg(test)]
#[path = "crps_tests.rs"]
mod tests;
