//! Iterative solves with operators known by their action.
//!
//! | solver | operator | stops with |
//! |---|---|---|
//! | [`cg()`] | positive definite | [`CgStatus`] |
//! | [`minres()`] | symmetric, indefinite or singular | [`MinresStatus`] |
//!
//! A relative residual in an info is always that of the returned `x`, computed afresh as `‖b − A x‖ / ‖b‖` and never
//! taken from a recurrence. `Converged` means that this number is at most the tolerance, and where it is, no other status is
//! given, save that CG never calls an operator solved in which it met negative curvature.

mod cg;
mod error;
mod frame;
mod minres;

pub use cg::{CgInfo, CgParams, CgSolution, CgStatus, Definiteness, cg};
pub use error::{Breakdown, NotConverged, SolveError};
pub use minres::{MinresInfo, MinresParams, MinresSolution, MinresStatus, minres};
