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

use std::fmt;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use super::columns::{Column, System, Verdict, norm};
use super::{Breakdown, NotConverged, SolveError};
use crate::input::check_non_negative;
use crate::operator::SelfAdjoint;

/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `tolerance` | 1e-8 | on `‖b − A x‖ / ‖b‖` | finite, ≥ 0 |
/// | `range_tolerance` | 1e-13 | on `‖A r‖ / (‖A‖ ‖r‖)`, below which no `x` does better | finite, ≥ 0 |
/// | `max_iterations` | 1000 | operator products, checks of the true residual not counted | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinresParams {
    /// Relative residual at which to stop.
    pub tolerance: f64,
    /// Relative size of `A r` at which the residual counts as orthogonal to the range of `A`.
    pub range_tolerance: f64,
    /// Iterations per right-hand side.
    pub max_iterations: usize,
}

impl Default for MinresParams {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            range_tolerance: 1e-13,
            max_iterations: 1000,
        }
    }
}

/// Why MINRES stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum MinresStatus {
    /// `‖b − A x‖ ≤ tolerance · ‖b‖`, computed afresh.
    Converged,
    /// The system is singular and has no solution; `x` is a least-squares one.
    LeastSquares {
        /// `‖A r‖ / (‖A‖ ‖r‖)` (in the norm of the preconditioner).
        normal_residual: f64,
    },
    /// `max_iterations` done and the true residual still above the tolerance.
    IterationLimit,
    /// No way on.
    Breakdown {
        /// Why.
        reason: Breakdown,
    },
}

impl fmt::Display for MinresStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::LeastSquares { .. } => {
                f.write_str("the system has no solution, this is a least-squares one")
            }
            Self::IterationLimit => f.write_str("iteration limit"),
            Self::Breakdown { reason } => reason.fmt(f),
        }
    }
}

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct MinresInfo {
    /// Iterations done; 0 if the start was good enough.
    pub iterations: usize,
    /// `‖b − A x‖ / ‖b‖` of the returned `x`; 0 for `b = 0`.
    pub relative_residual: f64,
    /// Why it stopped.
    pub status: MinresStatus,
}

/// The last iterate and how good it is.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the iterate is a solution only if info.status says so"]
pub struct MinresSolution {
    /// The last iterate.
    pub x: Array1<f64>,
    /// Whether it is a solution.
    pub info: MinresInfo,
}

impl MinresSolution {
    /// `x` if it is a solution.
    ///
    /// # Errors
    /// [`NotConverged`] with the info.
    pub fn converged(self) -> Result<Array1<f64>, NotConverged> {
        match self.info.status {
            MinresStatus::Converged => Ok(self.x),
            _ => Err(NotConverged::Minres(self.info)),
        }
    }
}

/// The last iterates for several right-hand sides.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a column is a solution only if its info.status says so"]
pub struct MinresColumns {
    /// One solution a column, `n × k`.
    pub x: Array2<f64>,
    /// One info a column.
    pub infos: Vec<MinresInfo>,
}

impl MinresColumns {
    /// `x` if every column is a solution.
    ///
    /// # Errors
    /// [`NotConverged`] with the info of the first that is not.
    pub fn converged(self) -> Result<Array2<f64>, NotConverged> {
        match self
            .infos
            .iter()
            .find(|info| info.status != MinresStatus::Converged)
        {
            None => Ok(self.x),
            Some(info) => Err(NotConverged::Minres(*info)),
        }
    }
}

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

/// Why a true residual is wanted.
#[derive(Debug, Clone, Copy)]
enum Reason {
    /// To start, or because the recurrence says converged.
    Claim,
    /// Because the residual seems orthogonal to the range: the first step from it will tell.
    RangeClaim,
    /// Because this is the end.
    End(MinresStatus),
}

/// Where one right-hand side is in its iteration.
enum Stage {
    /// `x` has to be judged by its true residual.
    Refresh(Reason),
    /// `z` is there, `P⁻¹ z` is due: of the first residual, or of the next Lanczos vector with what came before.
    Precondition {
        z: Array1<f64>,
        before: Option<(Box<Lanczos>, f64)>,
    },
    /// `v` is there, `A v` is due.
    Expand(Box<Lanczos>),
    /// Finished.
    Done(MinresStatus),
}

