//! Exact solves with iterative refinement.
//!
//! ```text
//! α ← B⁻¹ v;   repeat  r ← v − A α,  α ← α + B⁻¹ r   while the residual falls
//! ```
//!
//! `B⁻¹` is a factorised inverse of `A`. Woodbury loses digits when the curvature is large against the damping;
//! a step or two of refinement with the matrix-free product brings them back, and the residual is reported.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::choice::{DIRECT_WORK, REPULSION_LIMIT};
use super::coupled::Coupled;
use super::inverse::Inverse;
use super::{
    Scratch, SolveInfo, SolveRoute, SolveStatus, SvnSystem, assembled, block, eigenbasis, krylov,
};
use crate::error::SteinError;
use crate::repulsion::{factor, rank};

/// Relative residual at which refinement stops: far below what a step can use, and one or two products saved.
pub(super) const CONVERGED: f64 = 1e-10;
/// Relative residual above which a direct solve counts as broken down.
const BROKEN: f64 = 1e-4;
const REFINEMENTS: usize = 12;
/// Relative residual asked of a direct solve before an iteration takes over.
const TOLERANCE: f64 = 1e-9;
const MAX_ITERATIONS: usize = 500;

pub(super) fn solve(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    scratch: &mut Scratch,
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    if let Some((info, quadratic)) = eigenbasis::solve(system, rhs, out.view_mut()) {
        scratch.quadratic = Some(quadratic);
        return Ok(info);
    }
    if system.is_block_diagonal() {
        let block::Blocks { inverse, exact } =
            block::blocks(system, std::mem::take(&mut scratch.factors))?;
        let info = if exact {
            let route = SolveRoute::PerParticle;
            refine(system, &*inverse, route, rhs, scratch, out)
        } else {
            let (tolerance, limit) = (TOLERANCE, MAX_ITERATIONS);
            krylov::preconditioned(system, rhs, &*inverse, tolerance, limit, scratch, out)
        };
        scratch.factors = inverse.into_memory();
        return info;
    }
    if system.is_denser() {
        return dense(system, rhs, scratch, out);
    }
    if rank(system.coupling, system.shape().0) <= REPULSION_LIMIT {
        // Refinement needs no positive definiteness, so that it serves `exact` as well.
        let inverse = Coupled::new(system, factor(system.coupling, system.kernel.slope))?;
        let route = SolveRoute::Decoupled;
        let info = refine(system, &inverse, route, rhs, scratch, out.view_mut())?;
        if info.relative_residual <= TOLERANCE {
            return Ok(info);
        }
    }
    preconditioned(system, rhs, TOLERANCE, MAX_ITERATIONS, scratch, out)
}

/// Through the `N d × N d` matrix.
pub(super) fn dense(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    scratch: &mut Scratch,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    let inverse = assembled::DenseFactor::new(system)?;
    refine(system, &inverse, SolveRoute::Dense, rhs, scratch, out)
}

/// CG or MINRES with the diagonal blocks of the system, or with one factor of `H_p + λ I` a particle and a repulsion that is
/// positive semi-definite and small enough to factor.
pub(super) fn preconditioned(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    tolerance: f64,
    max_iterations: usize,
    scratch: &mut Scratch,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    let n = system.shape().0;
    let coupling = system.coupling;
    let decoupled = !system.is_block_diagonal() && system.decoupled_work() <= DIRECT_WORK;
    let inverse: Box<dyn Inverse + '_> = if decoupled {
        let worthwhile = coupling.is_psd() && rank(coupling, n) <= REPULSION_LIMIT;
        let repulsion = factor(coupling, system.kernel.slope).filter(|_| worthwhile);
        Box::new(Coupled::new(system, repulsion)?)
    } else {
        block::blocks(system, std::mem::take(&mut scratch.factors))?.inverse
    };
    krylov::preconditioned(
        system,
        rhs,
        inverse.as_ref(),
        tolerance,
        max_iterations,
        scratch,
        out,
    )
}

fn refine(
    system: &SvnSystem<'_>,
    inverse: &dyn Inverse,
    route: SolveRoute,
    rhs: ArrayView2<'_, f64>,
    scratch: &mut Scratch,
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    inverse.solve_into(rhs, scratch, out.view_mut())?;
    let mut relative_residual = system.residual(out.view(), rhs, scratch);
    let mut iterations = 0;
    while relative_residual > CONVERGED && iterations < REFINEMENTS {
        // Taken out, since the inverse borrows the rest.
        let residual = std::mem::take(&mut scratch.residual);
        let mut correction = std::mem::take(&mut scratch.correction);
        let solved = inverse.solve_into(residual.view(), scratch, correction.view_mut());
        out += &correction;
        (scratch.residual, scratch.correction) = (residual, correction);
        solved?;
        let next = system.residual(out.view(), rhs, scratch);
        if next.is_nan() || next >= relative_residual {
            out -= &scratch.correction;
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
