//! Newton steps of particles that do not interact.
//!
//! ```text
//! (H_m + λ I) V_m = s_m,    φ_m ← φ_m + ε τ_m V_m
//! ```
//!
//! It is Stein variational Newton with `K = I` and no repulsion: each particle climbs to a mode of its own by damped
//! Gauss-Newton steps, and where the modes are one, the particles end as one. What a kernel adds is what another method has
//! over this one with the same curvature, damping, trust region and step size.

use serde::{Deserialize, Serialize};

use crate::damping::Damping;
use crate::error::SteinError;
use crate::method::{Lift, Newton, NewtonStep, StepControl, is_zero};
use crate::rate::Rate;
use crate::repulsion::Coupling;
use crate::system::Solver;

/// Settings of [`Method::NewtonEnsemble`](crate::Method::NewtonEnsemble): those of [`Newton`] that are no matter of the
/// interaction, with the same defaults and ranges.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `solver` | `auto` | how each system is solved | [`Solver`] |
/// | `rate` | 1, constant | largest step size `ε` | > 0 |
/// | `control` | `slope` | whether the whole step size has to be earned, by all particles together | [`StepControl`] |
/// | `damping` | adaptive from 1 | Levenberg `λ` on the scale of the log posterior | ≥ 0 |
/// | `trust_region` | 10 | bound in nats on `ε² V_mᵀ H_m V_m` | > 0, or none |
/// | `momentum` | 0 | `β` of the average of the field over batches | 0 to below 1 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewtonEnsemble {
    /// How each system is solved.
    pub solver: Solver,
    /// Largest step size.
    pub rate: Rate,
    /// Whether the whole of it has to be earned.
    pub control: StepControl,
    /// Levenberg damping.
    pub damping: Damping,
    /// Largest predicted change `ε² V_mᵀ H_m V_m` of a particle, in nats.
    pub trust_region: Option<f64>,
    /// `β` of the average of the field over batches, see [`Newton::momentum`].
    #[serde(skip_serializing_if = "is_zero")]
    pub momentum: f64,
}

impl From<Newton> for NewtonEnsemble {
    /// The same steps without the interaction.
    fn from(newton: Newton) -> Self {
        Self {
            solver: newton.solver,
            rate: newton.rate,
            control: newton.control,
            damping: newton.damping,
            trust_region: newton.trust_region,
            momentum: newton.momentum,
        }
    }
}

impl NewtonEnsemble {
    /// The bare method, as [`Newton::plain`] is.
    pub fn plain() -> Self {
        Newton::plain().into()
    }

    /// Check every setting.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        NewtonStep::from(self).validate()
    }
}

impl Default for NewtonEnsemble {
    fn default() -> Self {
        Newton::default().into()
    }
}

impl From<&NewtonEnsemble> for NewtonStep {
    fn from(settings: &NewtonEnsemble) -> Self {
        Self {
            coupling: Coupling::BlockDiagonal,
            solver: settings.solver,
            // Nothing is singular where `K = I`.
            ridge: 0.0,
            rate: settings.rate,
            control: settings.control,
            damping: settings.damping,
            trust_region: settings.trust_region,
            // `K α = α`; the slope of the step control is that of this map.
            lift: Lift::Kernel,
            momentum: settings.momentum,
        }
    }
}
