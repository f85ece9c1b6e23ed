//! Evaluating a target, putting back the particles that left its finite region.

use ndarray::ArrayView1;

use super::{Proposal, STUCK, Sampler};
use crate::damping::Damping;
use crate::error::SteinError;
use crate::method::Method;
use crate::state::State;
use crate::target::{Curvature, Curved, TargetError};

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
            let ws = &mut self.workspace;
            let (log_density, score) = (&mut ws.log_density, &mut ws.score);
            let attempt = if needs_curvature {
                match target.curvature_into(
                    state.particles.view(),
                    log_density.view_mut(),
                    score.view_mut(),
                ) {
                    Ok(curvature) => {
                        let n = state.particles.nrows();
                        let d = self.curvature_dim(&curvature, state.particles.ncols());
                        match self
                            .check_finite()
                            .and_then(|()| match curvature.validate(n, d) {
                                Err(SteinError::NonFinite { particle, .. }) => {
                                    Err(TargetError::NonFinite {
                                        particle,
                                        quantity: "curvature",
                                    }
                                    .into())
                                }
                                other => other,
                            }) {
                            Ok(()) => match self.propose(state, Some(&curvature)) {
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
                    Ok(()) => match self.check_finite() {
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
            self.reject(state);
        }
    }

    /// Coordinates the curvature must have: all, or the selected ones where the target gives only those.
    fn curvature_dim(&self, curvature: &Curvature<'_>, dim: usize) -> usize {
        match &self.method {
            Method::LlSvn { coordinates, .. } if curvature.shape().1 != dim => {
                coordinates.indices().len()
            }
            _ => dim,
        }
    }

    fn check_finite(&self) -> Result<(), SteinError> {
        let ws = &self.workspace;
        for (particle, (l, s)) in ws.log_density.iter().zip(ws.score.rows()).enumerate() {
            let quantity = match (l.is_finite(), s.iter().all(|x| x.is_finite())) {
                (true, true) => continue,
                (false, _) => "log density",
                (true, false) => "score",
            };
            return Err(TargetError::NonFinite { particle, quantity }.into());
        }
        Ok(())
    }

    fn damping(&self) -> Option<Damping> {
        self.method.newton().map(|newton| newton.damping)
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
    /// Particles whose step is not finite, or whose log density fell by more than twice what the model can explain, are
    /// put back at once.
    pub(super) fn assess<T: Curved + ?Sized>(
        &mut self,
        state: &mut State,
        target: &mut T,
        proposal: &Proposal,
        rejected: &mut Vec<usize>,
    ) -> Result<Option<f64>, SteinError> {
        if !self.damping().is_some_and(Damping::measures_gain) {
            return Ok(None);
        }
        // The scores at the trial are not needed, and `alpha` is free by now.
        let n = state.particles.nrows();
        for _ in 0..=n {
            let ws = &mut self.workspace;
            match target.score_into(
                state.particles.view(),
                ws.trial_log_density.view_mut(),
                ws.alpha.view_mut(),
            ) {
                Ok(()) => {}
                Err(TargetError::NonFinite { particle, .. }) => {
                    if !state.roll_back(particle) {
                        return Ok(None);
                    }
                    rejected.push(particle);
                    self.reject(state);
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            let (mut error, mut size) = (0.0, 0.0);
            for p in 0..n {
                let slope: f64 = self.slope(state, p);
                let half = 0.5 * proposal.quadratic[p];
                let actual = self.workspace.trial_log_density[p] - self.workspace.log_density[p];
                let (model, reach) = (slope - half, slope.abs() + half);
                let miss = (actual - model).abs();
                if state.particles.row(p) == state.anchor.row(p) {
                    continue;
                }
                if !actual.is_finite() || (actual < 0.0 && miss > 2.0 * reach) {
                    state.roll_back(p);
                    rejected.push(p);
                    self.reject(state);
                    error += 2.0 * reach;
                } else {
                    error += miss;
                }
                size += reach;
            }
            return Ok((size > 0.0).then(|| 1.0 - error / size));
        }
        Ok(None)
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
        if accepted {
            state.rejections = 0;
            state.backoff = (2.0 * state.backoff).min(1.0);
        }
        state.rejections = state.rejections.min(STUCK);
        if let Some(damping) = self.damping().filter(|_| accepted || gain.is_some()) {
            state.damping = damping.relax(state.damping, gain);
        }
    }
}
