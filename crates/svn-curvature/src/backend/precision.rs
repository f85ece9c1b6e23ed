//! Numbers in which networks are evaluated.

use serde::{Deserialize, Serialize};

/// Numbers in which a network is evaluated. Particles, log density, score and curvature are f64 in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// f64.
    #[default]
    Double,
    /// f32: half the time and memory of larger networks, seven digits.
    Single,
}
