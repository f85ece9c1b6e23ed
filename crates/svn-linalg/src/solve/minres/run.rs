//! The state of one right-hand side, and the rounds in which all of them move together.

use ndarray::{Array1, ArrayView1};

use super::{MinresInfo, MinresParams, MinresStatus};
use crate::solve::columns::{Column, System, Verdict, norm, select};
use crate::solve::{Breakdown, SolveError};

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

pub(super) struct Run {
    pub(super) column: Column,
    stage: Stage,
    /// Frobenius norm of the last rows of `T`, at most √3 ‖A‖; largest seen.
    operator_norm: f64,
}

impl Run {
    pub(super) fn new(
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

    pub(super) fn is_active(&self) -> bool {
        !matches!(self.stage, Stage::Done(_))
    }

    pub(super) fn info(&self) -> MinresInfo {
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
        if zy.is_nan() || zy < -(z.len() as f64) * rounding {
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

/// True residuals for the runs that ask for one.
pub(super) fn refresh(
    system: &System<'_>,
    runs: &mut [Run],
    params: &MinresParams,
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
pub(super) fn precondition(
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
pub(super) fn expand(system: &System<'_>, runs: &mut [Run]) -> Result<(), SolveError> {
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
