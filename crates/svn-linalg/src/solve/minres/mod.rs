//! Preconditioned MINRES for symmetric operators of any signature: it minimises `‖b − A x‖` over the Krylov space.
//!
//! Lanczos builds `A V_k = V_{k+1} T_k`, Givens rotations keep `T_k` triangular as it grows:
//!
//! ```text
//! z₊ = A v − (α/β) z − (β/β₋) z₋      v = P⁻¹ z / β       α = vᵀA v       β = √(zᵀP⁻¹z)
//! x₊ = x + φ w                        r₊ = s² r − φ̄ c z₊/β₊
//! ```
//!
//! The residual vector is carried along (last line), so the stop is on the 2-norm with and without a preconditioner.
//!
//! # References
//! Paige and Saunders 1975; the residual recurrence as in Choi, Paige and Saunders 2011.

mod outcome;
mod run;

pub use outcome::{MinresColumns, MinresInfo, MinresParams, MinresSolution, MinresStatus};

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use super::SolveError;
use super::columns::System;
use crate::input::check_non_negative;
use crate::operator::SelfAdjoint;
use run::{Run, expand, precondition, refresh};

/// Solve `A x = b`, `A` symmetric.
///
/// # Shapes
/// `b`, `x0`: `n`; `preconditioner` applies `P⁻¹`, `n × n`, positive definite even where `A` is not.
///
/// # Errors
/// [`SolveError`] for bad input or a product that is not finite. Everything else is a [`MinresStatus`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::{MinresParams, Symmetric, minres};
///
/// let indefinite = Symmetric::new(array![[1.0, 2.0], [2.0, 1.0]])?;
/// let x = minres(&indefinite, array![3.0, 3.0].view(), None, None, &MinresParams::default())?.converged()?;
/// assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn minres(
    operator: &dyn SelfAdjoint,
    b: ArrayView1<'_, f64>,
    x0: Option<ArrayView1<'_, f64>>,
    preconditioner: Option<&dyn SelfAdjoint>,
    params: &MinresParams,
) -> Result<MinresSolution, SolveError> {
    let x0 = x0.map(|x0| x0.insert_axis(Axis(1)));
    let MinresColumns { x, infos } =
        minres_columns(operator, b.insert_axis(Axis(1)), x0, preconditioner, params)?;
    Ok(MinresSolution {
        x: x.remove_axis(Axis(1)),
        info: infos[0],
    })
}

/// Solve `A X = B` for `k` right-hand sides, each by its own MINRES, all products in one.
///
/// # Shapes
/// `b`, `x0`: `n × k`.
///
/// # Errors
/// As for [`minres`].
pub fn minres_columns(
    operator: &dyn SelfAdjoint,
    b: ArrayView2<'_, f64>,
    x0: Option<ArrayView2<'_, f64>>,
    preconditioner: Option<&dyn SelfAdjoint>,
    params: &MinresParams,
) -> Result<MinresColumns, SolveError> {
    check_non_negative("tolerance", params.tolerance)?;
    check_non_negative("range_tolerance", params.range_tolerance)?;
    let system = System::new(operator, preconditioner, b, x0)?;
    let mut runs = (0..b.ncols())
        .map(|j| Run::new(b.column(j), x0.as_ref().map(|x0| x0.column(j)), params))
        .collect::<Result<Vec<_>, _>>()?;
    while runs.iter().any(Run::is_active) {
        refresh(&system, &mut runs, params)?;
        precondition(&system, &mut runs, params)?;
        expand(&system, &mut runs)?;
    }
    let mut x = Array2::zeros(b.raw_dim());
    for (mut column, run) in x.columns_mut().into_iter().zip(&runs) {
        column.assign(&run.column.x);
    }
    Ok(MinresColumns {
        x,
        infos: runs.iter().map(Run::info).collect(),
    })
}
