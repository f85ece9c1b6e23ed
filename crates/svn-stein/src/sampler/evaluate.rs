//! Evaluating a target: putting back the particles that left its finite region, and judging the step just taken.

use ndarray::{ArrayView1, ArrayView2};

use super::{Proposal, Sampler};
use crate::curvature::validate;
use crate::damping::Damping;
use crate::error::SteinError;
use crate::method::Method;
use crate::state::State;
use crate::subnormal::flush_all;
use crate::target::{Curved, TargetError};
use svn_linalg::dense::all_finite;

/// Times the change of a particle is halved before it is taken back.
const HALVINGS: i32 = 4;

impl Sampler {
    /// Evaluate at the state's particles and find the change of the particles.
    pub(super) fn evaluate<T: Curved + ?Sized>(
        &mut self,
        state: &mut State,
        target: &mut T,
        rejected: &mut Vec<usize>,
    ) -> Result<Proposal, SteinError> {
        let needs_curvature = self.method.needs_curvature();
        loop {
            let repelled = self.repel(state, target);
            let ws = &mut self.workspace;
            let (log_density, score) = (&mut ws.log_density, &mut ws.score);
            let attempt = if let Err(error) = repelled {
                error
            } else if needs_curvature {
                match target.curvature_into(
                    state.particles.view(),
                    log_density.view_mut(),
                    score.view_mut(),
                ) {
                    Ok(curvature) => {
                        let n = state.particles.nrows();
                        let d = self.curvature_dim(curvature.dim(), state.particles.ncols());
                        match self.check_finite(state).and_then(|()| {
                            match validate(&*curvature, n, d) {
                                Err(SteinError::NonFinite { particle, .. }) => {
                                    Err(TargetError::NonFinite {
                                        particle,
                                        quantity: "curvature",
                                    }
                                    .into())
                                }
                                other => other,
                            }
                        }) {
                            Ok(()) => match self.propose(state, Some(&*curvature)) {
                                Err(error @ SteinError::NonFinite { .. }) => error,
                                done => return done,
                            },
                            Err(error) => error,
                        }
                    }
                    Err(error) => error.into(),
                }
            } else {
                match target.score_into(
                    state.particles.view(),
                    log_density.view_mut(),
                    score.view_mut(),
                ) {
                    Ok(()) => match self.check_finite(state) {
                        Ok(()) => match self.propose(state, None) {
                            Err(error @ SteinError::NonFinite { .. }) => error,
                            done => return done,
                        },
                        Err(error) => error,
                    },
                    Err(error) => error.into(),
                }
            };
            let (particle, quantity) = match attempt {
                SteinError::Target(TargetError::NonFinite { particle, quantity }) => {
                    (particle, quantity)
                }
                SteinError::NonFinite { particle, what } => (particle, what),
                fatal => return Err(fatal),
            };
            if !state.roll_back(particle) {
                return Err(SteinError::NonFiniteStart { particle, quantity });
            }
            rejected.push(particle);
            if rejected.len() == 1 {
                self.reject(state);
            }
        }
    }

    /// Repulsion in function space at the state's particles, for the methods that have one.
    fn repel<T: Curved + ?Sized>(
        &mut self,
        state: &State,
        target: &mut T,
    ) -> Result<(), SteinError> {
        let Some(settings) = self.method.function_repulsion() else {
            return Ok(());
        };
        let Some(space) = target.function_space() else {
            let method = self.method.name();
            return Err(SteinError::FunctionsRequired { method });
        };
        let ws = &mut self.workspace;
        let z = space.images(state.particles.view())?;
        check_rows(z.view(), "function")?;
        let directions = settings.directions(&mut ws.functions, z.view(), state.step)?;
        space.pull_back_into(directions.view(), ws.repulsion.view_mut())?;
        check_rows(ws.repulsion.view(), "repulsion")?;
        Ok(())
    }

    /// Coordinates the curvature must have: all, or the selected ones where the target gives only those.
    fn curvature_dim(&self, found: usize, dim: usize) -> usize {
        match &self.method {
            Method::LlSvn { coordinates, .. } if found != dim => coordinates.indices().len(),
            _ => dim,
        }
    }

    /// Inner products of particles and scores, subnormal ones as zeros, and from them whether all is finite.
    fn check_finite(&mut self, state: &State) -> Result<(), SteinError> {
        let ws = &mut self.workspace;
        if let Some(score) = ws.score.as_slice_mut() {
            flush_all(score);
        }
        ws.pairs.update(state.particles.view(), ws.score.view());
        let squares = ws.pairs.scores.diag();
        for (particle, (l, s)) in ws.log_density.iter().zip(ws.score.rows()).enumerate() {
            // A square that overflows leaves it to the entries.
            let finite = squares[particle].is_finite() || all_finite(s);
            let quantity = match (l.is_finite(), finite) {
                (true, true) => continue,
                (false, _) => "log density",
                (true, false) => "score",
            };
            return Err(TargetError::NonFinite { particle, quantity }.into());
        }
        Ok(())
    }

