//! The Newton direction: kernel, field, system, step, trust region.

use ndarray::linalg::general_mat_mul;

use super::{Direction, Workspace};
use crate::damping::trust_scales;
use crate::error::SteinError;
use crate::field::svgd_into;
use crate::info::KernelHealth;
use crate::method::{Lift, Newton};
use crate::state::State;
use crate::system::SvnSystem;
use crate::target::Curvature;

/// Times the damping is raised when the system is singular.
const ATTEMPTS: usize = 12;

pub(super) fn direction(
    newton: &Newton,
    state: &mut State,
    ws: &mut Workspace,
    curvature: &Curvature<'_>,
) -> Result<Direction, SteinError> {
    ws.gram
        .update(&newton.kernel, state.particles.view(), Some(curvature))?;
    // The field goes to `direction`, the solution to `alpha`, and the step back to `direction`.
    let norms = svgd_into(
        &ws.gram,
        ws.score.view(),
        1.0,
        ws.repulsion.view_mut(),
        ws.direction.view_mut(),
    );
    let kernel = Some(KernelHealth::new(&ws.gram, norms));
    let mut attempt = 0;
    let solve = loop {
        let system = SvnSystem::new(
            ws.gram.view(),
            curvature.reborrow(),
            newton.coupling,
            state.damping,
            newton.ridge,
        )?;
        match system.solve_into(
            ws.direction.view(),
            newton.solver,
            &mut ws.rows,
            ws.alpha.view_mut(),
        ) {
            Ok(info) => break info,
            Err(error @ SteinError::Singular { .. }) if attempt < ATTEMPTS => {
                let raised = newton.damping.raise(state.damping, curvature.scale());
                if raised <= state.damping {
                    return Err(error);
                }
                state.damping = raised;
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    };
    match newton.lift {
        Lift::Kernel => general_mat_mul(1.0, &ws.gram.kernel(), &ws.alpha, 0.0, &mut ws.direction),
        Lift::Particle => ws.direction.assign(&ws.alpha),
    }
    let rate = newton.rate.at(state.step) * state.backoff;
    let quadratic = curvature.quadratic(ws.direction.view());
    let trust_scale = trust_scales(newton.trust_region, rate, quadratic.view());
    let quadratic = ndarray::Zip::from(&quadratic)
        .and(&trust_scale)
        .map_collect(|q, t| q * (rate * t) * (rate * t));
    Ok(Direction {
        kernel,
        solve: Some(solve),
        damping: state.damping,
        trust_scale,
        quadratic,
    })
}
