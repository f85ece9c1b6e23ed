//! Iterative solves with operators known by their action.
//!
//! | solver | operator | several right-hand sides | stops with |
//! |---|---|---|---|
//! | [`cg()`], [`cg_columns`] | positive definite | one operator product per iteration for all | [`CgStatus`] |
//! | [`minres()`], [`minres_columns`] | symmetric, indefinite or singular | the same | [`MinresStatus`] |
//!
//! A relative residual in an info is always that of the returned `x`, computed afresh as `‖b − A x‖ / ‖b‖` and never
//! taken from a recurrence. `Converged` means that this number is at most the tolerance, and where it is, no other status is
//! given, save that CG never calls an operator solved in which it met negative curvature.

mod cg;
mod columns;
mod error;
mod minres;

pub use cg::{CgColumns, CgInfo, CgParams, CgSolution, CgStatus, Definiteness, cg, cg_columns};
pub use error::{Breakdown, NotConverged, SolveError};
pub use minres::{
    MinresColumns, MinresInfo, MinresParams, MinresSolution, MinresStatus, minres, minres_columns,
};
