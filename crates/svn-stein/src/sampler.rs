//! One protocol for all methods: `init` makes a state, `step` maps settings, state and target to state and info.
//!
//! ```text
//! step:  next batch → evaluate (putting back particles that left the finite region) → kernel → field
//!        → [Newton system → V = K α → trust region] → Δ → [same batch again: gain, damping]
//! ```

mod evaluate;
mod newton;

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::diagnostics::Summary;
use crate::error::SteinError;
use crate::field::{FieldNorms, norm, svgd, wgd};
use crate::gram::{KernelGram, KernelSettings};
use crate::info::{Info, KernelHealth, KernelWarning};
use crate::method::{Lift, Method, NewtonStep, StepControl};
use crate::passes::{Pairs, advance};
use crate::rate::Moments;
use crate::slope::Slope;
use crate::state::{State, check_particles, largest};
use crate::system::{Scratch, SolveInfo};
use crate::target::Curved;
use svn_linalg::ParticleOperators;

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
    /// The field, then the change of the particles.
    direction: Array2<f64>,
    alpha: Array2<f64>,
    trial_log_density: Array1<f64>,
    /// `K = I` until it is updated, which methods without a kernel never do.
    gram: KernelGram,
    /// The kernel between what particles predict, for methods that repel there.
    functions: KernelGram,
    pairs: Pairs,
    scratch: Scratch,
    /// Whether the target shows other data in the next step.
    stochastic: bool,
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
            functions: KernelGram::new(n, 0),
            pairs: Pairs::new(n),
            scratch: Scratch::default(),
            stochastic: false,
        }
    }
}

