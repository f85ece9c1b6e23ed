//! What a particle method carries from step to step: everything a resumed run needs.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::error::SteinError;
use crate::momentum::Momentum;
use crate::rate::{Moments, Rate};
use crate::slope::Slope;
use svn_linalg::dense::first_non_finite;

/// Particles and the memory of the method, serialisable.
///
/// Made by [`Sampler::init`](crate::Sampler::init). Continuing from a saved state gives the same bytes as never having
/// stopped: random numbers are a function of seed, step and particle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub(crate) particles: Array2<f64>,
    /// Where the particles were before the last step.
    pub(crate) anchor: Array2<f64>,
    pub(crate) moments: Moments,
    pub(crate) seed: u64,
    pub(crate) step: u64,
    pub(crate) damping: f64,
    /// Factor on the rate after rejected steps.
    pub(crate) backoff: f64,
    pub(crate) rejections: usize,
    pub(crate) slope: Slope,
    /// Largest coordinate at the start, at least one.
    pub(crate) size: f64,
    /// Most that a Newton step may be, whatever its schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<f64>,
    /// Of Newton steps with momentum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) momentum: Option<Momentum>,
}

impl State {
    /// Positions, `N × d`.
    pub fn particles(&self) -> ArrayView2<'_, f64> {
        self.particles.view()
    }

    /// Steps taken.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Levenberg damping `λ` of the next step.
    pub fn damping(&self) -> f64 {
        self.damping
    }

    /// From now on no Newton step has a size `ε_t` above this one, whatever its schedule says: for who measures on the way how long steps may be. One that is no
    /// positive number changes nothing.
    pub fn limit_newton_rate(&mut self, limit: f64) {
        if limit > 0.0 {
            self.limit = Some(limit);
        }
    }

    /// `ε_t` of a Newton step, limit and back-off included.
    pub(crate) fn newton_rate(&self, rate: &Rate) -> f64 {
        let limit = self.limit.unwrap_or(f64::INFINITY);
        rate.at(self.step).min(limit) * self.backoff
    }

    /// Seed of the noise.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Put particle `p` back to where the last step began; false if it is there already.
    pub(crate) fn roll_back(&mut self, p: usize) -> bool {
        if p >= self.particles.nrows() || self.particles.row(p) == self.anchor.row(p) {
            return false;
        }
        let (anchor, mut row) = (self.anchor.row(p), self.particles.row_mut(p));
        row.assign(&anchor);
        true
    }
}

/// Non-empty and finite.
pub(crate) fn check_particles(particles: ArrayView2<'_, f64>) -> Result<(), SteinError> {
    let (n, d) = particles.dim();
    if n == 0 || d == 0 {
        return Err(SteinError::Empty {
            particles: n,
            dim: d,
        });
    }
    match first_non_finite(particles.rows()) {
        Some(particle) => Err(SteinError::NonFinite {
            what: "position",
            particle,
        }),
        None => Ok(()),
    }
}

/// Largest absolute coordinate.
pub(crate) fn largest(particles: ArrayView2<'_, f64>) -> f64 {
    particles.iter().fold(0.0, |size, x| size.max(x.abs()))
}
