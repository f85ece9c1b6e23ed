//! What CG and MINRES share: checks, safe scaling, true residuals, and when to stop.
//!
//! The solver works on `r / σ`, `σ` the power of two nearest below `max|r|`, so that `rᵀr` and `pᵀAp` are of order one
//! for right-hand sides of any size, and a solve for `2ᵏ b` is the solve for `b` bit for bit.
//!
//! ```text
//! r = b − A x, judged    →    iterate from r / σ until the recurrence ends    →    r = b − A x, judged    →    …
//! ```

use ndarray::{Array1, ArrayView1, Axis};

use super::SolveError;
use crate::input::{InputError, check_finite_vector, check_non_negative, check_shape};
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

/// Why a recurrence ended.
pub(super) enum Exit<S> {
    /// It says converged, or the iterations are used up.
    Claim,
    /// Only a recurrence from the true residual can tell more, whether or not that residual is smaller.
    Restart,
    /// There is no way on; the status, unless `x` proves to be a solution.
    Stuck(S),
    /// The status, even if `x` proves to be a solution.
    Final(S),
}

/// How a solve ended.
pub(super) enum End<S> {
    /// The true residual is at most the tolerance.
    Converged,
    /// The iterations are used up.
    IterationLimit,
    /// The true residual is not half of what it was at the last restart.
    Stagnation,
    /// What the solver said.
    Own(S),
}

/// A system, checked, and the iterate.
pub(super) struct Frame<'a> {
    operator: &'a dyn SelfAdjoint,
    preconditioner: Option<&'a dyn SelfAdjoint>,
    b: ArrayView1<'a, f64>,
    b_norm: f64,
    tolerance: f64,
    max_iterations: usize,
    pub(super) x: Array1<f64>,
    pub(super) iterations: usize,
    /// `‖b − A x‖ / ‖b‖` when it was last computed.
    pub(super) relative_residual: f64,
    /// `σ`.
    scale: f64,
    /// `tolerance · ‖b‖ / σ`, at least ε: the recurrence goes on to shrink when `b − A x` no longer does.
    target: f64,
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        operator: &'a dyn SelfAdjoint,
        preconditioner: Option<&'a dyn SelfAdjoint>,
        b: ArrayView1<'a, f64>,
        x0: Option<ArrayView1<'_, f64>>,
        tolerance: f64,
        max_iterations: usize,
    ) -> Result<Self, InputError> {
        check_non_negative("tolerance", tolerance)?;
        let n = operator.nrows();
        check_shape("operator", (n, operator.ncols()), (n, n))?;
        if let Some(p) = preconditioner {
            check_shape("preconditioner", (p.nrows(), p.ncols()), (n, n))?;
        }
        check_shape("right-hand side", (b.len(), 1), (n, 1))?;
        check_finite_vector("right-hand side", b)?;
        if let Some(x0) = x0 {
            check_shape("start", (x0.len(), 1), (n, 1))?;
            check_finite_vector("start", x0)?;
        }
        let b_norm = norm(b);
        if !b_norm.is_finite() {
            return Err(InputError::OutOfRange {
                name: "norm of the right-hand side",
                range: "at most 1.8e308",
                value: b_norm,
            });
        }
        Ok(Self {
            operator,
            preconditioner,
            b,
            b_norm,
            tolerance,
            max_iterations,
            x: match x0 {
                Some(x0) if b_norm > 0.0 => x0.to_owned(),
                _ => Array1::zeros(n),
            },
            iterations: 0,
            relative_residual: 0.0,
            scale: 1.0,
            target: 0.0,
        })
    }

    /// `A v`.
    pub(super) fn apply(&self, v: &Array1<f64>) -> Result<Array1<f64>, SolveError> {
        product("operator", self.operator, v)
    }

    /// `P⁻¹ v`; `v` itself without a preconditioner.
    pub(super) fn precondition(&self, v: &Array1<f64>) -> Result<Array1<f64>, SolveError> {
        match self.preconditioner {
            Some(p) => product("preconditioner", p, v),
            None => Ok(v.clone()),
        }
    }

    /// Add `size · v` with `‖A v‖ · size = ‖b‖` to the start.
    pub(super) fn disturb(&mut self, v: &Array1<f64>) -> Result<(), SolveError> {
        let length = norm(self.apply(v)?.view());
        if length > 0.0 {
            self.x.scaled_add(self.b_norm / length, v);
        }
        Ok(())
    }

    /// `x += α σ p`, a step that was found for `r / σ`.
    pub(super) fn advance(&mut self, alpha: f64, p: &Array1<f64>) {
        self.x.scaled_add(alpha * self.scale, p);
    }

    /// Whether a recurrence at the residual `r / σ` has to end: it claims convergence, or the iterations are used up.
    pub(super) fn is_due(&self, r: &Array1<f64>) -> bool {
        norm(r.view()) <= self.target || self.iterations >= self.max_iterations
    }

    /// Iterate from true residuals until one of them, or `recurrence`, ends the solve.
    ///
    /// `b = 0` is solved by 0 whatever the operator, without a product.
    pub(super) fn run<S>(
        &mut self,
        mut recurrence: impl FnMut(&mut Self, Array1<f64>) -> Result<Exit<S>, SolveError>,
    ) -> Result<End<S>, SolveError> {
        if self.b_norm == 0.0 {
            return Ok(End::Converged);
        }
        let mut exit = Exit::Claim;
        let mut before = f64::INFINITY;
        loop {
            let residual = &self.b - &self.apply(&self.x)?;
            self.relative_residual = norm(residual.view()) / self.b_norm;
            let converged = self.relative_residual <= self.tolerance;
            let stagnates = self.relative_residual > 0.5 * before;
            match exit {
                Exit::Final(status) => return Ok(End::Own(status)),
                _ if converged => return Ok(End::Converged),
                Exit::Stuck(status) => return Ok(End::Own(status)),
                _ if self.iterations >= self.max_iterations => return Ok(End::IterationLimit),
                Exit::Claim if stagnates => return Ok(End::Stagnation),
                Exit::Claim | Exit::Restart => {}
            }
            before = self.relative_residual;
            self.scale = power_of_two_below(max_abs(residual.view()));
            self.target = (self.tolerance * (self.b_norm / self.scale)).max(f64::EPSILON);
            exit = recurrence(self, residual / self.scale)?;
        }
    }
}

fn product(
    name: &'static str,
    operator: &dyn SelfAdjoint,
    v: &Array1<f64>,
) -> Result<Array1<f64>, SolveError> {
    let mut out = Array1::zeros(v.len());
    let columns = (v.view(), out.view_mut());
    operator.apply_into(
        columns.0.insert_axis(Axis(1)),
        columns.1.insert_axis(Axis(1)),
    );
    if out.iter().all(|v| v.is_finite()) {
        Ok(out)
    } else {
        Err(SolveError::NonFiniteProduct { operator: name })
    }
}
