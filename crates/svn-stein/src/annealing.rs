//! Annealing of the drive against the repulsion, so that particles cross between modes early on.
//!
//! ```text
//! v_m = (1/N) Σ_p [ γ_t K_pm s_p + G_pm ]
//! hyperbolic  γ_t = tanh( (1.3 t/T)^p )
//! cyclical    γ_t = ( (t mod T/C) / (T/C) )^p,   one after T
//! ```
//!
//! Reference: D'Angelo & Fortuin (2021), arXiv 2101.09815.

use serde::{Deserialize, Serialize};

use crate::error::SteinError;

/// Schedule of `γ_t`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Annealing {
    /// One rise.
    Hyperbolic {
        /// `T`, the step at which the rise is over.
        steps: u64,
        /// `p`, steepness.
        power: f64,
    },
    /// Several rises, then one.
    Cyclical {
        /// `T`, the step at which the last rise is over.
        steps: u64,
        /// `C`, number of rises.
        cycles: u64,
        /// `p`, steepness.
        power: f64,
    },
}

impl Annealing {
    /// `γ_t` in `[0, 1]`.
    pub fn at(&self, step: u64) -> f64 {
        match *self {
            Self::Hyperbolic { steps, power } => {
                if step >= steps {
                    return 1.0;
                }
                (1.3 * step as f64 / steps as f64).powf(power).tanh()
            }
            Self::Cyclical {
                steps,
                cycles,
                power,
            } => {
                if step >= steps {
                    return 1.0;
                }
                let period = steps as f64 / cycles.max(1) as f64;
                ((step as f64 % period) / period).powf(power)
            }
        }
    }

    /// Check the ranges.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        let (steps, cycles, power) = match *self {
            Self::Hyperbolic { steps, power } => (steps, 1, power),
            Self::Cyclical {
                steps,
                cycles,
                power,
            } => (steps, cycles, power),
        };
        let setting = |name, value: String, expected| {
            Err(SteinError::Setting {
                name,
                value,
                expected,
            })
        };
        if steps == 0 || cycles == 0 || cycles > steps {
            let value = format!("{steps} steps, {cycles} cycles");
            return setting("annealing.steps", value, "at least one step a cycle");
        }
        if !(power.is_finite() && power > 0.0) {
            return setting("annealing.power", power.to_string(), "a positive number");
        }
        Ok(())
    }
}
