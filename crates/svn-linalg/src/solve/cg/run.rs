//! The state of one right-hand side, and the rounds in which all of them move together.

use ndarray::{Array1, ArrayView1};

use super::{CgInfo, CgParams, CgStatus};
use crate::solve::columns::{Column, System, Verdict, norm, select};
use crate::solve::{Breakdown, SolveError};

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

pub(super) struct Run {
    pub(super) column: Column,
    stage: Stage,
    pub(super) negative: Option<Array1<f64>>,
    /// Largest `‖A p‖ / ‖p‖` seen.
    operator_norm: f64,
}

impl Run {
    pub(super) fn new(
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

    pub(super) fn is_active(&self) -> bool {
        !matches!(self.stage, Stage::Done(_))
    }

    pub(super) fn info(&self) -> CgInfo {
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

/// Add to every start a fixed pseudo-random `u` with `‖A u‖ = ‖b‖`.
pub(super) fn probe(system: &System<'_>, runs: &mut [Run]) -> Result<(), SolveError> {
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
pub(super) fn refresh(
    system: &System<'_>,
    runs: &mut [Run],
    params: &CgParams,
) -> Result<(), SolveError> {
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
pub(super) fn aim(system: &System<'_>, runs: &mut [Run]) -> Result<(), SolveError> {
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
        run.stage = if rz <= 0.0 || rz.is_nan() {
            Stage::Refresh(Some(CgStatus::Breakdown {
                reason: Breakdown::Preconditioner,
            }))
        } else {
            let p = match last {
                Some((mut p, last_rz)) => {
                    p *= rz / last_rz;
                    p + z
                }
                None => z.to_owned(),
            };
            Stage::Advance { r, p, rz }
        };
    }
    Ok(())
}

/// One step along each search direction.
pub(super) fn advance(
    system: &System<'_>,
    runs: &mut [Run],
    params: &CgParams,
) -> Result<(), SolveError> {
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
