//! The Newton step: kernel and field, or the score alone, then system, lift, trust region, and noise for the stochastic method.

use ndarray::{Array1, Array2, Axis};

use super::{Proposal, Workspace};
use crate::curvature::{quadratic, scale};
use crate::damping::trust_scales;
use crate::error::SteinError;
use crate::field::svgd_into;
use crate::gram::KernelView;
use crate::info::KernelHealth;
use crate::method::{FirstOrder, Lift, Newton, NewtonStep, StepControl};
use crate::momentum::Momentum;
use crate::newton_ensemble::NewtonEnsemble;
use crate::restrict::{Coordinates, restrict};
use crate::state::State;
use crate::system::{Scratch, SolveInfo, SvnSystem};
use svn_linalg::{ParticleOperators, dense};

/// Times the damping is raised when the system is singular or its solution no descent direction.
const ATTEMPTS: usize = 12;

/// The Newton system solved, with more damping where it was singular or led uphill.
struct Solved {
    solve: SolveInfo,
    trust_scale: Array1<f64>,
    /// `Δ_mᵀ H_m Δ_m` of the change in the coordinates solved for.
    quadratic: Array1<f64>,
}

/// Step on all coordinates into `ws.direction`; with `noise`, the stochastic one.
pub(super) fn propose(
    newton: &Newton,
    noise: bool,
    state: &mut State,
    ws: &mut Workspace,
    curvature: &dyn ParticleOperators,
) -> Result<Proposal, SteinError> {
    ws.gram
        .update(&newton.kernel, state.particles.view(), Some(curvature))?;
    let norms = svgd_into(&ws.gram, ws.score.view(), 1.0, ws.direction.view_mut());
    let kernel = Some(KernelHealth::new(&ws.gram, norms));
    let solved = solve_all(&newton.into(), noise, state, ws, curvature)?;
    Ok(finish(kernel, solved, state.damping, None))
}

/// Step of particles that are driven apart, from drive to change in `ws.direction`: the field of `K = I` is the drive, over
/// `N` as the system is.
pub(super) fn propose_apart(
    settings: &NewtonEnsemble,
    kernel: Option<KernelHealth>,
    state: &mut State,
    ws: &mut Workspace,
    curvature: &dyn ParticleOperators,
) -> Result<Proposal, SteinError> {
    let inverse = 1.0 / state.particles.nrows() as f64;
    ws.direction *= inverse;
    let solved = solve_all(&settings.into(), false, state, ws, curvature)?;
    Ok(finish(kernel, solved, state.damping, None))
}

/// Field on all coordinates in `ws.direction`, with the kernel in `ws.gram`, becomes the step.
fn solve_all(
    newton: &NewtonStep,
    noise: bool,
    state: &mut State,
    ws: &mut Workspace,
    curvature: &dyn ParticleOperators,
) -> Result<Solved, SteinError> {
    let control = ws.control(newton, noise);
    if ws.stochastic {
        Momentum::average(&mut state.momentum, newton.momentum, &mut ws.direction);
    }
    let Workspace {
        gram,
        direction,
        alpha,
        scratch,
        ..
    } = ws;
    solve(
        newton,
        (noise, control),
        state,
        gram.view(),
        curvature,
        scratch,
        direction,
        alpha,
    )
}

/// SVGD on all coordinates, Newton on the selected ones.
pub(super) fn propose_partial(
    newton: &Newton,
    coordinates: &Coordinates,
    rest: &FirstOrder,
    state: &mut State,
    ws: &mut Workspace,
    curvature: &dyn ParticleOperators,
) -> Result<Proposal, SteinError> {
    let dim = state.particles.ncols();
    let indices = coordinates.indices();
    let full = curvature.dim() == dim;
    ws.gram.update(
        &newton.kernel,
        state.particles.view(),
        full.then_some(curvature),
    )?;
    let norms = svgd_into(&ws.gram, ws.score.view(), 1.0, ws.direction.view_mut());
    let kernel = Some(KernelHealth::new(&ws.gram, norms));
    let mut field = ws.direction.select(Axis(1), &indices);
    let mut alpha = Array2::zeros(field.dim());
    let transformed = ws.gram.transformed().select(Axis(1), &indices);
    let restricted = restrict(curvature, &indices, dim)?;
    let step = NewtonStep::from(newton);
    let control = ws.control(&step, false);
    if ws.stochastic {
        Momentum::average(&mut state.momentum, step.momentum, &mut field);
    }
    let solved = {
        let view = KernelView {
            kernel: ws.gram.kernel(),
            slope: ws.gram.slope(),
            transformed: transformed.view(),
        };
        solve(
            &step,
            (false, control),
            state,
            view,
            &*restricted,
            &mut ws.scratch,
            &mut field,
            &mut alpha,
        )?
    };
    let rate = rest.rate.at(state.step) * state.backoff;
    rest.rule
        .precondition(&mut state.moments, rate, &mut ws.direction);
    for (column, &i) in field.columns().into_iter().zip(&indices) {
        ws.direction.column_mut(i).assign(&column);
    }
    // The other coordinates count as well, where there is curvature of them.
    let quadratic = full.then(|| quadratic(curvature, ws.direction.view()));
    Ok(finish(kernel, solved, state.damping, quadratic))
}

