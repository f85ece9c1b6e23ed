//! Preconditioned conjugate gradients for positive definite operators, stopping on negative curvature.
//!
//! ```text
//! r = b − A x,  z = P⁻¹ r,  p = z
//! α = rᵀz / pᵀAp      x += α p      r −= α A p      β = r₊ᵀz₊ / rᵀz      p = z₊ + β p
//! ```
//!
//! # What `Converged` says about the operator
//! The residual polynomial of CG has only positive roots as long as every `pᵀAp` is positive, so on an eigenvector
//! with a negative eigenvalue it exceeds 1: that part of the residual only grows. CG therefore cannot converge to
//! tolerance τ on an indefinite operator unless the part of the *initial residual* in the negative eigenspace is below
//! `τ ‖b‖` from the start. [`Definiteness::Probe`] starts from a vector with a part along every eigenvector, which
//! closes that gap too, at the price of a few more iterations.
//!
//! # References
//! Hestenes and Stiefel 1952; Steihaug 1983 for the stop on negative curvature.

mod outcome;
mod run;

pub use outcome::{CgColumns, CgInfo, CgParams, CgSolution, CgStatus, Definiteness};

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use super::SolveError;
use super::columns::System;
use crate::input::check_non_negative;
use crate::operator::SelfAdjoint;
use run::{Run, advance, aim, probe, refresh};

/// Solve `A x = b`, `A` positive definite.
///
/// # Shapes
/// `b`, `x0`: `n`; `preconditioner` applies `P⁻¹`, `n × n`, positive definite.
///
/// # Errors
/// [`SolveError`] for bad input or a product that is not finite. Everything else is a [`CgStatus`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::{CgParams, Symmetric, cg};
///
/// let a = Symmetric::new(array![[4.0, 1.0], [1.0, 3.0]])?;
/// let x = cg(&a, array![1.0, 2.0].view(), None, None, &CgParams::default())?.converged()?;
/// assert!((x[0] - 1.0 / 11.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cg(
    operator: &dyn SelfAdjoint,
    b: ArrayView1<'_, f64>,
    x0: Option<ArrayView1<'_, f64>>,
    preconditioner: Option<&dyn SelfAdjoint>,
    params: &CgParams,
) -> Result<CgSolution, SolveError> {
    let x0 = x0.map(|x0| x0.insert_axis(Axis(1)));
    let CgColumns {
        x,
        infos,
        mut directions,
    } = cg_columns(operator, b.insert_axis(Axis(1)), x0, preconditioner, params)?;
    Ok(CgSolution {
        x: x.remove_axis(Axis(1)),
        info: infos[0],
        direction: directions.swap_remove(0),
    })
}

/// Solve `A X = B` for `k` right-hand sides, each by its own CG, all products in one.
///
/// # Shapes
/// `b`, `x0`: `n × k`.
///
/// # Errors
/// As for [`cg`].
pub fn cg_columns(
    operator: &dyn SelfAdjoint,
    b: ArrayView2<'_, f64>,
    x0: Option<ArrayView2<'_, f64>>,
    preconditioner: Option<&dyn SelfAdjoint>,
    params: &CgParams,
) -> Result<CgColumns, SolveError> {
    check_non_negative("tolerance", params.tolerance)?;
    let system = System::new(operator, preconditioner, b, x0)?;
    let mut runs = (0..b.ncols())
        .map(|j| Run::new(b.column(j), x0.as_ref().map(|x0| x0.column(j)), params))
        .collect::<Result<Vec<_>, _>>()?;
    if params.definiteness == Definiteness::Probe {
        probe(&system, &mut runs)?;
    }
    while runs.iter().any(Run::is_active) {
        refresh(&system, &mut runs, params)?;
        aim(&system, &mut runs)?;
        advance(&system, &mut runs, params)?;
    }
    let mut x = Array2::zeros(b.raw_dim());
    for (mut column, run) in x.columns_mut().into_iter().zip(&runs) {
        column.assign(&run.column.x);
    }
    Ok(CgColumns {
        x,
        infos: runs.iter().map(Run::info).collect(),
        directions: runs.into_iter().map(|run| run.negative).collect(),
    })
}
