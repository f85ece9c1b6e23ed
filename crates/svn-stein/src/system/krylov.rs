//! Matrix-free solves: `N` curvature products an iteration.
//!
//! CG for the PSD couplings; MINRES for `exact`, which is often indefinite. What the iteration met is reported, never
//! thrown away; the iterate is used as it is, as a truncated Newton method does.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};
use svn_linalg::{CgParams, CgStatus, MinresParams, MinresStatus};

use super::{SolveInfo, SolveRoute, SolveStatus, SvnSystem};
use crate::error::SteinError;

pub(super) fn cg(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    tolerance: f64,
    max_iterations: usize,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    let b = Array1::from_iter(rhs.iter().copied());
    let params = CgParams {
        tolerance,
        max_iterations,
        ..CgParams::default()
    };
    let solution =
        svn_linalg::cg(system, b.view(), None, None, &params).map_err(|e| failed(system, &e))?;
    let status = match solution.info.status {
        CgStatus::Converged => SolveStatus::Solved,
        CgStatus::IterationLimit => SolveStatus::IterationLimit,
        CgStatus::NegativeCurvature { .. } => SolveStatus::NegativeCurvature,
        _ => SolveStatus::Breakdown,
    };
    Ok(finish(
        system,
        rhs,
        &solution.x,
        SolveRoute::Cg,
        status,
        solution.info.iterations,
        out,
    ))
}

pub(super) fn minres(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    tolerance: f64,
    max_iterations: usize,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    let b = Array1::from_iter(rhs.iter().copied());
    let params = MinresParams {
        tolerance,
        max_iterations,
        ..MinresParams::default()
    };
    let solution = svn_linalg::minres(system, b.view(), None, None, &params)
        .map_err(|e| failed(system, &e))?;
    let status = match solution.info.status {
        MinresStatus::Converged => SolveStatus::Solved,
        MinresStatus::IterationLimit => SolveStatus::IterationLimit,
        _ => SolveStatus::Breakdown,
    };
    Ok(finish(
        system,
        rhs,
        &solution.x,
        SolveRoute::Minres,
        status,
        solution.info.iterations,
        out,
    ))
}

fn finish(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    x: &Array1<f64>,
    route: SolveRoute,
    status: SolveStatus,
    iterations: usize,
    mut out: ArrayViewMut2<'_, f64>,
) -> SolveInfo {
    out.iter_mut().zip(x).for_each(|(o, &x)| *o = x);
    let mut residual = Array2::zeros(rhs.dim());
    let relative_residual = system.residual_into(out.view(), rhs, residual.view_mut());
    SolveInfo {
        route,
        status,
        iterations,
        relative_residual,
        size: 0,
    }
}

fn failed(system: &SvnSystem<'_>, error: &dyn std::fmt::Display) -> SteinError {
    let (n, d) = system.shape();
    SteinError::Singular {
        coupling: system.coupling.name(),
        size: n * d,
        reason: error.to_string(),
    }
}
