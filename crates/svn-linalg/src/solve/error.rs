//! Why an iterative solve could not start, stopped, or is not a solution.

use super::{CgInfo, MinresInfo};
use crate::input::InputError;

/// A solve that could not be carried out at all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The input was rejected before the first product.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A product of a finite vector was NaN or infinite.
    #[error("the {operator} returned a non-finite product")]
    NonFiniteProduct {
        /// `operator` or `preconditioner`.
        operator: &'static str,
    },
}

/// What stopped a solver short of a solution, other than the iteration limit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Breakdown {
    /// `zᵀ P⁻¹ z ≤ 0`: the preconditioner is not positive definite.
    Preconditioner,
    /// `A` vanishes on the search direction, up to rounding: the operator is singular and the right-hand side has a
    /// part outside its range.
    Singular,
    /// The recurrence says converged, `b − A x` says otherwise, and restarting does not help: the tolerance is below
    /// what the conditioning allows in double precision.
    Stagnation,
}

impl std::fmt::Display for Breakdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Preconditioner => "the preconditioner is not positive definite",
            Self::Singular => "the operator is singular along a search direction",
            Self::Stagnation => "the residual no longer decreases",
        })
    }
}

/// A solve whose result is not a solution to the tolerance asked for.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotConverged {
    /// From [`cg`](super::cg()).
    #[error("CG stopped after {} iterations at relative residual {:.1e}: {}", .0.iterations, .0.relative_residual, .0.status)]
    Cg(CgInfo),
    /// From [`minres`](super::minres()).
    #[error("MINRES stopped after {} iterations at relative residual {:.1e}: {}", .0.iterations, .0.relative_residual, .0.status)]
    Minres(MinresInfo),
}
