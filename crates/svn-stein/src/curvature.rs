//! Curvature as a step uses it: checked, and measured along the change of each particle.

use ndarray::{Array1, ArrayView2};
use svn_linalg::{MatrixFault, ParticleOperators, parallel};

use crate::error::SteinError;

/// Check shape and numbers; see [`ParticleOperators::check`].
///
/// # Errors
/// [`SteinError::Shape`], [`SteinError::NonFinite`] naming the particle, [`SteinError::Setting`] for a weight or shift out
/// of range, or [`SteinError::Curvature`] for a matrix that is none of a Gauss-Newton sum.
pub(crate) fn validate(
    curvature: &dyn ParticleOperators,
    particles: usize,
    dim: usize,
) -> Result<(), SteinError> {
    let found = vec![curvature.particles(), curvature.dim()];
    let expected = vec![particles, dim];
    if found != expected {
        return Err(SteinError::Shape {
            what: "curvature",
            found,
            expected,
        });
    }
    curvature.check().map_err(|fault| match fault {
        MatrixFault::NonFinite { particle } => SteinError::NonFinite {
            what: "curvature",
            particle,
        },
        MatrixFault::Setting {
            name,
            value,
            expected,
        } => SteinError::Setting {
            name: match name {
                "weight" => "curvature.weight",
                _ => "curvature.shift (prior precision)",
            },
            value: value.to_string(),
            expected,
        },
        fault => SteinError::Curvature(fault),
    })
}

/// `u_pᵀ H_p u_p` of every particle, undamped.
///
/// # Shapes
/// `u`: `N × d`.
pub(crate) fn quadratic(curvature: &dyn ParticleOperators, u: ArrayView2<'_, f64>) -> Array1<f64> {
    let (n, d) = u.dim();
    let work = curvature.factor_size().saturating_mul(n * d);
    parallel::map(n, work, |p| curvature.quadratic(p, u.row(p))).into()
}

/// A typical eigenvalue of the part that is always there, `δ` for low rank, the mean diagonal otherwise: what a damping
/// raised from zero is measured against.
pub(crate) fn scale(curvature: &dyn ParticleOperators) -> f64 {
    match curvature.low_rank() {
        Some(low) => low.shift,
        None => curvature.mean_diagonal().mean().unwrap_or(0.0).abs(),
    }
}
