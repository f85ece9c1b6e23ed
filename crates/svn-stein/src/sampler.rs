//! One protocol for all methods: `init` makes a state, `step` maps settings, state and target to state and info.
//!
//! ```text
//! step:  next batch → evaluate (putting back particles that left the finite region) → kernel → field
//!        → [Newton system → V = K α → trust region] → Δ → [same batch again: gain, damping]
//! ```

mod evaluate;
mod newton;

use ndarray::{Array1, Array2, ArrayView2, Zip};

use crate::error::SteinError;
use crate::field::{svgd_into, wgd_into};
use crate::gram::KernelGram;
use crate::info::{Info, KernelHealth};
use crate::method::{FirstOrder, Method};
use crate::rate::Moments;
use crate::state::{State, check_particles};
use crate::system::{RowGram, SolveInfo};
use crate::target::{Curvature, Curved};

/// Rejected steps in a row after which a run gives up.
const STUCK: usize = 60;

/// A particle method with validated settings and its working memory; all that matters between steps is in [`State`].
#[derive(Debug)]
pub struct Sampler {
    method: Method,
    workspace: Workspace,
}

/// Arrays reused from step to step.
#[derive(Debug)]
struct Workspace {
    log_density: Array1<f64>,
    score: Array2<f64>,
    repulsion: Array2<f64>,
    direction: Array2<f64>,
    alpha: Array2<f64>,
    trial_log_density: Array1<f64>,
    gram: KernelGram,
    rows: RowGram,
}

impl Workspace {
    fn new(n: usize, d: usize) -> Self {
        Self {
            log_density: Array1::zeros(n),
            score: Array2::zeros((n, d)),
            repulsion: Array2::zeros((n, d)),
            direction: Array2::zeros((n, d)),
            alpha: Array2::zeros((n, d)),
            trial_log_density: Array1::zeros(n),
            gram: KernelGram::new(n, d),
            rows: RowGram::default(),
        }
    }
}

/// What the middle of a step leaves behind besides the direction.
struct Direction {
    kernel: Option<KernelHealth>,
    solve: Option<SolveInfo>,
    /// Damping the system was solved with.
    damping: f64,
    trust_scale: Array1<f64>,
    /// `Δ_mᵀ H_m Δ_m`.
    quadratic: Array1<f64>,
}

