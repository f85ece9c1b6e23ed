//! Warm-up, then blocks of steps of all cases in turn; medians and ranges over all steps of a case.

use svn_models::posterior::CurvatureFamily;
use svn_models::stein::{SolveInfo, SolveRoute};

use super::case::Case;
use super::counted;
use super::error::PerfError;
use super::result::{CaseResult, Operations, Spread};
use super::rig::{Counter, Rig, Stepped};

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Effort {
    /// Times every case has its turn.
    rounds: usize,
    /// Time for the steps of one case in a round, in milliseconds.
    budget_ms: f64,
    /// Fewest and most steps of a case in a round.
    steps: (usize, usize),
}

impl Effort {
    /// For figures that are published.
    pub(super) const FULL: Self = Self {
        rounds: 5,
        budget_ms: 300.0,
        steps: (2, 60),
    };

    /// For figures of many sizes.
    pub(super) const GROWTH: Self = Self {
        rounds: 2,
        budget_ms: 40.0,
        steps: (1, 30),
    };

    /// For counts: as many steps on every machine, so that the counts are the same, while the times are rough.
    pub(super) const QUICK: Self = Self {
        rounds: 2,
        budget_ms: 0.0,
        steps: (6, 6),
    };
}

/// Measure all cases beside each other with `threads` threads for rayon, libtorch and OpenBLAS; results in the order of
/// the cases.
///
/// # Errors
/// [`PerfError`] naming the case that could not be set up or stepped.
pub(super) fn measure(
    cases: &[Case],
    threads: usize,
    effort: Effort,
    counter: Counter,
) -> Result<Vec<CaseResult>, PerfError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|source| PerfError::Threads { threads, source })?;
    pool.install(|| {
        // Of the calling thread as well, hence in the pool.
        svn_models::set_library_threads(threads);
        let mut rigs = Vec::with_capacity(cases.len());
        for case in cases {
            let mut rig = Rig::new(case)?;
            let fits = effort.budget_ms / warm_up(&mut rig, case, counter)?;
            let block = (fits as usize).clamp(effort.steps.0, effort.steps.1);
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
        for (case, (rig, _, steps)) in cases.iter().zip(rigs) {
            results.extend(result(case, rig, threads, &steps)?);
        }
        Ok(results)
    })
}

/// Fill the ring and all caches; the time of a step in milliseconds.
fn warm_up(rig: &mut Rig, case: &Case, counter: Counter) -> Result<f64, PerfError> {
    for _ in 0..case.curvature.ring {
        rig.step(counter)?;
    }
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        least = rig.step(counter)?.ms.min(least);
    }
    Ok(least.max(1e-3))
}

/// `None` without a step.
fn result(
    case: &Case,
    mut rig: Rig,
    threads: usize,
    steps: &[Stepped],
) -> Result<Option<CaseResult>, PerfError> {
    let times: Vec<f64> = steps.iter().map(|step| step.ms).collect();
    let Some(step_ms) = Spread::of(&times) else {
        return Ok(None);
    };
    let mut allocations: Vec<u64> = steps.iter().filter_map(|step| step.allocations).collect();
    allocations.sort_unstable();
    let (particles, dim) = rig.state.particles().dim();
    let counts = counted::solve(&mut rig).map_err(PerfError::case(&case.id, "solve"))?;
    let solve = steps.iter().rev().find_map(|step| step.solve);
    Ok(Some(CaseResult {
        id: case.id.clone(),
        particles,
        dim,
        threads,
        steps: steps.len(),
        step_ms,
        cost_ms: match case.is_lazy() {
            true => times.iter().sum::<f64>() / times.len() as f64,
            false => step_ms.median,
        },
        allocations: allocations.get(allocations.len() / 2).copied(),
        operations: solve.map(|solve| Operations {
            solve,
            products: counts.map(|(products, _)| products),
            factors: counts.map(|(_, factors)| factors),
            factor_mflop: factor_mflop(case, &solve, particles),
        }),
    }))
}

/// `size³ / 3`, and `N` of them where particles are solved one by one.
fn factor_mflop(case: &Case, solve: &SolveInfo, particles: usize) -> Option<f64> {
    let many = match solve.route {
        SolveRoute::PerParticle | SolveRoute::Decoupled | SolveRoute::Preconditioned => particles,
        _ => 1,
    };
    let flops = many as f64 * (solve.size as f64).powi(3) / 3.0;
    (case.curvature.family == CurvatureFamily::Full).then_some(flops * 1e-6)
}
