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

use std::fmt;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use super::columns::{Column, System, Verdict, norm};
use super::{Breakdown, NotConverged, SolveError};
use crate::input::check_non_negative;
use crate::operator::SelfAdjoint;

/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `tolerance` | 1e-8 | on `‖b − A x‖ / ‖b‖` | finite, ≥ 0 |
/// | `max_iterations` | 1000 | operator products, checks of the true residual not counted | any |
/// | `definiteness` | `Krylov` | how hard to look for negative curvature | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgParams {
    /// Relative residual at which to stop.
    pub tolerance: f64,
    /// Iterations per right-hand side.
    pub max_iterations: usize,
    /// How hard to look for negative curvature.
    pub definiteness: Definiteness,
}

impl Default for CgParams {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_iterations: 1000,
            definiteness: Definiteness::Krylov,
        }
    }
}

/// Where CG looks for negative curvature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Definiteness {
    /// In the Krylov space of the right-hand side: enough unless `b − A x₀` has no part along a negative eigenvector.
    #[default]
    Krylov,
    /// Along every eigenvector, by starting from a fixed pseudo-random vector added to `x₀`.
    Probe,
}

/// Why CG stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum CgStatus {
    /// `‖b − A x‖ ≤ tolerance · ‖b‖`, computed afresh.
    Converged,
    /// `max_iterations` done and the true residual still above the tolerance.
    IterationLimit,
    /// A search direction with `pᵀAp ≤ 0`: the operator is not positive definite. `x` is the iterate before it.
    NegativeCurvature {
        /// `pᵀAp / pᵀp`, not positive up to rounding.
        curvature: f64,
    },
    /// No way on.
    Breakdown {
        /// Why.
        reason: Breakdown,
    },
}

impl fmt::Display for CgStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::IterationLimit => f.write_str("iteration limit"),
            Self::NegativeCurvature { curvature } => {
                write!(
                    f,
                    "negative curvature {curvature:.1e}, the operator is not positive definite"
                )
            }
            Self::Breakdown { reason } => reason.fmt(f),
        }
    }
}

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct CgInfo {
    /// Iterations done; 0 if the start was good enough.
    pub iterations: usize,
    /// `‖b − A x‖ / ‖b‖` of the returned `x`; 0 for `b = 0`.
    pub relative_residual: f64,
    /// Why it stopped.
    pub status: CgStatus,
}

/// The last iterate and how good it is.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the iterate is a solution only if info.status says so"]
pub struct CgSolution {
    /// The last iterate.
    pub x: Array1<f64>,
    /// Whether it is a solution.
    pub info: CgInfo,
    /// The direction of negative curvature, of unit length, if one was met: `xᵀAx` decreases without bound along it.
    pub direction: Option<Array1<f64>>,
}

impl CgSolution {
    /// `x` if it is a solution.
    ///
    /// # Errors
    /// [`NotConverged`] with the info.
    pub fn converged(self) -> Result<Array1<f64>, NotConverged> {
        match self.info.status {
            CgStatus::Converged => Ok(self.x),
            _ => Err(NotConverged::Cg(self.info)),
        }
    }
}

/// The last iterates for several right-hand sides.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a column is a solution only if its info.status says so"]
pub struct CgColumns {
    /// One solution a column, `n × k`.
    pub x: Array2<f64>,
    /// One info a column.
    pub infos: Vec<CgInfo>,
    /// One direction a column, as in [`CgSolution::direction`].
    pub directions: Vec<Option<Array1<f64>>>,
}

impl CgColumns {
    /// `x` if every column is a solution.
    ///
    /// # Errors
    /// [`NotConverged`] with the info of the first that is not.
    pub fn converged(self) -> Result<Array2<f64>, NotConverged> {
        match self
            .infos
            .iter()
            .find(|info| info.status != CgStatus::Converged)
        {
            None => Ok(self.x),
            Some(info) => Err(NotConverged::Cg(*info)),
        }
    }
}

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

