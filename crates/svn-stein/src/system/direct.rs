//! Exact solves with iterative refinement.
//!
//! ```text
//! α ← B⁻¹ v;   repeat  r ← v − A α,  α ← α + B⁻¹ r   while the residual falls
//! ```
//!
//! `B⁻¹` is a factorised inverse of `A`. Woodbury loses digits when the curvature is large against the damping;
//! a step or two of refinement with the matrix-free product brings them back, and the residual is reported.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::diagonal::PerCoordinate;
use super::reduced::Reduced;
use super::rows::RowGram;
use super::woodbury::Woodbury;
use super::{SolveInfo, SolveRoute, SolveStatus, SvnSystem, block, dense};
use crate::error::SteinError;
use crate::repulsion::{Coupling, factor};
use crate::target::Curvature;

/// Relative residual at which refinement stops.
const CONVERGED: f64 = 1e-13;
/// Relative residual above which a direct solve counts as broken down.
const BROKEN: f64 = 1e-4;
const REFINEMENTS: usize = 4;

/// A factorised matrix.
pub(super) trait Inverse {
    /// `out = B⁻¹ rhs`, `N × d`.
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError>;
    /// Size of the largest matrix factorised.
    fn size(&self) -> usize;
}

pub(super) fn solve(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    force_dense: bool,
    rows: &mut RowGram,
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    if !force_dense && (system.coupling == Coupling::BlockDiagonal || system.is_decoupled()) {
        let inverse = block::PerParticle::new(system, rows);
        return refine(system, &inverse, SolveRoute::PerParticle, rhs, out);
    }
    let repulsion = || factor(system.coupling, system.kernel.slope);
    match system.curvature {
        Curvature::LowRank(low) if !force_dense => {
            let base = Reduced::new(system, &low, rows)?;
            let inverse = Woodbury::new(base, repulsion(), system)?;
            refine(system, &inverse, SolveRoute::Reduced, rhs, out.view_mut())
        }
        Curvature::Diagonal(h) if !force_dense => {
            let base = PerCoordinate::new(system, h)?;
            let inverse = Woodbury::new(base, repulsion(), system)?;
            refine(
                system,
                &inverse,
                SolveRoute::PerCoordinate,
                rhs,
                out.view_mut(),
            )
        }
        _ => {
            let inverse = dense::Factor::new(system)?;
            refine(system, &inverse, SolveRoute::Dense, rhs, out.view_mut())
        }
    }
}

fn refine(
    system: &SvnSystem<'_>,
    inverse: &dyn Inverse,
    route: SolveRoute,
    rhs: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    inverse.solve_into(rhs, out.view_mut())?;
    let mut residual = Array2::zeros(rhs.dim());
    let mut relative_residual = system.residual_into(out.view(), rhs, residual.view_mut());
    let mut correction = Array2::zeros(rhs.dim());
    let mut iterations = 0;
    while relative_residual > CONVERGED && iterations < REFINEMENTS {
        inverse.solve_into(residual.view(), correction.view_mut())?;
        out += &correction;
        let next = system.residual_into(out.view(), rhs, residual.view_mut());
        if next.is_nan() || next >= relative_residual {
            out -= &correction;
            break;
        }
        iterations += 1;
        let stalled = next > 0.5 * relative_residual;
        relative_residual = next;
        if stalled {
            break;
        }
    }
    let status = if relative_residual <= BROKEN {
        SolveStatus::Solved
    } else {
        SolveStatus::Breakdown
    };
    Ok(SolveInfo {
        route,
        status,
        iterations,
        relative_residual,
        size: inverse.size(),
    })
}