/// What the middle of a step leaves behind besides the change of the particles.
struct Proposal {
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
        if let Method::LlSvn { coordinates, .. } = &self.method {
            coordinates.validate(particles.ncols())?;
        }
        let moments = match self.method.first_order() {
            Some(first) => first.rule.init(particles.dim()),
            None => Moments::None,
        };
        let damping = self
            .method
            .newton_step()
            .map_or(0.0, |newton| newton.damping.initial());
        let size = largest(particles.view()).max(1.0);
        Ok(State {
            anchor: particles.clone(),
            particles,
            moments,
            seed,
            step: 0,
            damping,
            backoff: 1.0,
            rejections: 0,
            slope: Slope::new(),
            size,
            limit: None,
            momentum: None,
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
        self.workspace.stochastic = target.is_stochastic();
        let mut rejected = Vec::new();
        let mut proposal = self.evaluate(state, target, &mut rejected)?;
        if state.rejections >= STUCK {
            return Err(SteinError::Stuck {
                rejections: state.rejections,
                damping: state.damping,
            });
        }
        let rate = self.rate(state);
        let (step_size, largest) = self.advance(state, &mut rejected);
        let gain = self.assess(state, target, &mut proposal, &mut rejected)?;
        self.relax(state, gain, rejected.is_empty());
        if largest > LOST * state.size {
            held(state)?;
        }
        state.step += 1;
        let ws = &mut self.workspace;
        let dim = state.anchor.ncols();
        let summary = Summary::new(&ws.pairs, dim, dim as f64);
        Ok(Info {
            step: state.step,
            mean_log_density: ws.log_density.mean().unwrap_or(f64::NAN),
            log_density: ws.log_density.to_vec(),
            rate,
            spread: summary.spread,
            effective_dimension: summary.effective_dimension,
            kernel_stein_discrepancy: summary.kernel_stein_discrepancy,
            step_size,
            kernel: proposal.kernel,
            solve: proposal.solve,
            damping: proposal.damping,
            trust_scale: proposal.trust_scale.to_vec(),
            gain,
            rejected,
        })
    }

    /// `ε_t` of the method's main step, back-off included.
    fn rate(&self, state: &State) -> f64 {
        match (self.method.newton_step(), self.method.first_order()) {
            (Some(newton), _) => state.newton_rate(&newton.rate),
            (None, Some(first)) => first.rate.at(state.step) * state.backoff,
            (None, None) => 0.0,
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
        // Again here, since a state may come from a file.
        check_particles(state.particles.view())?;
        if let Method::LlSvn { coordinates, .. } = &self.method {
            coordinates.validate(d)?;
        }
        if state.anchor.dim() != (n, d) {
            let found = state.anchor.shape().to_vec();
            return Err(SteinError::Shape {
                what: "anchor of the state",
                found,
                expected: vec![n, d],
            });
        }
        let fits = match self.method.first_order() {
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

    /// The change of the particles into `direction`, from log density, score and curvature that are there and finite.
    fn propose(
        &mut self,
        state: &mut State,
        curvature: Option<&dyn ParticleOperators>,
    ) -> Result<Proposal, SteinError> {
        let ws = &mut self.workspace;
        let required = |what| curvature.ok_or(SteinError::CurvatureRequired { what });
        let (kernel, step) = match &self.method {
            Method::NewtonEnsemble(settings) => {
                let curvature = required("newton-ensemble")?;
                ws.direction.assign(&ws.score);
                return newton::propose_apart(settings, None, state, ws, curvature);
            }
            Method::FunctionSvn { newton, .. } => {
                let curvature = required("f-svn")?;
                let kernel = ws.with_repulsion();
                return newton::propose_apart(newton, Some(kernel), state, ws, curvature);
            }
            Method::FunctionWgd { step, .. } => (Some(ws.with_repulsion()), step),
            Method::Svn(settings) => {
                return newton::propose(settings, false, state, ws, required("svn")?);
            }
            Method::Ssvn(settings) => {
                return newton::propose(settings, true, state, ws, required("ssvn")?);
            }
            Method::LlSvn {
                newton,
                coordinates,
                rest,
            } => {
                let curvature = required("ll-svn")?;
                return newton::propose_partial(newton, coordinates, rest, state, ws, curvature);
            }
            Method::Ensemble { step } => {
                ws.direction.assign(&ws.score);
                (None, step)
            }
            Method::Svgd { kernel, step } => {
                let norms = ws.svgd(kernel, 1.0, state, curvature)?;
                (Some(KernelHealth::new(&ws.gram, norms)), step)
            }
            Method::AnnealedSvgd {
                kernel,
                annealing,
                step,
            } => {
                let norms = ws.svgd(kernel, annealing.at(state.step), state, curvature)?;
                (Some(KernelHealth::new(&ws.gram, norms)), step)
            }
            Method::Wgd {
                kernel,
                estimator,
                step,
            } => {
                let y = ws.update_kernel(kernel, state, curvature)?;
                let score = ws.score.view();
                let (repulsion, out) = (ws.repulsion.view_mut(), ws.direction.view_mut());
                let y = ws.gram.images_or(y);
                let norms = wgd(&ws.gram, y, score, *estimator, repulsion, out)?;
                (Some(KernelHealth::new(&ws.gram, norms)), step)
            }
        };
        let rate = step.rate.at(state.step) * state.backoff;
        step.rule
            .precondition(&mut state.moments, rate, &mut ws.direction);
        let n = state.particles.nrows();
        Ok(Proposal {
            kernel,
            solve: None,
            damping: 0.0,
            trust_scale: Array1::ones(n),
            quadratic: Array1::zeros(n),
        })
    }

    /// Move the particles by `direction`, those apart whose change is not finite; returns the root mean squared change
    /// of a coordinate and the largest coordinate.
    fn advance(&mut self, state: &mut State, rejected: &mut Vec<usize>) -> (f64, f64) {
        let (mut square, mut largest) = (0.0, 0.0);
        for p in 0..state.particles.nrows() {
            let (mut x, mut anchor) = (state.particles.row_mut(p), state.anchor.row_mut(p));
            let change = self.workspace.direction.row(p);
            let (Some(row), Some(before), Some(change)) =
                (x.as_slice_mut(), anchor.as_slice_mut(), change.as_slice())
            else {
                unreachable!("the arrays of a state are in standard layout")
            };
            let (size, coordinate) = advance(row, before, change);
            if size.is_finite() {
                square += size;
                largest = f64::max(largest, coordinate);
            } else {
                x.assign(&anchor);
                rejected.push(p);
                if rejected.len() == 1 {
                    self.reject(state);
                }
            }
        }
        ((square / state.particles.len() as f64).sqrt(), largest)
    }
}

impl Workspace {
    /// Step control in force: noise of a batch or of the method would be taken for overshoot, and a step lifted particle by
    /// particle has another slope.
    fn control(&self, newton: &NewtonStep, noise: bool) -> StepControl {
        if noise || self.stochastic || newton.lift == Lift::Particle {
            StepControl::Fixed
        } else {
            newton.control
        }
    }

    /// The kernel at the particles; their positions where it keeps no images of them.
    fn update_kernel<'s>(
        &mut self,
        kernel: &KernelSettings,
        state: &'s State,
        curvature: Option<&dyn ParticleOperators>,
    ) -> Result<Option<ArrayView2<'s, f64>>, SteinError> {
        let particles = state.particles.view();
        if curvature.is_some() || kernel.needs_curvature() {
            self.gram.update(kernel, particles, curvature)?;
            return Ok(None);
        }
        let squares = &self.pairs.squares;
        self.gram
            .update_squares(kernel, squares, particles.ncols())?;
        Ok(Some(particles))
    }

    /// Score and repulsion in function space into `direction`.
    fn with_repulsion(&mut self) -> KernelHealth {
        self.direction.assign(&self.score);
        self.direction += &self.repulsion;
        let norms = FieldNorms {
            drive: norm(self.score.view()),
            repulsion: norm(self.repulsion.view()),
        };
        let mut health = KernelHealth::new(&self.functions, norms);
        // A drive of all directions is large beside a push along the few that the particles span, and beside one on a batch; the push
        // moves the particles all the same.
        if norms.repulsion > 0.0 {
            health.warning = health
                .warning
                .filter(|&told| told != KernelWarning::Negligible);
        }
        health
    }

    /// SVGD field into `direction`.
    fn svgd(
        &mut self,
        kernel: &KernelSettings,
        temper: f64,
        state: &State,
        curvature: Option<&dyn ParticleOperators>,
    ) -> Result<FieldNorms, SteinError> {
        let y = self.update_kernel(kernel, state, curvature)?;
        let y = self.gram.images_or(y);
        let (score, out) = (self.score.view(), self.direction.view_mut());
        Ok(svgd(&self.gram, y, score, temper, out))
    }
}

/// Growth of the largest coordinate from which on particles count as lost.
const LOST: f64 = 1e8;

/// Whether the density holds all particles; else all go back to where the step began.
fn held(state: &mut State) -> Result<(), SteinError> {
    let bound = LOST * state.size;
    let rows = state.particles.rows().into_iter();
    let sizes: Vec<f64> = rows.map(|row| largest(row.insert_axis(Axis(0)))).collect();
    let Some(particle) = sizes.iter().position(|size| *size > bound) else {
        return Ok(());
    };
    state.particles.assign(&state.anchor);
    Err(SteinError::Diverged {
        particle,
        size: sizes[particle],
        start: state.size,
    })
}
