//! What CG and MINRES share: several right-hand sides at once, true residuals, and scaling that cannot under- or overflow.
//!
//! Each right-hand side is a column with a state of its own; the operator sees all active columns in one product.
//! Within a column the solver works on `r / σ`, `σ` the power of two nearest below `max|r|`, so that `rᵀr` and `pᵀAp`
//! are of order one for right-hand sides of any size, and a solve for `2ᵏ b` is the solve for `b` bit for bit.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use super::SolveError;
use crate::input::{InputError, check_finite, check_shape};
use crate::operator::SelfAdjoint;

/// `‖v‖₂` without overflow or underflow of the squares.
pub(super) fn norm(v: ArrayView1<'_, f64>) -> f64 {
    let scale = power_of_two_below(max_abs(v));
    if scale == 0.0 {
        return 0.0;
    }
    scale * v.iter().map(|v| (v / scale).powi(2)).sum::<f64>().sqrt()
}

fn max_abs(v: ArrayView1<'_, f64>) -> f64 {
    v.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Largest power of two not above `x ≥ 0`; 0 for 0.
fn power_of_two_below(x: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let guess = x.log2().floor().clamp(-1074.0, 1023.0).exp2();
    // log2 rounds; one correction either way makes the power exact, hence the same for 2ᵏ x.
    if guess > x {
        guess / 2.0
    } else if x / guess >= 2.0 && guess < f64::MAX / 2.0 {
        guess * 2.0
    } else {
        guess
    }
}

/// The arguments of a solve, checked.
pub(super) struct System<'a> {
    operator: &'a dyn SelfAdjoint,
    preconditioner: Option<&'a dyn SelfAdjoint>,
}

impl<'a> System<'a> {
    pub(super) fn new(
        operator: &'a dyn SelfAdjoint,
        preconditioner: Option<&'a dyn SelfAdjoint>,
        b: ArrayView2<'_, f64>,
        x0: Option<ArrayView2<'_, f64>>,
    ) -> Result<Self, SolveError> {
        let (rows, columns) = (operator.nrows(), operator.ncols());
        check_shape("operator", (rows, columns), (rows, rows))?;
        if let Some(p) = preconditioner {
            check_shape("preconditioner", (p.nrows(), p.ncols()), (rows, rows))?;
        }
        check_shape("right-hand side", b.dim(), (rows, b.ncols()))?;
        check_finite("right-hand side", b)?;
        if let Some(x0) = x0 {
            check_shape("start", x0.dim(), b.dim())?;
            check_finite("start", x0)?;
        }
        Ok(Self {
            operator,
            preconditioner,
        })
    }

    /// `A [v_1 … v_k]`, columns numbered by `ids` in errors.
    pub(super) fn apply(
        &self,
        ids: &[usize],
        v: &[ArrayView1<'_, f64>],
    ) -> Result<Array2<f64>, SolveError> {
        product("operator", self.operator, ids, v)
    }

    /// `P⁻¹ [v_1 … v_k]`; the vectors themselves without a preconditioner.
    pub(super) fn precondition(
        &self,
        ids: &[usize],
        v: &[ArrayView1<'_, f64>],
    ) -> Result<Array2<f64>, SolveError> {
        match self.preconditioner {
            Some(p) => product("preconditioner", p, ids, v),
            None => Ok(gather(v)),
        }
    }
}

/// Indices of the runs for which `f` has a vector, and the vectors.
pub(super) fn select<'a, R>(
    runs: &'a [R],
    f: impl Fn(&'a R) -> Option<&'a Array1<f64>>,
) -> (Vec<usize>, Vec<ArrayView1<'a, f64>>) {
    runs.iter()
        .enumerate()
        .filter_map(|(j, run)| f(run).map(|v| (j, v.view())))
        .unzip()
}

fn gather(columns: &[ArrayView1<'_, f64>]) -> Array2<f64> {
    let n = columns.first().map_or(0, ArrayView1::len);
    let mut x = Array2::zeros((n, columns.len()));
    for (mut target, column) in x.columns_mut().into_iter().zip(columns) {
        target.assign(column);
    }
    x
}

fn product(
    name: &'static str,
    operator: &dyn SelfAdjoint,
    ids: &[usize],
    columns: &[ArrayView1<'_, f64>],
) -> Result<Array2<f64>, SolveError> {
    let x = gather(columns);
    let mut out = Array2::zeros(x.raw_dim());
    operator.apply_into(x.view(), out.view_mut());
    for (&column, values) in ids.iter().zip(out.columns()) {
        if !values.iter().all(|v| v.is_finite()) {
            return Err(SolveError::NonFiniteProduct {
                operator: name,
                column,
            });
        }
    }
    Ok(out)
}

/// One right-hand side: where it stands, and by how much it is scaled.
pub(super) struct Column {
    pub(super) b: Array1<f64>,
    pub(super) x: Array1<f64>,
    b_norm: f64,
    tolerance: f64,
    pub(super) iterations: usize,
    /// `‖b − A x‖ / ‖b‖` at the last refresh.
    pub(super) relative_residual: f64,
    /// `σ`.
    pub(super) scale: f64,
    /// `tolerance · ‖b‖ / σ`, at least ε: the recurrence goes on to shrink when `b − A x` no longer does.
    pub(super) target: f64,
    restarts: usize,
}

/// What a true residual says about a column.
pub(super) enum Verdict {
    /// At most the tolerance.
    Converged,
    /// Above it; here is `(b − A x) / σ` to go on from.
    Continue(Array1<f64>),
    /// As `Continue`, but not half of what it was at the last restart.
    Stagnated(Array1<f64>),
}

impl Column {
    pub(super) fn new(
        b: ArrayView1<'_, f64>,
        x0: Option<ArrayView1<'_, f64>>,
        tolerance: f64,
    ) -> Result<Self, InputError> {
        let b_norm = norm(b);
        if !b_norm.is_finite() {
            return Err(InputError::OutOfRange {
                name: "norm of the right-hand side",
                range: "at most 1.8e308",
                value: b_norm,
            });
        }
        let x = match x0 {
            Some(x0) if b_norm > 0.0 => x0.to_owned(),
            _ => Array1::zeros(b.len()),
        };
        Ok(Self {
            b: b.to_owned(),
            x,
            b_norm,
            tolerance,
            iterations: 0,
            relative_residual: if b_norm > 0.0 { f64::INFINITY } else { 0.0 },
            scale: 1.0,
            target: 0.0,
            restarts: 0,
        })
    }

    /// `b = 0`, whose solution is 0 whatever the operator.
    pub(super) fn is_trivial(&self) -> bool {
        self.b_norm == 0.0
    }

    pub(super) fn b_norm(&self) -> f64 {
        self.b_norm
    }

    /// Judge `x` by its true residual, given `A x`, and rescale to it.
    pub(super) fn refresh(&mut self, ax: ArrayView1<'_, f64>) -> Verdict {
        let residual = &self.b - &ax;
        let before = self.relative_residual;
        self.relative_residual = norm(residual.view()) / self.b_norm;
        if self.relative_residual <= self.tolerance {
            return Verdict::Converged;
        }
        self.scale = power_of_two_below(max_abs(residual.view()));
        self.target = (self.tolerance * (self.b_norm / self.scale)).max(f64::EPSILON);
        self.restarts += 1;
        let residual = residual / self.scale;
        if self.restarts > 1 && self.relative_residual > 0.5 * before {
            Verdict::Stagnated(residual)
        } else {
            Verdict::Continue(residual)
        }
    }
}
