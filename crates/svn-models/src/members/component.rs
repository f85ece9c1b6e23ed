//! What a member's density is made of: weighted densities of one family, each with a location and a squared scale.
//!
//! | family | density at `z = (y − location)/scale` | variance |
//! |---|---|---|
//! | [`Gaussian`](Family::Gaussian) | `φ(z)/scale` | `scale²` |
//! | [`StudentT`](Family::StudentT) | `c_ν (1 + z²/ν)^{−(ν+1)/2}/scale` | `scale² ν/(ν − 2)` |
//! | [`Ordinal`](Family::Ordinal) | that of a logistic, all of it on the nearest level; as a density over the level's step | by a sum |

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use statrs::function::beta::checked_beta_reg;

use crate::likelihood::{Levels, log_normaliser, standard, standard_logistic};

/// Standard deviations beyond which a Gaussian has no mass in f64.
const FAR: f64 = 40.0;

/// The family of all components of a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Family {
    /// Normal.
    Gaussian,
    /// Student's t.
    StudentT {
        /// Degrees of freedom `ν > 2`.
        degrees: f64,
    },
    /// A logistic density cut at the edges of levels.
    Ordinal(Levels),
}

/// One density of a member's mixture at a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// Logarithm of its weight; the weights of a member sum to 1.
    pub log_weight: f64,
    /// Where it is centred, in the units of the target.
    pub location: f64,
    /// Square of its scale, in their squares; of a Gaussian the variance.
    pub squared_scale: f64,
}

impl Family {
    /// Variance over squared scale; of levels that of the logistic density before it is cut.
    pub fn variance_ratio(self) -> f64 {
        match self {
            Self::Gaussian => 1.0,
            Self::Ordinal(_) => PI * PI / 3.0,
            Self::StudentT { degrees } => degrees / (degrees - 2.0),
        }
    }

    /// A component with so much more variance.
    pub(super) fn widened(self, component: Component, variance: f64) -> Component {
        Component {
            squared_scale: component.squared_scale + variance / self.variance_ratio(),
            ..component
        }
    }

    /// `ln p(y)` of a component, its weight left out.
    pub(super) fn log_density(self, component: &Component, y: f64) -> f64 {
        let Component {
            location,
            squared_scale,
            ..
        } = *component;
        let square = (y - location).powi(2) / squared_scale;
        match self {
            Self::Gaussian => -0.5 * (square + (2.0 * PI * squared_scale).ln()),
            Self::Ordinal(levels) => {
                let level = levels.nearest(y);
                let scale = squared_scale.sqrt();
                levels.log_probability(level, location, scale) - levels.step().ln()
            }
            Self::StudentT { degrees } => {
                let tail = (degrees + 1.0) * (square / degrees).ln_1p();
                log_normaliser(degrees) - 0.5 * (tail + squared_scale.ln())
            }
        }
    }

    /// `F(y)` and `p(y)` of a component, its weight left out.
    pub(super) fn cumulative_and_density(self, component: &Component, y: f64) -> (f64, f64) {
        let scale = component.squared_scale.sqrt();
        let z = (component.location - y) / scale;
        match self {
            Self::Gaussian => {
                let density = (-0.5 * z * z).exp() / (scale * (2.0 * PI).sqrt());
                (self.upper_tail(z), density)
            }
            Self::StudentT { .. } => (self.upper_tail(z), self.log_density(component, y).exp()),
            Self::Ordinal(levels) => {
                let count = levels.not_above(y);
                let below = levels.cumulative(count, component.location, scale);
                (below, self.log_density(component, y).exp())
            }
        }
    }

    /// Probability above `z` under the standard density; its lower tail by symmetry.
    pub(super) fn upper_tail(self, z: f64) -> f64 {
        match self {
            Self::Gaussian => 0.5 * libm::erfc(z * FRAC_1_SQRT_2),
            Self::Ordinal(_) => 1.0 / (1.0 + z.exp()),
            Self::StudentT { degrees } => {
                let (square, half) = (z * z, 0.5 * degrees);
                // Of the tail where it is small, of what is about the middle else, so that neither is lost in the other.
                let beyond = if square > degrees {
                    0.5 * beta_reg(half, 0.5, degrees / (degrees + square))
                } else {
                    0.5 - 0.5 * beta_reg(0.5, half, square / (degrees + square))
                };
                if z > 0.0 { beyond } else { 1.0 - beyond }
            }
        }
    }

    /// The `z` below which the standard density has `level` of its mass, `0 < level < 1`, by halving.
    pub(super) fn standard_quantile(self, level: f64) -> f64 {
        let below = |z: f64| self.upper_tail(-z);
        let mut far = FAR;
        // Heavy tails have no end that holds for every level.
        while far < 1e300 && (below(-far) >= level || below(far) <= level) {
            far *= FAR;
        }
        let (mut low, mut high) = (-far, far);
        loop {
            let middle = low + 0.5 * (high - low);
            if !(middle > low && middle < high) {
                return middle;
            }
            match below(middle) < level {
                true => low = middle,
                false => high = middle,
            }
        }
    }

    /// A draw from the standard density.
    pub(super) fn draw<R: Rng + ?Sized>(self, rng: &mut R) -> f64 {
        match self {
            Self::Gaussian => rng.sample(StandardNormal),
            Self::Ordinal(_) => standard_logistic(rng),
            Self::StudentT { degrees } => {
                standard(degrees).map_or(f64::NAN, |distribution| rng.sample(distribution))
            }
        }
    }
}

impl Family {
    /// What is observed where the uncut density has `y`: the nearest level, else `y` itself.
    pub(super) fn observed(self, y: f64) -> f64 {
        match self {
            Self::Ordinal(levels) => levels.value(levels.nearest(y)),
            Self::Gaussian | Self::StudentT { .. } => y,
        }
    }
}

/// The regularised incomplete beta function; NaN of NaN.
fn beta_reg(a: f64, b: f64, x: f64) -> f64 {
    checked_beta_reg(a, b, x).unwrap_or(f64::NAN)
}

#[cfg(test)]
#[path = "component_tests.rs"]
mod tests;
