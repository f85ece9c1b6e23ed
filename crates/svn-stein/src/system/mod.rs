//! The Stein variational Newton system `A α = v` and the ways to solve it.
//!
//! ```text
//! (A α)_m = (1/N) Σ_p K_pm (H_p + λ I) u_p + ρ α_m + Σ_n R_mn α_n,    u_p = Σ_n K_pn α_n
//! block-diagonal:  (A α)_m = (1/N) Σ_p K_pm² (H_p + λ I) α_m + ρ α_m + R_mm α_m
//! step             V_m = Σ_n K_mn α_n
//! ρ = ridge · μ / N,  μ = λ + δ
//! ```
//!
//! | symbol | shape | meaning |
//! |---|---|---|
//! | `α`, `v`, `V` | `N × d` | unknown, SVGD field, step |
//! | `K`, `g` | `N × N` | kernel and its slopes |
//! | `Y` | `N × d` | centred particles times the metric |
//! | `H_p` | `d × d`, never formed | curvature |
//! | `λ`, `ρ` | scalars | Levenberg damping, ridge for nearly singular `K` |
//!
//! Reference: Detommaso et al. (2018), arXiv 1806.03085.

mod block;
mod decoupled;
mod dense;
mod diagonal;
mod direct;
mod krylov;
mod noise;
mod operator;
mod reduced;
mod rows;
mod woodbury;

pub use rows::RowGram;

use ndarray::{ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use crate::error::SteinError;
use crate::gram::KernelView;
use crate::repulsion::{Coupling, rank};
use crate::target::Curvature;

/// Largest matrix the automatic choice factorises before it turns to an iterative solver.
const DIRECT_LIMIT: usize = 4096;
/// Largest repulsion rank the automatic choice factorises.
const REPULSION_LIMIT: usize = 1024;

/// How the Newton system is solved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Solver {
    /// [`Solver::Direct`] while the matrices are small, else [`Solver::Preconditioned`].
    Auto,
    /// To working precision: Woodbury through the Gram matrix of the rows (low rank), per coordinate (diagonal), dense;
    /// factored curvature by refinement, or where that stalls by [`Solver::Preconditioned`], to `1e-9`.
    Direct,
    /// Dense assembly of the `N d × N d` matrix; for small `d`.
    Dense,
    /// Conjugate gradients, matrix-free. Stops with a status at negative curvature.
    Cg {
        /// Relative residual to reach.
        tolerance: f64,
        /// Iteration limit.
        max_iterations: usize,
    },
    /// Krylov method preconditioned by one factor of `H_p + λ I` a particle: CG for PSD couplings, MINRES for `exact`.
    Preconditioned {
        /// Relative residual to reach.
        tolerance: f64,
        /// Iteration limit.
        max_iterations: usize,
    },
    /// Minimum residual method, matrix-free; for symmetric indefinite systems.
    Minres {
        /// Relative residual to reach.
        tolerance: f64,
        /// Iteration limit.
        max_iterations: usize,
    },
}

/// Route that was taken to a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SolveRoute {
    /// Woodbury through the Gram matrix of all curvature rows.
    Reduced,
    /// One factor of `H_p + λ I` a particle, for a well-conditioned kernel matrix.
    Decoupled,
    /// One `N × N` system per coordinate.
    PerCoordinate,
    /// Dense `N d × N d`.
    Dense,
    /// `N` independent systems, one per particle.
    PerParticle,
    /// Conjugate gradients.
    Cg,
    /// MINRES.
    Minres,
    /// Preconditioned CG or MINRES.
    Preconditioned,
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SolveStatus {
    /// To working precision or to the tolerance asked for.
    Solved,
    /// The iteration limit came first; the iterate is used as it is.
    IterationLimit,
    /// A direction of negative curvature was met; the iterate before it is used.
    NegativeCurvature,
    /// The iteration broke down; the iterate before it is used.
    Breakdown,
}

/// What a solve did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SolveInfo {
    /// Route taken.
    pub route: SolveRoute,
    /// How it ended.
    pub status: SolveStatus,
    /// Iterations (iterative) or refinement steps (direct).
    pub iterations: usize,
    /// `‖v − A α‖ / ‖v‖` (zero for `v = 0`).
    pub relative_residual: f64,
    /// Size of the largest matrix factorised; zero for iterative solvers.
    pub size: usize,
}

/// The system at one set of particles.
#[derive(Debug)]
pub struct SvnSystem<'a> {
    kernel: KernelView<'a>,
    curvature: Curvature<'a>,
    coupling: Coupling,
    damping: f64,
    ridge: f64,
}