impl Sampler {
    /// A sampler for this method.
    ///
    /// # Errors
    /// [`SteinError::Setting`] naming the first setting out of range.
    pub fn new(method: Method) -> Result<Self, SteinError> {
        method.validate()?;
        Ok(Self {
            method,
            workspace: Workspace::new(0, 0),
        })
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The state before the first step.
    ///
    /// # Shapes
    /// `particles`: `N × d`.
    ///
    /// # Errors
    /// [`SteinError::Empty`], or [`SteinError::NonFinite`] naming the particle.
    pub fn init(&self, particles: Array2<f64>, seed: u64) -> Result<State, SteinError> {
        check_particles(particles.view())?;
        let moments = match self.first_order() {
            Some(first) => first.rule.init(particles.dim()),
            None => Moments::None,
        };
        let damping = match &self.method {
            Method::Svn(newton) => newton.damping.initial(),
            _ => 0.0,
        };
        Ok(State {
            anchor: particles.clone(),
            particles,
            moments,
            seed,
            step: 0,
            damping,
            backoff: 1.0,
            rejections: 0,
        })
    }

    /// One step.
    ///
    /// A particle at which the target is not finite is put back to where its last step began, the damping is raised and
    /// the rate lowered; the step then goes on from there.
    ///
    /// # Errors
    /// [`SteinError::NonFiniteStart`] if there is nowhere to go back to, [`SteinError::Stuck`] after many rejections,
    /// [`SteinError::Shape`] if state and target do not fit, [`SteinError::CurvatureRequired`], and fatal errors of the
    /// target. After an error the state holds the positions of the last good step.
    pub fn step<T: Curved + ?Sized>(
        &mut self,
        state: &mut State,
        target: &mut T,
    ) -> Result<Info, SteinError> {
        self.prepare(state, target.dim())?;
        target.next_batch()?;
        let mut rejected = Vec::new();
        let direction = self.evaluate(state, target, &mut rejected)?;
        if state.rejections >= STUCK {
            return Err(SteinError::Stuck {
                rejections: state.rejections,
                damping: state.damping,
            });
        }
        let rate = self.rate().at(state.step) * state.backoff;
        let step_size = self.advance(state, rate, &direction);
        let gain = self.assess(state, target, &direction, &mut rejected)?;
        self.relax(state, gain, rejected.is_empty());
        state.step += 1;
        let ws = &self.workspace;
        Ok(Info {
            step: state.step,
            mean_log_density: ws.log_density.mean().unwrap_or(f64::NAN),
            log_density: ws.log_density.to_vec(),
            rate,
            spread: spread(state.anchor.view()),
            step_size,
            kernel: direction.kernel,
            solve: direction.solve,
            damping: direction.damping,
            trust_scale: direction.trust_scale.to_vec(),
            gain,
            rejected,
        })
    }

    fn first_order(&self) -> Option<FirstOrder> {
        match &self.method {
            Method::Ensemble { step } | Method::Wgd { step, .. } | Method::Svgd { step, .. } => {
                Some(*step)
            }
            Method::Svn(_) => None,
        }
    }

    fn rate(&self) -> crate::rate::Rate {
        match &self.method {
            Method::Ensemble { step } | Method::Wgd { step, .. } | Method::Svgd { step, .. } => {
                step.rate
            }
            Method::Svn(newton) => newton.rate,
        }
    }

    /// Check that state, method and target belong together and size the workspace.
    fn prepare(&mut self, state: &State, dim: usize) -> Result<(), SteinError> {
        let (n, d) = state.particles.dim();
        if d != dim {
            return Err(SteinError::Shape {
                what: "particles",
                found: vec![n, d],
                expected: vec![n, dim],
            });
        }
        if state.anchor.dim() != (n, d) {
            let found = state.anchor.shape().to_vec();
            return Err(SteinError::Shape {
                what: "anchor of the state",
                found,
                expected: vec![n, d],
            });
        }
        let fits = match self.first_order() {
            Some(first) => state.moments.fits(first.rule, state.particles.view()),
            None => true,
        };
        if !fits {
            return Err(SteinError::Setting {
                name: "state",
                value: "moments of another step rule".into(),
                expected: "a state made by this method's `init`",
            });
        }
        if self.workspace.score.dim() != (n, d) {
            self.workspace = Workspace::new(n, d);
        }
        Ok(())
    }

    /// Direction into the workspace, from log density, score and curvature that are there and finite.
    fn direction(
        &mut self,
        state: &mut State,
        curvature: Option<&Curvature<'_>>,
    ) -> Result<Direction, SteinError> {
        let n = state.particles.nrows();
        let ws = &mut self.workspace;
        let first = |kernel| Direction {
            kernel,
            solve: None,
            damping: 0.0,
            trust_scale: Array1::ones(n),
            quadratic: Array1::zeros(n),
        };
        let (repulsion, out) = (&mut ws.repulsion, &mut ws.direction);
        match &self.method {
            Method::Ensemble { step } => {
                out.assign(&ws.score);
                step.rule.precondition(&mut state.moments, out.view_mut());
                Ok(first(None))
            }
            Method::Svgd { kernel, step } => {
                ws.gram.update(kernel, state.particles.view(), curvature)?;
                let norms = svgd_into(
                    &ws.gram,
                    ws.score.view(),
                    1.0,
                    repulsion.view_mut(),
                    out.view_mut(),
                );
                let health = KernelHealth::new(&ws.gram, norms);
                step.rule.precondition(&mut state.moments, out.view_mut());
                Ok(first(Some(health)))
            }
            Method::Wgd {
                kernel,
                estimator,
                step,
            } => {
                ws.gram.update(kernel, state.particles.view(), curvature)?;
                let norms = wgd_into(
                    &ws.gram,
                    ws.score.view(),
                    *estimator,
                    repulsion.view_mut(),
                    out.view_mut(),
                )?;
                let health = KernelHealth::new(&ws.gram, norms);
                step.rule.precondition(&mut state.moments, out.view_mut());
                Ok(first(Some(health)))
            }
            Method::Svn(newton) => {
                let curvature = curvature.ok_or(SteinError::CurvatureRequired { what: "svn" })?;
                newton::direction(newton, state, ws, curvature)
            }
        }
    }

    /// Move the particles by `ε τ_m V_m`; returns the root mean squared change of a coordinate.
    fn advance(&mut self, state: &mut State, rate: f64, direction: &Direction) -> f64 {
        state.anchor.assign(&state.particles);
        let mut square = 0.0;
        for ((mut x, v), &scale) in state
            .particles
            .rows_mut()
            .into_iter()
            .zip(self.workspace.direction.rows())
            .zip(&direction.trust_scale)
        {
            Zip::from(&mut x).and(&v).for_each(|x, &v| {
                let change = rate * scale * v;
                square += change * change;
                *x += change;
            });
        }
        (square / state.particles.len() as f64).sqrt()
    }
}

/// Root mean squared distance of the particles from their mean, per coordinate.
fn spread(particles: ArrayView2<'_, f64>) -> f64 {
    let (n, d) = particles.dim();
    let mut square = 0.0;
    for column in particles.columns() {
        let mean = column.sum() / n as f64;
        square += column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    }
    (square / (n * d) as f64).sqrt()
}
