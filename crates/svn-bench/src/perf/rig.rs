//! A case ready to step.

use std::time::Instant;

use svn_models::posterior::Posterior;
use svn_models::stein::{Method, Sampler, SolveInfo, State};

use super::case::Case;
use super::error::PerfError;
use super::shape::SEED;

/// Allocations since the process began, reallocations included, where the program's allocator counts them. Memory that
/// libtorch and OpenBLAS take for themselves is not in it.
pub type Counter = fn() -> Option<u64>;

/// Sampler, state and target of a case.
#[derive(Debug)]
pub(super) struct Rig {
    pub id: String,
    sampler: Sampler,
    pub state: State,
    pub target: Posterior,
}

/// One step, measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stepped {
    /// Wall time in milliseconds.
    pub ms: f64,
    /// Allocations of Rust code, the report of the step included.
    pub allocations: Option<u64>,
    pub solve: Option<SolveInfo>,
}

impl Rig {
    pub(super) fn new(case: &Case) -> Result<Self, PerfError> {
        let (target, particles) = case
            .problem
            .build(case.curvature)
            .map_err(PerfError::case(&case.id, "target"))?;
        let sampler =
            Sampler::new(case.method.clone()).map_err(PerfError::case(&case.id, "settings"))?;
        let state = sampler
            .init(particles, SEED)
            .map_err(PerfError::case(&case.id, "start"))?;
        Ok(Self {
            id: case.id.clone(),
            sampler,
            state,
            target,
        })
    }

    pub(super) fn method(&self) -> &Method {
        self.sampler.method()
    }

    pub(super) fn step(&mut self, counter: Counter) -> Result<Stepped, PerfError> {
        let before = counter();
        let start = Instant::now();
        let info = self
            .sampler
            .step(&mut self.state, &mut self.target)
            .map_err(PerfError::case(&self.id, "step"))?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(Stepped {
            ms,
            allocations: before.zip(counter()).map(|(before, after)| after - before),
            solve: info.solve,
        })
    }
}