/// Where one right-hand side is in its iteration.
enum Stage {
    /// `x` has to be judged by its true residual; with a status if this is the end anyway.
    Refresh(Option<CgStatus>),
    /// `r / σ` is there, a new search direction is due, conjugate to the last one if there is one.
    Aim {
        r: Array1<f64>,
        last: Option<(Array1<f64>, f64)>,
    },
    /// `r / σ`, `p` and `rᵀz` are there, a step is due.
    Advance {
        r: Array1<f64>,
        p: Array1<f64>,
        rz: f64,
    },
    /// Finished.
    Done(CgStatus),
}

struct Run {
    column: Column,
    stage: Stage,
    negative: Option<Array1<f64>>,
    /// Largest `‖A p‖ / ‖p‖` seen.
    operator_norm: f64,
}

impl Run {
    fn new(
        b: ArrayView1<'_, f64>,
        x0: Option<ArrayView1<'_, f64>>,
        params: &CgParams,
    ) -> Result<Self, SolveError> {
        let column = Column::new(b, x0, params.tolerance)?;
        let stage = match column.is_trivial() {
            true => Stage::Done(CgStatus::Converged),
            false => Stage::Refresh(None),
        };
        Ok(Self {
            column,
            stage,
            negative: None,
            operator_norm: 0.0,
        })
    }

    fn is_active(&self) -> bool {
        !matches!(self.stage, Stage::Done(_))
    }