impl<'a> SvnSystem<'a> {
    /// The system with Levenberg damping `λ = damping` and ridge `ρ = ridge · (λ + scale of H) / N`.
    ///
    /// # Errors
    /// [`SteinError::Shape`] if kernel and curvature do not fit each other; [`SteinError::Setting`] for a negative
    /// damping or ridge; what [`Curvature::validate`] says.
    pub fn new(
        kernel: KernelView<'a>,
        curvature: Curvature<'a>,
        coupling: Coupling,
        damping: f64,
        ridge: f64,
    ) -> Result<Self, SteinError> {
        let (n, d) = kernel.transformed.dim();
        if n == 0 || d == 0 {
            return Err(SteinError::Empty {
                particles: n,
                dim: d,
            });
        }
        for (what, found) in [
            ("kernel matrix", kernel.kernel),
            ("kernel slopes", kernel.slope),
        ] {
            if found.dim() != (n, n) {
                return Err(SteinError::Shape {
                    what,
                    found: found.shape().to_vec(),
                    expected: vec![n, n],
                });
            }
        }
        curvature.validate(n, d)?;
        for (name, value) in [("damping", damping), ("ridge", ridge)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(SteinError::Setting {
                    name,
                    value: value.to_string(),
                    expected: "a non-negative number",
                });
            }
        }
        let ridge = ridge * (damping + curvature.scale()) / n as f64;
        Ok(Self {
            kernel,
            curvature,
            coupling,
            damping,
            ridge,
        })
    }

    /// Particles `N` and coordinates `d`.
    pub fn shape(&self) -> (usize, usize) {
        self.kernel.transformed.dim()
    }

    /// Whether particles do not interact at all (`K = I`), so that every coupling is block-diagonal.
    fn is_decoupled(&self) -> bool {
        self.kernel.slope.iter().all(|&g| g == 0.0)
            && self
                .kernel
                .kernel
                .indexed_iter()
                .all(|((p, m), &k)| p == m || k == 0.0)
    }

    /// Solve `A α = rhs`.
    ///
    /// `rows` keeps the Gram matrix of the curvature rows from call to call; pass [`RowGram::default`] for a single
    /// solve.
    ///
    /// # Shapes
    /// `rhs`, `out`: `N × d`.
    ///
    /// # Errors
    /// [`SteinError::Singular`] if a factorisation fails; [`SteinError::NonFinite`] if `rhs` is not finite;
    /// [`SteinError::Shape`].
    pub fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        solver: Solver,
        rows: &mut RowGram,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<SolveInfo, SteinError> {
        let (n, d) = self.shape();
        for (what, found) in [("right-hand side", rhs.dim()), ("solution", out.dim())] {
            if found != (n, d) {
                return Err(SteinError::Shape {
                    what,
                    found: vec![found.0, found.1],
                    expected: vec![n, d],
                });
            }
        }
        for (p, row) in rhs.rows().into_iter().enumerate() {
            if !row.iter().all(|x| x.is_finite()) {
                return Err(SteinError::NonFinite {
                    what: "right-hand side of the Newton system",
                    particle: p,
                });
            }
        }
        let solver = self.choose(solver)?;
        let info = match solver {
            Solver::Cg {
                tolerance,
                max_iterations,
            } => krylov::cg(self, rhs, tolerance, max_iterations, out.view_mut())?,
            Solver::Minres {
                tolerance,
                max_iterations,
            } => krylov::minres(self, rhs, tolerance, max_iterations, out.view_mut())?,
            Solver::Preconditioned {
                tolerance,
                max_iterations,
            } => {
                direct::preconditioned(self, rhs, tolerance, max_iterations, rows, out.view_mut())?
            }
            _ => direct::solve(self, rhs, solver == Solver::Dense, rows, out.view_mut())?,
        };
        match out
            .rows()
            .into_iter()
            .position(|row| !row.iter().all(|x| x.is_finite()))
        {
            Some(_) => Err(SteinError::Singular {
                coupling: self.coupling.name(),
                size: info.size,
                reason: "the solution is not finite".into(),
            }),
            None => Ok(info),
        }
    }

    fn choose(&self, solver: Solver) -> Result<Solver, SteinError> {
        if solver != Solver::Auto {
            return Ok(solver);
        }
        let (n, d) = self.shape();
        let block = self.coupling == Coupling::BlockDiagonal || self.is_decoupled();
        let size = match &self.curvature {
            Curvature::LowRank(low) if self.is_decoupled() => low.rows.dim().1,
            Curvature::LowRank(low) if !block && direct::nearly_decouples(self, low)? => {
                low.rows.dim().1
            }
            Curvature::LowRank(low) => n * low.rows.dim().1,
            Curvature::Diagonal(_) | Curvature::Factored(_) => n,
            Curvature::Dense(_) if block => d,
            Curvature::Dense(_) => n * d,
        };
        let direct = size <= DIRECT_LIMIT && (block || rank(self.coupling, n) <= REPULSION_LIMIT);
        Ok(if direct {
            Solver::Direct
        } else {
            Solver::Preconditioned {
                tolerance: 1e-6,
                max_iterations: 200,
            }
        })
    }
}