/// The three-term recurrence and its rotations; names as in the literature.
struct Lanczos {
    z: Array1<f64>,
    z_last: Array1<f64>,
    v: Array1<f64>,
    beta: f64,
    beta_last: f64,
    cosine: f64,
    sine: f64,
    delta_bar: f64,
    epsilon: f64,
    phi_bar: f64,
    w: Array1<f64>,
    w_last: Array1<f64>,
    r: Array1<f64>,
    steps: usize,
}

impl Lanczos {
    /// From the residual `r` and `y = P⁻¹ r`, `beta = √(rᵀy) > 0`.
    fn start(r: Array1<f64>, y: ArrayView1<'_, f64>, beta: f64) -> Self {
        let n = r.len();
        Self {
            v: &y / beta,
            z: r.clone(),
            z_last: Array1::zeros(n),
            beta,
            beta_last: beta,
            cosine: -1.0,
            sine: 0.0,
            delta_bar: 0.0,
            epsilon: 0.0,
            phi_bar: beta,
            w: Array1::zeros(n),
            w_last: Array1::zeros(n),
            r,
            steps: 0,
        }
    }
}

struct Run {
    column: Column,
    stage: Stage,
    /// Frobenius norm of the last rows of `T`, at most √3 ‖A‖; largest seen.
    operator_norm: f64,
}

impl Run {
    fn new(
        b: ArrayView1<'_, f64>,
        x0: Option<ArrayView1<'_, f64>>,
        params: &MinresParams,
    ) -> Result<Self, SolveError> {
        let column = Column::new(b, x0, params.tolerance)?;
        let stage = match column.is_trivial() {
            true => Stage::Done(MinresStatus::Converged),
            false => Stage::Refresh(Reason::Claim),
        };
        Ok(Self {
            column,
            stage,
            operator_norm: 0.0,
        })
    }

    fn is_active(&self) -> bool {
        !matches!(self.stage, Stage::Done(_))
    }

    fn info(&self) -> MinresInfo {
        MinresInfo {
            iterations: self.column.iterations,
            relative_residual: self.column.relative_residual,
            status: match self.stage {
                Stage::Done(status) => status,
                _ => MinresStatus::IterationLimit,
            },
        }
    }

    /// Take the step to the next Lanczos vector `z`, `y = P⁻¹ z`: rotate, update `x` and the residual.
    fn close(
        &mut self,
        mut l: Box<Lanczos>,
        alpha: f64,
        z: Array1<f64>,
        y: ArrayView1<'_, f64>,
        params: &MinresParams,
    ) -> Stage {
        let zy = z.dot(&y);
        let rounding = f64::EPSILON * norm(z.view()) * norm(y);
        if !(zy >= -(z.len() as f64) * rounding) {
            return Stage::Refresh(Reason::End(MinresStatus::Breakdown {
                reason: Breakdown::Preconditioner,
            }));
        }
        let beta = zy.max(0.0).sqrt();
        let row = alpha
            .hypot(beta)
            .hypot(if l.steps == 0 { 0.0 } else { l.beta });
        self.operator_norm = self.operator_norm.max(row);

        let delta = l.cosine * l.delta_bar + l.sine * alpha;
        let gamma_bar = l.sine * l.delta_bar - l.cosine * alpha;
        let epsilon_next = l.sine * beta;
        let delta_bar_next = -l.cosine * beta;
        // ‖A r‖ / ‖r‖ of the residual before this step, in the norm of the preconditioner.
        let normal = gamma_bar.hypot(delta_bar_next);
        if normal <= params.range_tolerance * self.operator_norm {
            if l.steps > 0 {
                return Stage::Refresh(Reason::RangeClaim);
            }
            let normal_residual = if normal > 0.0 {
                normal / self.operator_norm
            } else {
                0.0
            };
            return Stage::Refresh(Reason::End(MinresStatus::LeastSquares { normal_residual }));
        }
        let gamma = gamma_bar.hypot(beta);
        if gamma == 0.0 {
            return Stage::Refresh(Reason::RangeClaim);
        }
        let (cosine, sine) = (gamma_bar / gamma, beta / gamma);
        let phi = cosine * l.phi_bar;
        l.phi_bar *= sine;

        let mut w = &l.v - &(&l.w_last * l.epsilon) - &(&l.w * delta);
        w /= gamma;
        self.column.x.scaled_add(phi * self.column.scale, &w);
        l.w_last = std::mem::replace(&mut l.w, w);
        l.r *= sine * sine;
        let invariant = beta <= f64::EPSILON * self.operator_norm;
        if !invariant {
            l.r.scaled_add(-l.phi_bar * cosine / beta, &z);
        }
        if invariant
            || norm(l.r.view()) <= self.column.target
            || self.column.iterations >= params.max_iterations
        {
            return Stage::Refresh(Reason::Claim);
        }
        l.v = &y / beta;
        l.z_last = std::mem::replace(&mut l.z, z);
        l.beta_last = std::mem::replace(&mut l.beta, beta);
        (l.cosine, l.sine, l.delta_bar, l.epsilon) = (cosine, sine, delta_bar_next, epsilon_next);
        l.steps += 1;
        Stage::Expand(l)
    }
}