    fn info(&self) -> CgInfo {
        CgInfo {
            iterations: self.column.iterations,
            relative_residual: self.column.relative_residual,
            status: match self.stage {
                Stage::Done(status) => status,
                _ => CgStatus::IterationLimit,
            },
        }
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

/// Add to every start a fixed pseudo-random `u` with `‖A u‖ = ‖b‖`.
fn probe(system: &System<'_>, runs: &mut [Run]) -> Result<(), SolveError> {
    let Some(n) = runs.first().map(|run| run.column.b.len()) else {
        return Ok(());
    };
    let u = Array1::from_shape_fn(n, hash_to_unit);
    let length = norm(system.apply(&[0], &[u.view()])?.column(0));
    if length > 0.0 {
        for run in runs.iter_mut().filter(|run| run.is_active()) {
            let size = run.column.b_norm() / length;
            run.column.x.scaled_add(size, &u);
        }
    }
    Ok(())
}

/// SplitMix64 of the index, mapped to (−1, 1).
fn hash_to_unit(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// True residuals for the runs that ask for one.
fn refresh(system: &System<'_>, runs: &mut [Run], params: &CgParams) -> Result<(), SolveError> {
    let (ids, x) = select(runs, |run| {
        matches!(run.stage, Stage::Refresh(_)).then_some(&run.column.x)
    });
    if ids.is_empty() {
        return Ok(());
    }
    let ax = system.apply(&ids, &x)?;
    for (&j, ax) in ids.iter().zip(ax.columns()) {
        let run = &mut runs[j];
        let Stage::Refresh(pending) = run.stage else {
            continue;
        };
        let verdict = run.column.refresh(ax);
        run.stage = match (pending, verdict) {
            // An operator known to be indefinite is never reported as solved.
            (Some(status @ CgStatus::NegativeCurvature { .. }), _) => Stage::Done(status),
            (_, Verdict::Converged) => Stage::Done(CgStatus::Converged),
            (Some(status), _) => Stage::Done(status),
            (None, _) if run.column.iterations >= params.max_iterations => {
                Stage::Done(CgStatus::IterationLimit)
            }
            (None, Verdict::Stagnated(_)) => Stage::Done(CgStatus::Breakdown {
                reason: Breakdown::Stagnation,
            }),
            (None, Verdict::Continue(r)) => Stage::Aim { r, last: None },
        };
    }
    Ok(())
}

/// New search directions.
fn aim(system: &System<'_>, runs: &mut [Run]) -> Result<(), SolveError> {
    let (ids, r) = select(runs, |run| match &run.stage {
        Stage::Aim { r, .. } => Some(r),
        _ => None,
    });
    if ids.is_empty() {
        return Ok(());
    }
    let z = system.precondition(&ids, &r)?;
    for (&j, z) in ids.iter().zip(z.columns()) {
        let run = &mut runs[j];
        let Stage::Aim { r, last } = std::mem::replace(&mut run.stage, Stage::Refresh(None)) else {
            continue;
        };
        let rz = r.dot(&z);
        run.stage = if !(rz > 0.0) {
            Stage::Refresh(Some(CgStatus::Breakdown {
                reason: Breakdown::Preconditioner,
            }))
        } else {
            let p = match last {
                Some((mut p, last_rz)) => {
                    p *= rz / last_rz;
                    p + &z
                }
                None => z.to_owned(),
            };
            Stage::Advance { r, p, rz }
        };
    }
    Ok(())
}

/// One step along each search direction.
fn advance(system: &System<'_>, runs: &mut [Run], params: &CgParams) -> Result<(), SolveError> {
    let (ids, p) = select(runs, |run| match &run.stage {
        Stage::Advance { p, .. } => Some(p),
        _ => None,
    });
    if ids.is_empty() {
        return Ok(());
    }
    let ap = system.apply(&ids, &p)?;
    for (&j, ap) in ids.iter().zip(ap.columns()) {
        let run = &mut runs[j];
        let Stage::Advance { mut r, p, rz } =
            std::mem::replace(&mut run.stage, Stage::Refresh(None))
        else {
            continue;
        };
        run.column.iterations += 1;
        let curvature = p.dot(&ap);
        let (p_norm, ap_norm) = (norm(p.view()), norm(ap));
        run.operator_norm = run.operator_norm.max(ap_norm / p_norm);
        if let Some(status) =
            stop_on_curvature(curvature, p_norm, ap_norm, run.operator_norm, p.len())
        {
            if matches!(status, CgStatus::NegativeCurvature { .. }) {
                run.negative = Some(p / p_norm);
            }
            run.stage = Stage::Refresh(Some(status));
            continue;
        }
        let alpha = rz / curvature;
        run.column.x.scaled_add(alpha * run.column.scale, &p);
        r.scaled_add(-alpha, &ap);
        let claims_convergence = norm(r.view()) <= run.column.target;
        if !claims_convergence && run.column.iterations < params.max_iterations {
            run.stage = Stage::Aim {
                r,
                last: Some((p, rz)),
            };
        }
    }
    Ok(())
}

/// Whether `pᵀAp` is too small to go on, and what that says.
///
/// Rounding makes `pᵀAp` uncertain by `n ε ‖A‖ ‖p‖²`. Below minus that it is negative for certain. Near zero a positive
/// semi-definite `A` has `‖A p‖² ≤ ‖A‖ pᵀAp`, so an `A p` much longer than that proves `A` indefinite; otherwise `p` is
/// a null vector.
fn stop_on_curvature(
    curvature: f64,
    p_norm: f64,
    ap_norm: f64,
    operator_norm: f64,
    dim: usize,
) -> Option<CgStatus> {
    let rayleigh = curvature / p_norm / p_norm;
    let rounding = f64::EPSILON * operator_norm;
    if rayleigh > rounding {
        return None;
    }
    let uncertainty = dim as f64 * rounding;
    let null_length = 10.0 * (uncertainty * operator_norm).sqrt();
    Some(
        if rayleigh < -uncertainty || ap_norm / p_norm > null_length {
            CgStatus::NegativeCurvature {
                curvature: rayleigh,
            }
        } else {
            CgStatus::Breakdown {
                reason: Breakdown::Singular,
            }
        },
    )
}
