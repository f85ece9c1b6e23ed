//! What a solve did, and whether a step may be taken from it.

use serde::{Deserialize, Serialize};

use crate::error::SteinError;
use crate::repulsion::Coupling;

/// Route that was taken to a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SolveRoute {
    /// One factor of `H_p + λ I` a particle, decoupled by the kernel matrix.
    Decoupled,
    /// Dense `N d × N d`.
    Dense,
    /// `N` independent systems, one per particle.
    PerParticle,
    /// Conjugate gradients.
    Cg,
    /// MINRES.
    Minres,
    /// Preconditioned CG or MINRES.
    Preconditioned,
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SolveStatus {
    /// To working precision or to the tolerance asked for.
    Solved,
    /// The iteration limit came first; a step is taken from the iterate only near the solution.
    IterationLimit,
    /// A direction of negative curvature was met; the iterate is that before it.
    NegativeCurvature,
    /// The iteration broke down, or a factor did; the iterate is the last good one.
    Breakdown,
}

/// What a solve did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SolveInfo {
    /// Route taken.
    pub route: SolveRoute,
    /// How it ended.
    pub status: SolveStatus,
    /// Iterations (iterative) or refinement steps (direct).
    pub iterations: usize,
    /// `‖v − A α‖ / ‖v‖` (zero for `v = 0`); of a solve in eigenbases that are at hand `|‖Bᵀ v‖/‖v‖ − 1|`, by which a basis that is not orthogonal is told.
    pub relative_residual: f64,
    /// Size of the largest matrix factorised; zero for iterations without a preconditioner.
    pub size: usize,
}

/// Relative residual up to which the iterate of an iteration that was cut short is an inexact Newton step.
const FORCING: f64 = 0.1;

impl SolveInfo {
    /// Whether a step may be taken: solved, or cut short close to the solution, as inexact Newton methods do (Dembo,
    /// Eisenstat and Steihaug, *Inexact Newton methods*, 1982).
    pub(crate) fn suffices(&self) -> bool {
        self.status == SolveStatus::Solved || self.relative_residual <= FORCING
    }

    /// The error of a solve that does not.
    pub(crate) fn unsolved(&self, coupling: Coupling) -> SteinError {
        SteinError::Unsolved {
            coupling: coupling.name(),
            route: match self.route {
                SolveRoute::Decoupled => "the decoupled factors",
                SolveRoute::Dense => "the dense factor",
                SolveRoute::PerParticle => "the factors of the blocks",
                SolveRoute::Cg => "conjugate gradients",
                SolveRoute::Minres => "MINRES",
                SolveRoute::Preconditioned => "the preconditioned iteration",
            },
            status: match self.status {
                SolveStatus::Solved => "solved",
                SolveStatus::IterationLimit => "iteration limit",
                SolveStatus::NegativeCurvature => "negative curvature",
                SolveStatus::Breakdown => "breakdown",
            },
            residual: self.relative_residual,
        }
    }
}
