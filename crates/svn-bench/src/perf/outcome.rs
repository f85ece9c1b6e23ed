//! The contents of `perf.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use svn_models::posterior::CurvatureFamily;
use svn_models::stein::{SolveInfo, SolveRoute, SolveStatus};

use super::case::Case;
use super::env::Environment;
use super::estimate::Estimate;
use super::peers::Peer;
use super::pieces::Pieces;
use super::scaling::Scaling;

/// Version of the format.
pub const SCHEMA: u32 = 1;

/// Everything a run measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// `SCHEMA`.
    pub schema: u32,
    /// Machine, libraries, rates.
    pub env: Environment,
    /// All cases with all numbers of threads.
    pub cases: Vec<CaseResult>,
    /// Quotients of medians, `null` where a part was not measured.
    pub ratios: BTreeMap<String, Option<f64>>,
    /// Other implementations, where they were asked for.
    pub peers: Vec<Peer>,
    /// Growth with particles, dimension and rows, where it was asked for.
    pub scaling: Option<Scaling>,
}

/// One case with one number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// Name of the shape.
    pub shape: String,
    /// `shape/method/…`.
    pub id: String,
    /// Method.
    pub method: String,
    /// Curvature family; `null` for methods without curvature, as the next four.
    pub hessian: Option<String>,
    /// Blocks of the Newton system that are kept.
    pub coupling: Option<String>,
    /// Solver asked for.
    pub solver: Option<String>,
    /// `none`, `identity`, `curvature` or `inactive`.
    pub kernel: String,
    /// Batches whose curvature rows are kept.
    pub ring: Option<usize>,
    /// `N`.
    pub particles: usize,
    /// `d`.
    pub dim: usize,
    /// `b`.
    pub batch: usize,
    /// Threads of rayon, libtorch and OpenBLAS.
    pub threads: usize,
    /// Steps measured.
    pub steps: usize,
    /// Median wall time of a step in milliseconds.
    pub median_ms: f64,
    /// Mean: what a step costs where steps differ by design, as with curvature that is refreshed now and then.
    pub mean_ms: f64,
    /// Shortest step.
    pub min_ms: f64,
    /// Longest step.
    pub max_ms: f64,
    /// Peak resident memory of a process that runs this case alone, in MB (10⁶ bytes); `null` where the system does not
    /// tell.
    pub peak_mb: Option<f64>,
    /// Where the time goes.
    pub split: Split,
    /// Median number of allocations of a step in Rust code.
    pub allocations: Option<u64>,
    /// Median bytes of these.
    pub allocated_bytes: Option<u64>,
    /// Operation counts; `null` for first-order methods.
    pub operations: Option<Operations>,
    /// Work by formula, and the bound it gives.
    pub estimate: Estimate,
}

/// Median milliseconds of the parts of a step.
///
/// `forward_ms + curvature_ms` is measured inside the step. Their division, and `kernel_ms`, `solve_ms`,
/// `diagnostics_ms`, are of the same parts run alone on the state at the end. `update_ms` is what is left of the median
/// step: moving the particles, trust region, checks, and the differences between the two measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Forward and backward pass: log density and score.
    pub forward_ms: f64,
    /// Curvature rows beyond that.
    pub curvature_ms: Option<f64>,
    /// Kernel matrix, metric and field.
    pub kernel_ms: Option<f64>,
    /// Newton system.
    pub solve_ms: Option<f64>,
    /// Stein discrepancy and effective dimension in the report of the step.
    pub diagnostics_ms: f64,
    /// The rest; never below zero.
    pub update_ms: f64,
}

impl Split {
    pub(super) fn new(step: f64, evaluation: f64, pieces: &Pieces) -> Self {
        let forward = pieces.score_ms.min(evaluation);
        let curved = pieces.solve_ms.is_some();
        let forward = if curved { forward } else { evaluation };
        let parts = evaluation
            + pieces.kernel_ms.unwrap_or(0.0)
            + pieces.solve_ms.unwrap_or(0.0)
            + pieces.diagnostics_ms;
        Self {
            forward_ms: forward,
            curvature_ms: curved.then_some(evaluation - forward),
            kernel_ms: pieces.kernel_ms,
            solve_ms: pieces.solve_ms,
            diagnostics_ms: pieces.diagnostics_ms,
            update_ms: (step - parts).max(0.0),
        }
    }
}

/// Counts of one step that do not depend on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// Way to the solution.
    pub route: SolveRoute,
    /// How the solve ended.
    pub status: SolveStatus,
    /// Iterations or refinement steps.
    pub iterations: usize,
    /// `‖v − A α‖ / ‖v‖`.
    pub relative_residual: f64,
    /// Size of the largest matrix factorised.
    pub size: usize,
    /// Products of a particle's curvature with a vector in one solve; `null` for curvature that is not factored.
    pub products: Option<usize>,
    /// Factors of a particle's damped curvature in one solve; `null` likewise.
    pub factors: Option<usize>,
    /// Flops of the Cholesky factors, in millions: `size³ / 3`, and `N` of them where particles are solved one by one; `null`
    /// for other families than Full.
    pub factor_mflop: Option<f64>,
}

impl Operations {
    pub(super) fn new(case: &Case, solve: Option<SolveInfo>, pieces: &Pieces) -> Option<Self> {
        let (solve, newton) = (solve?, case.newton?);
        let full = newton.curvature.family == CurvatureFamily::Full;
        let many = match solve.route {
            SolveRoute::PerParticle | SolveRoute::Decoupled | SolveRoute::Preconditioned => {
                case.problem.particles as f64
            }
            _ => 1.0,
        };
        let size = solve.size as f64;
        Some(Self {
            route: solve.route,
            status: solve.status,
            iterations: solve.iterations,
            relative_residual: solve.relative_residual,
            size: solve.size,
            products: pieces.products,
            factors: pieces.factors,
            factor_mflop: full.then(|| many * size.powi(3) / 3.0 * 1e-6),
        })
    }
}
