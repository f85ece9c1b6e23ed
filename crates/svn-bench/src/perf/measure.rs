//! Warm-up, then blocks of steps of all cases in turn; medians and ranges over all steps of a case.

use super::case::{Case, SecondOrder};
use super::error::PerfError;
use super::outcome::{CaseResult, Operations, Split};
use super::pieces::{self, Pieces};
use super::rig::{Rig, Stepped};
use super::statistics::Spread;

/// Allocations and allocated bytes, counted since the process began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocations {
    /// Calls that returned new memory, reallocations included.
    pub count: u64,
    /// Bytes they asked for.
    pub bytes: u64,
}

impl Allocations {
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            count: self.count.saturating_sub(earlier.count),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

/// Reads the counting allocator of the program, where it has one. Memory that libtorch and OpenBLAS take for
/// themselves is not in it.
pub type Counter = fn() -> Option<Allocations>;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Times every case has its turn.
    pub rounds: usize,
    /// Time for the steps of one case over all rounds, in milliseconds.
    pub budget_ms: f64,
    /// Fewest steps of a case in a round.
    pub min_steps: usize,
    /// Most steps of a case in a round.
    pub max_steps: usize,
}

impl Effort {
    /// For figures that are published.
    pub const FULL: Self = Self {
        rounds: 5,
        budget_ms: 1500.0,
        min_steps: 2,
        max_steps: 60,
    };

    /// For a smoke test: the counts are the same, the times are rough.
    pub const QUICK: Self = Self {
        rounds: 2,
        budget_ms: 60.0,
        min_steps: 2,
        max_steps: 6,
    };
}

/// Run `work` with `threads` threads for rayon, libtorch and OpenBLAS.
pub(super) fn with_threads<R: Send>(
    threads: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<R, PerfError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| PerfError::Threads {
            threads,
            message: error.to_string(),
        })?;
    Ok(pool.install(|| {
        svn_linalg::threads::set_blas_threads(threads);
        // Of the calling thread as well, hence in the pool.
        tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
        work()
    }))
}

/// Measure all cases beside each other with a number of threads; results in the order of the cases.
///
/// # Errors
/// [`PerfError`] naming the case that could not be set up or stepped.
pub fn measure(
    cases: &[Case],
    threads: usize,
    effort: Effort,
    counter: Counter,
) -> Result<Vec<CaseResult>, PerfError> {
    with_threads(threads, || measure_here(cases, threads, effort, counter))?
}

fn measure_here(
    cases: &[Case],
    threads: usize,
    effort: Effort,
    counter: Counter,
) -> Result<Vec<CaseResult>, PerfError> {
    let mut rigs = Vec::with_capacity(cases.len());
    for case in cases {
        let mut rig = Rig::new(case)?;
        let warm = warm_up(&mut rig, case, counter)?;
        let fits = effort.budget_ms / warm / effort.rounds as f64;
        let block = (fits as usize).clamp(effort.min_steps, effort.max_steps);
        let steps: Vec<Stepped> = Vec::with_capacity(block * effort.rounds);
        rigs.push((rig, block, steps));
    }
    for _ in 0..effort.rounds {
        for (rig, block, steps) in &mut rigs {
            for _ in 0..*block {
                steps.push(rig.step(counter)?);
            }
        }
    }
    let mut results = Vec::with_capacity(cases.len());
    for (case, (mut rig, block, steps)) in cases.iter().zip(rigs) {
        let pieces = pieces::measure(&mut rig, block * effort.rounds.min(2))?;
        results.push(summary(case, threads, &steps, &pieces));
    }
    Ok(results)
}

/// Fill the ring and all caches; the time of a step in milliseconds.
pub(super) fn warm_up(rig: &mut Rig, case: &Case, counter: Counter) -> Result<f64, PerfError> {
    for _ in 0..case.ring() {
        rig.step(counter)?;
    }
    let mut times = [0.0; 3];
    for time in &mut times {
        *time = rig.step(counter)?.step_ms;
    }
    Ok(times.into_iter().fold(f64::INFINITY, f64::min).max(1e-3))
}

fn summary(case: &Case, threads: usize, steps: &[Stepped], pieces: &Pieces) -> CaseResult {
    let median = |value: fn(&Stepped) -> f64| {
        let values: Vec<f64> = steps.iter().map(value).collect();
        Spread::of(&values).unwrap_or(Spread {
            median: 0.0,
            min: 0.0,
            max: 0.0,
        })
    };
    let step = median(|step| step.step_ms);
    let evaluation = median(|step| step.evaluation_ms).median;
    let counted = |value: fn(&Allocations) -> u64| {
        let mut counts: Vec<u64> = steps
            .iter()
            .filter_map(|step| step.allocations.as_ref().map(value))
            .collect();
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied()
    };
    let newton = |name: fn(&SecondOrder) -> &'static str| {
        case.newton.as_ref().map(|newton| name(newton).to_owned())
    };
    let total: f64 = steps.iter().map(|step| step.step_ms).sum();
    CaseResult {
        shape: case.shape.clone(),
        id: case.id(),
        method: case.method_name().to_owned(),
        hessian: newton(|newton| newton.hessian_name()),
        coupling: newton(|newton| newton.coupling.name()),
        solver: newton(|newton| newton.solver_name()),
        kernel: case.kernel.name().to_owned(),
        ring: case.newton.map(|_| case.ring()),
        particles: case.problem.particles,
        dim: case.problem.dim(),
        batch: case.problem.batch,
        threads,
        steps: steps.len(),
        median_ms: step.median,
        mean_ms: total / steps.len().max(1) as f64,
        min_ms: step.min,
        max_ms: step.max,
        peak_mb: None,
        split: Split::new(step.median, evaluation, pieces),
        allocations: counted(|a| a.count),
        allocated_bytes: counted(|a| a.bytes),
        operations: Operations::new(case, steps.iter().rev().find_map(|step| step.solve), pieces),
        estimate: super::estimate::Estimate::of(case),
    }
}
