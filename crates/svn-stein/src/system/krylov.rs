//! Matrix-free solves: `N` curvature products an iteration.
//!
//! CG for the PSD couplings; MINRES for `exact`, which is often indefinite. What the iteration met is reported, never
//! thrown away; a step is taken from the iterate only where its residual is small, as inexact Newton methods do.

use std::cell::RefCell;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};
use svn_linalg::{CgParams, CgStatus, LinearOperator, MinresParams, MinresStatus, SelfAdjoint};

use super::inverse::Inverse;
use super::{Scratch, SolveInfo, SolveRoute, SolveStatus, SvnSystem};
use crate::error::SteinError;

pub(super) fn cg(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    tolerance: f64,
    max_iterations: usize,
    scratch: &mut Scratch,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    let solution = run_cg(system, rhs, None, tolerance, max_iterations)?;
    Ok(finish(system, rhs, SolveRoute::Cg, solution, scratch, out))
}

pub(super) fn minres(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    tolerance: f64,
    max_iterations: usize,
    scratch: &mut Scratch,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    let solution = run_minres(system, rhs, None, tolerance, max_iterations)?;
    Ok(finish(
        system,
        rhs,
        SolveRoute::Minres,
        solution,
        scratch,
        out,
    ))
}

/// CG for PSD couplings, MINRES for `exact`, with a positive definite `inverse` near that of the system.
pub(super) fn preconditioned(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    inverse: &dyn Inverse,
    tolerance: f64,
    max_iterations: usize,
    scratch: &mut Scratch,
    out: ArrayViewMut2<'_, f64>,
) -> Result<SolveInfo, SteinError> {
    let operator = Preconditioner {
        inverse,
        shape: system.shape(),
        failure: RefCell::new(None),
    };
    let solved = if system.coupling.is_psd() {
        run_cg(system, rhs, Some(&operator), tolerance, max_iterations)
    } else {
        run_minres(system, rhs, Some(&operator), tolerance, max_iterations)
    };
    if let Some(error) = operator.failure.into_inner() {
        return Err(error);
    }
    let info = finish(
        system,
        rhs,
        SolveRoute::Preconditioned,
        solved?,
        scratch,
        out,
    );
    Ok(SolveInfo {
        size: inverse.size(),
        ..info
    })
}

type Solution = (Array1<f64>, SolveStatus, usize);

fn run_cg(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    preconditioner: Option<&dyn SelfAdjoint>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Solution, SteinError> {
    let b = Array1::from_iter(rhs.iter().copied());
    let params = CgParams {
        tolerance,
        max_iterations,
        ..CgParams::default()
    };
    let solution = svn_linalg::cg(system, b.view(), None, preconditioner, &params)
        .map_err(|e| failed(system, &e))?;
    let status = match solution.info.status {
        CgStatus::Converged => SolveStatus::Solved,
        CgStatus::IterationLimit => SolveStatus::IterationLimit,
        CgStatus::NegativeCurvature { .. } => SolveStatus::NegativeCurvature,
        _ => SolveStatus::Breakdown,
    };
    Ok((solution.x, status, solution.info.iterations))
}

fn run_minres(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    preconditioner: Option<&dyn SelfAdjoint>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Solution, SteinError> {
    let b = Array1::from_iter(rhs.iter().copied());
    let params = MinresParams {
        tolerance,
        max_iterations,
        ..MinresParams::default()
    };
    let solution = svn_linalg::minres(system, b.view(), None, preconditioner, &params)
        .map_err(|e| failed(system, &e))?;
    let status = match solution.info.status {
        MinresStatus::Converged => SolveStatus::Solved,
        MinresStatus::IterationLimit => SolveStatus::IterationLimit,
        _ => SolveStatus::Breakdown,
    };
    Ok((solution.x, status, solution.info.iterations))
}

/// An [`Inverse`] on vectors. The first error is kept for the caller, since an operator cannot return one.
struct Preconditioner<'a> {
    inverse: &'a dyn Inverse,
    shape: (usize, usize),
    failure: RefCell<Option<SteinError>>,
}

impl LinearOperator for Preconditioner<'_> {
    fn nrows(&self) -> usize {
        self.shape.0 * self.shape.1
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let mut b = Array2::zeros(self.shape);
        let mut solved = Array2::zeros(self.shape);
        let mut scratch = Scratch::default();
        scratch.fit(self.shape);
        for (x, mut out) in x.axis_iter(Axis(1)).zip(out.axis_iter_mut(Axis(1))) {
            b.iter_mut().zip(x).for_each(|(b, &x)| *b = x);
            match self
                .inverse
                .solve_into(b.view(), &mut scratch, solved.view_mut())
            {
                Ok(()) => out.iter_mut().zip(&solved).for_each(|(o, &s)| *o = s),
                Err(error) => {
                    out.fill(0.0);
                    self.failure.borrow_mut().get_or_insert(error);
                }
            }
        }
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for Preconditioner<'_> {}

fn finish(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    route: SolveRoute,
    (x, status, iterations): Solution,
    scratch: &mut Scratch,
    mut out: ArrayViewMut2<'_, f64>,
) -> SolveInfo {
    out.iter_mut().zip(&x).for_each(|(o, &x)| *o = x);
    let relative_residual = system.residual(out.view(), rhs, scratch);
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