    fn damping(&self) -> Option<Damping> {
        self.method.newton_step().map(|newton| newton.damping)
    }

    /// More damping and a smaller rate after a rejected step.
    pub(super) fn reject(&self, state: &mut State) {
        state.rejections += 1;
        state.backoff *= 0.5;
        if let Some(damping) = self.damping() {
            state.damping = damping.raise(state.damping, 1.0);
        }
    }

    /// Evaluate the step just taken on the same batch, where the damping asks for it: the gain of the quadratic model.
    ///
    /// The change of a particle that is not finite there, or whose log density fell by more than twice what the model
    /// can explain, is halved a few times (a backtracking line search) and then taken back. The first such evaluation
    /// decides about the damping.
    pub(super) fn assess<T: Curved + ?Sized>(
        &mut self,
        state: &mut State,
        target: &mut T,
        proposal: &mut Proposal,
        rejected: &mut Vec<usize>,
    ) -> Result<Option<f64>, SteinError> {
        if !self.damping().is_some_and(Damping::measures_gain) {
            return Ok(None);
        }
        let n = state.particles.nrows();
        let mut halvings = vec![0; n];
        let mut first: Option<f64> = None;
        loop {
            let ws = &mut self.workspace;
            // The scores at the trial are not needed, and `alpha` is free by now.
            let (log_density, score) = (ws.trial_log_density.view_mut(), ws.alpha.view_mut());
            let bad: Vec<usize> =
                match target.score_into(state.particles.view(), log_density, score) {
                    Ok(()) => {
                        let (gain, bad) = self.compare(state, proposal, &halvings);
                        if bad.is_empty() {
                            return Ok(first.or(gain));
                        }
                        first.get_or_insert(gain.map_or(0.0, |gain| gain.min(0.0)));
                        bad
                    }
                    Err(TargetError::NonFinite { particle, .. }) if particle < n => {
                        first.get_or_insert(0.0);
                        vec![particle]
                    }
                    Err(error) => return Err(error.into()),
                };
            for p in bad {
                if halvings[p] < HALVINGS {
                    halvings[p] += 1;
                    proposal.trust_scale[p] *= 0.5;
                    let (anchor, mut row) = (state.anchor.row(p), state.particles.row_mut(p));
                    row.zip_mut_with(&anchor, |x, &a| *x = 0.5 * (*x + a));
                } else if state.roll_back(p) {
                    proposal.trust_scale[p] = 0.0;
                    rejected.push(p);
                    if rejected.len() == 1 {
                        self.reject(state);
                    }
                } else {
                    // Not finite where it was finite a moment ago: the next step will say so.
                    return Ok(first);
                }
            }
        }
    }

    /// Gain over all particles that moved, and those whose change has to be shortened.
    fn compare(
        &self,
        state: &State,
        proposal: &Proposal,
        halvings: &[i32],
    ) -> (Option<f64>, Vec<usize>) {
        let (mut error, mut size, mut bad) = (0.0, 0.0, Vec::new());
        for (p, &times) in halvings.iter().enumerate() {
            if state.particles.row(p) == state.anchor.row(p) {
                continue;
            }
            let slope = self.slope(state, p);
            let half = 0.5 * proposal.quadratic[p] * 0.25_f64.powi(times);
            let actual = self.workspace.trial_log_density[p] - self.workspace.log_density[p];
            let reach = slope.abs() + half;
            let miss = (actual - (slope - half)).abs();
            if !actual.is_finite() || (actual < 0.0 && miss > 2.0 * reach) {
                bad.push(p);
                error += 2.0 * reach;
            } else {
                error += miss;
            }
            size += reach;
        }
        ((size > 0.0).then(|| 1.0 - error / size), bad)
    }

    /// `s_p·Δ_p`.
    fn slope(&self, state: &State, p: usize) -> f64 {
        let (s, x, a): (ArrayView1<'_, f64>, _, _) = (
            self.workspace.score.row(p),
            state.particles.row(p),
            state.anchor.row(p),
        );
        s.iter().zip(x).zip(a).map(|((s, x), a)| s * (x - a)).sum()
    }

    /// Damping and rate after the step.
    pub(super) fn relax(&self, state: &mut State, gain: Option<f64>, accepted: bool) {
        if !accepted {
            // It would lead there again.
            state.momentum = None;
            return;
        }
        state.rejections = 0;
        state.backoff = (2.0 * state.backoff).min(1.0);
        if let Some(damping) = self.damping() {
            state.damping = damping.relax(state.damping, gain);
        }
    }
}

/// Whether all of each particle is finite.
fn check_rows(rows: ArrayView2<'_, f64>, quantity: &'static str) -> Result<(), TargetError> {
    match rows.rows().into_iter().position(|row| !all_finite(row)) {
        Some(particle) => Err(TargetError::NonFinite { particle, quantity }),
        None => Ok(()),
    }
}
