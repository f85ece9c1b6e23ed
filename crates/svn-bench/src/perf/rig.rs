//! A case ready to step.

use std::time::Instant;

use svn_models::posterior::Posterior;
use svn_models::stein::{Method, Sampler, SolveInfo, State};

use super::case::Case;
use super::error::PerfError;
use super::measure::{Allocations, Counter};
use super::timed::Timed;

/// Sampler, state and target of a case.
#[derive(Debug)]
pub(super) struct Rig {
    pub id: String,
    sampler: Sampler,
    pub state: State,
    pub target: Timed<Posterior>,
}

/// One step, measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stepped {
    /// Wall time of the whole step in milliseconds.
    pub step_ms: f64,
    /// Part of it spent in the target.
    pub evaluation_ms: f64,
    /// Allocations of Rust code, the report of the step included.
    pub allocations: Option<Allocations>,
    pub solve: Option<SolveInfo>,
}

impl Rig {
    pub fn new(case: &Case) -> Result<Self, PerfError> {
        let id = case.id();
        let curvature = case.newton.map(|newton| newton.curvature);
        let (posterior, particles) =
            case.problem
                .build(curvature.unwrap_or_default())
                .map_err(|source| PerfError::Case {
                    case: id.clone(),
                    source: Box::new(source),
                })?;
        let method = case.method(posterior.network());
        let sampler = Sampler::new(method).map_err(PerfError::part(&id, "settings"))?;
        let state = sampler
            .init(particles, super::problem::SEED)
            .map_err(PerfError::part(&id, "start"))?;
        Ok(Self {
            id,
            sampler,
            state,
            target: Timed::new(posterior),
        })
    }

    pub fn method(&self) -> &Method {
        self.sampler.method()
    }

    pub fn step(&mut self, counter: Counter) -> Result<Stepped, PerfError> {
        self.target.take();
        let before = counter();
        let start = Instant::now();
        let outcome = self.sampler.step(&mut self.state, &mut self.target);
        let solve = match outcome {
            Ok(info) => info.solve,
            Err(source) => {
                return Err(PerfError::Step {
                    case: self.id.clone(),
                    step: self.state.step(),
                    source: Box::new(source),
                });
            }
        };
        let step_ms = start.elapsed().as_secs_f64() * 1e3;
        let allocations = before
            .zip(counter())
            .map(|(before, after)| after.since(before));
        Ok(Stepped {
            step_ms,
            evaluation_ms: self.target.take().as_secs_f64() * 1e3,
            allocations,
            solve,
        })
    }
}
