//! What CG is asked for and what it answers.

use std::fmt;

use ndarray::Array1;

use crate::solve::{Breakdown, NotConverged};

/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `tolerance` | 1e-8 | on `‖b − A x‖ / ‖b‖` | finite, ≥ 0 |
/// | `max_iterations` | 1000 | operator products, checks of the true residual not counted | any |
/// | `definiteness` | `Krylov` | how hard to look for negative curvature | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgParams {
    /// Relative residual at which to stop.
    pub tolerance: f64,
    /// Iterations at most.
    pub max_iterations: usize,
    /// How hard to look for negative curvature.
    pub definiteness: Definiteness,
}

impl Default for CgParams {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_iterations: 1000,
            definiteness: Definiteness::Krylov,
        }
    }
}

/// Where CG looks for negative curvature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Definiteness {
    /// In the Krylov space of the right-hand side: enough unless `b − A x₀` has no part along a negative eigenvector.
    #[default]
    Krylov,
    /// Along every eigenvector, by starting from a fixed pseudo-random vector added to `x₀`.
    Probe,
}

/// Why CG stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum CgStatus {
    /// `‖b − A x‖ ≤ tolerance · ‖b‖`, computed afresh.
    Converged,
    /// `max_iterations` done and the true residual still above the tolerance.
    IterationLimit,
    /// A search direction with `pᵀAp ≤ 0`: the operator is not positive definite. `x` is the iterate before it.
    NegativeCurvature {
        /// `pᵀAp / pᵀp`, not positive up to rounding.
        curvature: f64,
    },
    /// No way on.
    Breakdown {
        /// Why.
        reason: Breakdown,
    },
}

impl fmt::Display for CgStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::IterationLimit => f.write_str("iteration limit"),
            Self::NegativeCurvature { curvature } => {
                write!(
                    f,
                    "negative curvature {curvature:.1e}, the operator is not positive definite"
                )
            }
            Self::Breakdown { reason } => reason.fmt(f),
        }
    }
}

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct CgInfo {
    /// Iterations done; 0 if the start was good enough.
    pub iterations: usize,
    /// `‖b − A x‖ / ‖b‖` of the returned `x`; 0 for `b = 0`.
    pub relative_residual: f64,
    /// Why it stopped.
    pub status: CgStatus,
}

/// The last iterate and how good it is.
///
/// Dropping it unseen does not pass the compiler where warnings are errors:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # use svn_linalg::{CgParams, Diagonal, SolveError, cg};
/// # fn main() -> Result<(), SolveError> {
/// # let (a, b) = (Diagonal::constant(2, 1.0)?, ndarray::array![1.0, 2.0]);
/// cg(&a, b.view(), None, None, &CgParams::default())?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the iterate is a solution only if info.status says so"]
pub struct CgSolution {
    /// The last iterate.
    pub x: Array1<f64>,
    /// Whether it is a solution.
    pub info: CgInfo,
    /// The direction of negative curvature, of unit length, if one was met: `xᵀAx` decreases without bound along it.
    pub direction: Option<Array1<f64>>,
}

impl CgSolution {
    /// `x` if it is a solution.
    ///
    /// # Errors
    /// [`NotConverged`] with the info.
    pub fn converged(self) -> Result<Array1<f64>, NotConverged> {
        match self.info.status {
            CgStatus::Converged => Ok(self.x),
            _ => Err(NotConverged::Cg(self.info)),
        }
    }
}