/// `quadratic`: that of the whole change, where it is more than what was solved for.
fn finish(
    kernel: Option<KernelHealth>,
    solved: Solved,
    damping: f64,
    quadratic: Option<Array1<f64>>,
) -> Proposal {
    Proposal {
        kernel,
        solve: Some(solved.solve),
        damping,
        trust_scale: solved.trust_scale,
        quadratic: quadratic.unwrap_or(solved.quadratic),
    }
}

/// Field in `direction` becomes the step `ε τ_m V_m` in `direction`; `alpha` is scratch.
#[expect(
    clippy::too_many_arguments,
    reason = "the disjoint parts of one workspace"
)]
fn solve(
    newton: &NewtonStep,
    (noise, control): (bool, StepControl),
    state: &mut State,
    kernel: KernelView<'_>,
    curvature: &dyn ParticleOperators,
    scratch: &mut Scratch,
    direction: &mut Array2<f64>,
    alpha: &mut Array2<f64>,
) -> Result<Solved, SteinError> {
    let n = state.particles.nrows() as f64;
    let mut diffusion = Array2::zeros(if noise { direction.dim() } else { (0, 0) });
    let mut attempt = 0;
    let solve = loop {
        let view = KernelView {
            kernel: kernel.kernel.view(),
            slope: kernel.slope.view(),
            transformed: kernel.transformed.view(),
        };
        let system = SvnSystem::of_valid(
            view,
            curvature,
            newton.coupling,
            state.damping,
            newton.ridge,
        )?;
        let mut once = || {
            if noise {
                let mut xi = Array2::zeros(direction.dim());
                system.noise_into(state.seed, state.step, xi.view_mut())?;
                let _ =
                    system.solve_into(xi.view(), newton.solver, scratch, diffusion.view_mut())?;
            }
            system.solve_into(direction.view(), newton.solver, scratch, alpha.view_mut())
        };
        let error = match once() {
            Ok(info) if !info.suffices() => info.unsolved(newton.coupling),
            Ok(info) if descends(direction, alpha) => break info,
            Ok(info) => SteinError::Singular {
                coupling: newton.coupling.name(),
                size: info.size,
                reason: "its solution increases the KL divergence at the largest damping".into(),
            },
            Err(error @ SteinError::Singular { .. }) => error,
            Err(error) => return Err(error),
        };
        let raised = newton.damping.raise(state.damping, scale(curvature));
        if raised <= state.damping || attempt == ATTEMPTS {
            return Err(error);
        }
        state.damping = raised;
        attempt += 1;
    };
    let mut rate = state.newton_rate(&newton.rate);
    if control == StepControl::Slope {
        rate = state.slope.length(direction.view(), rate);
        state.slope.keep(alpha, direction.view());
    }
    let known = scratch.quadratic.take();
    match newton.lift {
        // The way that gives it is that of `K = I`.
        _ if known.is_some() => direction.assign(alpha),
        Lift::Kernel => dense::multiply(
            1.0,
            kernel.kernel.view(),
            alpha.view(),
            0.0,
            direction.view_mut(),
        ),
        Lift::Particle => direction.assign(alpha),
    }
    let mut change = known.unwrap_or_else(|| quadratic(curvature, direction.view()));
    let trust_scale = trust_scales(newton.trust_region, rate, change.view());
    for (mut row, &scale) in direction.rows_mut().into_iter().zip(&trust_scale) {
        row *= rate * scale;
    }
    change.zip_mut_with(&trust_scale, |q, scale| *q *= (rate * scale).powi(2));
    if noise {
        // The scale of a particle acts as a smaller ε, so its noise shrinks with the root.
        dense::multiply(
            (2.0 * rate / n).sqrt(),
            kernel.kernel.view(),
            diffusion.view(),
            0.0,
            alpha.view_mut(),
        );
        for ((mut row, xi), &scale) in direction
            .rows_mut()
            .into_iter()
            .zip(alpha.rows())
            .zip(&trust_scale)
        {
            row.scaled_add(scale.sqrt(), &xi);
        }
        change = quadratic(curvature, direction.view());
    }
    Ok(Solved {
        solve,
        trust_scale,
        quadratic: change,
    })
}

/// Whether moving along `α` lowers the KL divergence to first order, `Σ_m α_m·v_m > 0`; the indefinite `exact` coupling
/// and iterations that were cut short need not.
fn descends(field: &Array2<f64>, alpha: &Array2<f64>) -> bool {
    let rows = field.rows().into_iter().zip(alpha.rows());
    let slope: f64 = rows.map(|(v, a)| dense::dot(v, a)).sum();
    slope > 0.0 || field.iter().all(|&v| v == 0.0)
}
