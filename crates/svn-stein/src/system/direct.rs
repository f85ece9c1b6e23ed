//! Exact solves with iterative refinement.
//!
//! ```text
//! α ← B⁻¹ v;   repeat  r ← v − A α,  α ← α + B⁻¹ r   while the residual falls
//! ```
//!
//! `B⁻¹` is a factorised inverse of `A`. Woodbury loses digits when the curvature is large against the damping;
//! a step or two of refinement with the matrix-free product brings them back, and the residual is reported.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::decoupled::Decoupled;
use super::diagonal::PerCoordinate;
use super::reduced::Reduced;
use super::rows::RowGram;
use super::woodbury::Woodbury;
use super::{SolveInfo, SolveRoute, SolveStatus, SvnSystem, block, dense, krylov};
use crate::error::SteinError;
use crate::repulsion::{Coupling, factor, rank};
use crate::target::{Curvature, LowRank};

/// Relative residual at which refinement stops: far below what a step can use, and one or two products saved.
const CONVERGED: f64 = 1e-10;
/// Relative residual above which a direct solve counts as broken down.
const BROKEN: f64 = 1e-4;
const REFINEMENTS: usize = 12;
/// Relative residual asked of an iteration that stands in for a direct solve, and at which a short cut is good enough.
const TOLERANCE: f64 = 1e-9;
const MAX_ITERATIONS: usize = 500;

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
    let decoupled = system.is_decoupled();
    if !force_dense && (system.coupling == Coupling::BlockDiagonal || decoupled) {
        if matches!(system.curvature, Curvature::Factored(_)) && !decoupled {
            return preconditioned(system, rhs, TOLERANCE, MAX_ITERATIONS, rows, out);
        }
        let inverse = block::PerParticle::new(system, rows)?;
        return refine(system, &inverse, SolveRoute::PerParticle, rhs, out);
    }
    let repulsion = || factor(system.coupling, system.kernel.slope);
    match &system.curvature {
        Curvature::LowRank(low) if !force_dense => {
            if nearly_decouples(system, low)? {
                let inverse = Woodbury::new(Decoupled::new(system, rows)?, repulsion(), system)?;
                let info = refine(system, &inverse, SolveRoute::Decoupled, rhs, out.view_mut())?;
                if info.relative_residual <= TOLERANCE {
                    return Ok(info);
                }
            }
            let base = Reduced::new(system, low, rows)?;
            let inverse = Woodbury::new(base, repulsion(), system)?;
            refine(system, &inverse, SolveRoute::Reduced, rhs, out)
        }
        Curvature::Diagonal(h) if !force_dense => {
            let base = PerCoordinate::new(system, h.view())?;
            let inverse = Woodbury::new(base, repulsion(), system)?;
            refine(system, &inverse, SolveRoute::PerCoordinate, rhs, out)
        }
        Curvature::Factored(_) if !force_dense => {
            // Refinement needs no positive definiteness, so that it serves `exact` as well.
            if rank(system.coupling, system.shape().0) <= super::REPULSION_LIMIT {
                let inverse = Woodbury::new(Decoupled::new(system, rows)?, repulsion(), system)?;
                let info = refine(system, &inverse, SolveRoute::Decoupled, rhs, out.view_mut())?;
                if info.relative_residual <= TOLERANCE {
                    return Ok(info);
                }
            }
            preconditioned(system, rhs, TOLERANCE, MAX_ITERATIONS, rows, out)
        }
        _ => {
            let inverse = dense::DenseFactor::new(system)?;
            refine(system, &inverse, SolveRoute::Dense, rhs, out)
        }
    }
}

/// CG or MINRES with one factor of `H_p + λ I` a particle, and the repulsion where it is positive semi-definite.
pub(super) fn preconditioned(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    tolerance: f64,
    max_iterations: usize,
    rows: &mut RowGram,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    if system.coupling == Coupling::BlockDiagonal || system.is_decoupled() {
        let inverse = block::PerParticle::new(system, rows)?;
        return krylov::preconditioned(system, rhs, &inverse, tolerance, max_iterations, out);
    }
    let n = system.shape().0;
    let worthwhile = system.coupling.is_psd() && rank(system.coupling, n) <= super::REPULSION_LIMIT;
    let repulsion = if worthwhile {
        factor(system.coupling, system.kernel.slope)
    } else {
        None
    };
    let inverse = Woodbury::new(Decoupled::new(system, rows)?, repulsion, system)?;
    krylov::preconditioned(system, rhs, &inverse, tolerance, max_iterations, out)
}

/// Whether refinement with the decoupled factors converges by a digit or more a step.
///
/// Along an eigenvector of `H_p` with a small eigenvalue the defect `η` of the kernel root enters squared and
/// multiplied by the condition number of `H_p + λ I`.
pub(super) fn nearly_decouples(
    system: &SvnSystem<'_>,
    low: &LowRank<'_>,
) -> Result<bool, SteinError> {
    let mu = low.shift + system.damping;
    if mu <= 0.0 {
        return Ok(false);
    }
    let defect = Decoupled::defect(system, mu)?;
    let largest = low
        .rows
        .outer_iter()
        .map(|j| j.iter().map(|x| x * x).sum::<f64>())
        .fold(0.0, f64::max);
    let condition = 1.0 + low.weight * largest / mu;
    Ok(defect.is_finite() && defect < 0.1 && defect * defect * condition < 1e-2)
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