/// Indices of the runs for which `f` has a vector, and the vectors.
fn select<'a>(
    runs: &'a [Run],
    f: impl Fn(&'a Run) -> Option<&'a Array1<f64>>,
) -> (Vec<usize>, Vec<ArrayView1<'a, f64>>) {
    runs.iter()
        .enumerate()
        .filter_map(|(j, run)| f(run).map(|v| (j, v.view())))
        .unzip()
}

/// True residuals for the runs that ask for one.
fn refresh(system: &System<'_>, runs: &mut [Run], params: &MinresParams) -> Result<(), SolveError> {
    let (ids, x) = select(runs, |run| {
        matches!(run.stage, Stage::Refresh(_)).then_some(&run.column.x)
    });
    if ids.is_empty() {
        return Ok(());
    }
    let ax = system.apply(&ids, &x)?;
    for (&j, ax) in ids.iter().zip(ax.columns()) {
        let run = &mut runs[j];
        let Stage::Refresh(reason) = run.stage else {
            continue;
        };
        let verdict = run.column.refresh(ax);
        run.stage = match (reason, verdict) {
            (_, Verdict::Converged) => Stage::Done(MinresStatus::Converged),
            (Reason::End(status), _) => Stage::Done(status),
            _ if run.column.iterations >= params.max_iterations => {
                Stage::Done(MinresStatus::IterationLimit)
            }
            (Reason::Claim, Verdict::Stagnated(_)) => Stage::Done(MinresStatus::Breakdown {
                reason: Breakdown::Stagnation,
            }),
            (_, Verdict::Continue(z) | Verdict::Stagnated(z)) => {
                Stage::Precondition { z, before: None }
            }
        };
    }
    Ok(())
}

/// `P⁻¹ z` for the first or the next Lanczos vector.
fn precondition(
    system: &System<'_>,
    runs: &mut [Run],
    params: &MinresParams,
) -> Result<(), SolveError> {
    let (ids, z) = select(runs, |run| match &run.stage {
        Stage::Precondition { z, .. } => Some(z),
        _ => None,
    });
    if ids.is_empty() {
        return Ok(());
    }
    let y = system.precondition(&ids, &z)?;
    for (&j, y) in ids.iter().zip(y.columns()) {
        let run = &mut runs[j];
        let Stage::Precondition { z, before } =
            std::mem::replace(&mut run.stage, Stage::Refresh(Reason::Claim))
        else {
            continue;
        };
        run.stage = match before {
            Some((lanczos, alpha)) => run.close(lanczos, alpha, z, y, params),
            None => {
                let zy = z.dot(&y);
                if zy > 0.0 {
                    Stage::Expand(Box::new(Lanczos::start(z, y, zy.sqrt())))
                } else {
                    Stage::Refresh(Reason::End(MinresStatus::Breakdown {
                        reason: Breakdown::Preconditioner,
                    }))
                }
            }
        };
    }
    Ok(())
}

/// `A v` for the next Lanczos vector.
fn expand(system: &System<'_>, runs: &mut [Run]) -> Result<(), SolveError> {
    let (ids, v) = select(runs, |run| match &run.stage {
        Stage::Expand(lanczos) => Some(&lanczos.v),
        _ => None,
    });
    if ids.is_empty() {
        return Ok(());
    }
    let av = system.apply(&ids, &v)?;
    for (&j, av) in ids.iter().zip(av.columns()) {
        let run = &mut runs[j];
        let Stage::Expand(lanczos) =
            std::mem::replace(&mut run.stage, Stage::Refresh(Reason::Claim))
        else {
            continue;
        };
        run.column.iterations += 1;
        let mut z = av.to_owned();
        if lanczos.steps > 0 {
            z.scaled_add(-lanczos.beta / lanczos.beta_last, &lanczos.z_last);
        }
        let alpha = lanczos.v.dot(&z);
        z.scaled_add(-alpha / lanczos.beta, &lanczos.z);
        run.stage = Stage::Precondition {
            z,
            before: Some((lanczos, alpha)),
        };
    }
    Ok(())
}
