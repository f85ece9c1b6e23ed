//! What MINRES is asked for and what it answers.

use std::fmt;

use ndarray::Array1;

use crate::solve::{Breakdown, NotConverged};

/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `tolerance` | 1e-8 | on `‖b − A x‖ / ‖b‖` | finite, ≥ 0 |
/// | `range_tolerance` | 1e-13 | on `‖A r‖ / (‖A‖ ‖r‖)`, below which no `x` does better | finite, ≥ 0 |
/// | `max_iterations` | 1000 | operator products, checks of the true residual not counted | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinresParams {
    /// Relative residual at which to stop.
    pub tolerance: f64,
    /// Relative size of `A r` at which the residual counts as orthogonal to the range of `A`.
    pub range_tolerance: f64,
    /// Iterations at most.
    pub max_iterations: usize,
}

impl Default for MinresParams {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            range_tolerance: 1e-13,
            max_iterations: 1000,
        }
    }
}

/// Why MINRES stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum MinresStatus {
    /// `‖b − A x‖ ≤ tolerance · ‖b‖`, computed afresh.
    Converged,
    /// The system is singular and has no solution; `x` is a least-squares one.
    LeastSquares {
        /// `‖A r‖ / (‖A‖ ‖r‖)` (in the norm of the preconditioner).
        normal_residual: f64,
    },
    /// `max_iterations` done and the true residual still above the tolerance.
    IterationLimit,
    /// No way on.
    Breakdown {
        /// Why.
        reason: Breakdown,
    },
}

impl fmt::Display for MinresStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::LeastSquares { .. } => {
                f.write_str("the system has no solution, this is a least-squares one")
            }
            Self::IterationLimit => f.write_str("iteration limit"),
            Self::Breakdown { reason } => reason.fmt(f),
        }
    }
}

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct MinresInfo {
    /// Iterations done; 0 if the start was good enough.
    pub iterations: usize,
    /// `‖b − A x‖ / ‖b‖` of the returned `x`; 0 for `b = 0`.
    pub relative_residual: f64,
    /// Why it stopped.
    pub status: MinresStatus,
}

/// The last iterate and how good it is.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the iterate is a solution only if info.status says so"]
pub struct MinresSolution {
    /// The last iterate.
    pub x: Array1<f64>,
    /// Whether it is a solution.
    pub info: MinresInfo,
}

impl MinresSolution {
    /// `x` if it is a solution.
    ///
    /// # Errors
    /// [`NotConverged`] with the info.
    pub fn converged(self) -> Result<Array1<f64>, NotConverged> {
        match self.info.status {
            MinresStatus::Converged => Ok(self.x),
            _ => Err(NotConverged::Minres(self.info)),
        }
    }
}
