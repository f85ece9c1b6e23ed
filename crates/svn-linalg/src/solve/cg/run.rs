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
        last: Option<Direction>,
    },
    /// `r / σ` and a search direction are there, a step is due.
    Advance {
        r: Array1<f64>,
        direction: Direction,
    },
    /// Finished.
    Done(CgStatus),
}

/// A search direction.
struct Direction {
    p: Array1<f64>,
    /// `rᵀz` where it started.
    rz: f64,
    /// `pᵀP p`, by its recurrence.
    length2: f64,
}

pub(super) struct Run {
    pub(super) column: Column,
    stage: Stage,
    pub(super) negative: Option<Array1<f64>>,
    scale: OperatorScale,
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
            scale: OperatorScale::default(),
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
            let direction = match last {
                Some(mut last) => {
                    let beta = rz / last.rz;
                    last.p *= beta;
                    Direction {
                        p: last.p + z,
                        rz,
                        length2: rz + beta * beta * last.length2,
                    }
                }
                None => Direction {
                    p: z.to_owned(),
                    rz,
                    length2: rz,
                },
            };
            Stage::Advance { r, direction }
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
        Stage::Advance { direction, .. } => Some(&direction.p),
        _ => None,
    });
    if ids.is_empty() {
        return Ok(());
    }
    let ap = system.apply(&ids, &p)?;
    for (&j, ap) in ids.iter().zip(ap.columns()) {
        let run = &mut runs[j];
        let Stage::Advance { mut r, direction } =
            std::mem::replace(&mut run.stage, Stage::Refresh(None))
        else {
            continue;
        };
        run.column.iterations += 1;
        let curvature = direction.p.dot(&ap);
        if let Some(status) = run.scale.judge(curvature, &direction, ap) {
            if matches!(status, CgStatus::NegativeCurvature { .. }) {
                let length = norm(direction.p.view());
                run.negative = Some(direction.p / length);
            }
            run.stage = Stage::Refresh(Some(status));
            continue;
        }
        let alpha = direction.rz / curvature;
        run.column
            .x
            .scaled_add(alpha * run.column.scale, &direction.p);
        r.scaled_add(-alpha, &ap);
        let claims_convergence = norm(r.view()) <= run.column.target;
        if !claims_convergence && run.column.iterations < params.max_iterations {
            run.stage = Stage::Aim {
                r,
                last: Some(direction),
            };
        }
    }
    Ok(())
}

/// How large the operator has shown itself, to tell curvature from rounding.
#[derive(Default)]
struct OperatorScale {
    /// Largest `|pᵀAp| / pᵀPp`: a bound from below on the norm of `P^(−1/2) A P^(−1/2)`.
    preconditioned: f64,
    /// Largest `‖A p‖ / ‖p‖`: the same for `A`.
    plain: f64,
}

impl OperatorScale {
    /// Whether `pᵀAp` is too small to go on, and what that says.
    ///
    /// In the metric of the preconditioner, so that units of the coordinates do not matter, rounding makes the
    /// curvature uncertain by `n ε` of its largest value. Below minus that it is negative for certain. Near zero a
    /// positive semi-definite `A` has `‖A p‖² ≤ ‖A‖ pᵀAp`, so an `A p` much longer than that proves `A` indefinite;
    /// otherwise `p` is a null vector.
    fn judge(
        &mut self,
        curvature: f64,
        direction: &Direction,
        ap: ArrayView1<'_, f64>,
    ) -> Option<CgStatus> {
        let dim = ap.len() as f64;
        let (p_norm, ap_norm) = (norm(direction.p.view()), norm(ap));
        let rayleigh = curvature / direction.length2;
        self.preconditioned = self.preconditioned.max(rayleigh.abs());
        self.plain = self.plain.max(ap_norm / p_norm);
        let rounding = f64::EPSILON * self.preconditioned;
        if rayleigh > rounding {
            return None;
        }
        let plain_rayleigh = curvature / p_norm / p_norm;
        let stretch = ap_norm / p_norm / self.plain;
        let null_stretch2 = plain_rayleigh.max(0.0) / self.plain + dim * f64::EPSILON;
        if rayleigh < -dim * rounding || stretch * stretch > 100.0 * null_stretch2 {
            Some(CgStatus::NegativeCurvature {
                curvature: plain_rayleigh,
            })
        } else {
            Some(CgStatus::Breakdown {
                reason: Breakdown::Singular,
            })
        }
    }
}
