//! Stein variational inference with curvature, on any differentiable target.
//!
//! ```text
//! Score / Curved target → KernelGram (K, g, Y) → field v → SvnSystem A α = v → V = K α → step control → particles
//! ```
//!
//! Start with [`Score`], the trait of a density of one's own; [`Method`], what to do with it; and [`Sampler`], which does it.
//! A method is chosen as a [`Method`], turned into a [`Sampler`], and stepped or [`run`] on a target. First-order
//! methods need a [`Score`], the Newton ones a [`Curved`] target. Everything is deterministic given the seed of the
//! state; nothing here touches files, the clock or a global random number generator.
//!
//! # Examples
//! A two-dimensional density of one's own:
//! ```
//! use ndarray::{Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2};
//! use svn_stein::{FirstOrder, KernelSettings, Method, Sampler, Score, ScoreOnly, Stop, TargetError, run};
//!
//! /// `log π(x, y) = −x²/2 − (y − x²)²/2`.
//! struct Banana;
//!
//! impl Score for Banana {
//!     fn dim(&self) -> usize { 2 }
//!     fn score_into(
//!         &mut self, phi: ArrayView2<'_, f64>, mut log_density: ArrayViewMut1<'_, f64>, mut score: ArrayViewMut2<'_, f64>,
//!     ) -> Result<(), TargetError> {
//!         for (p, phi) in phi.rows().into_iter().enumerate() {
//!             let (x, r) = (phi[0], phi[1] - phi[0] * phi[0]);
//!             log_density[p] = -0.5 * (x * x + r * r);
//!             score[(p, 0)] = -x + 2.0 * r * x;
//!             score[(p, 1)] = -r;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let mut sampler = Sampler::new(Method::Svgd { kernel: KernelSettings::default(), step: FirstOrder::adam(0.1) })?;
//! let start = Array2::from_shape_fn((20, 2), |(p, i)| (p as f64 / 10.0 - 1.0) * if i == 0 { 1.0 } else { 0.5 });
//! let mut state = sampler.init(start, 0)?;
//! run(&mut sampler, &mut state, &mut ScoreOnly(Banana), Stop::after(200), &mut [])?;
//! let mean_y = state.particles().column(1).sum() / 20.0;
//! assert!((mean_y - 1.0).abs() < 0.5, "E[y] = E[x²] = 1, found {mean_y}");
//! # Ok::<(), svn_stein::SteinError>(())
//! ```
//!
//! # References
//! Liu & Wang (2016), arXiv 1608.04471 (SVGD); Detommaso et al. (2018), arXiv 1806.03085 (SVN);
//! *Stein Variational Newton Neural Network Ensembles*, arXiv 2411.01887.

#![deny(missing_docs)]
#![warn(clippy::unwrap_used, clippy::print_stdout)]

mod annealing;
mod bandwidth;
mod curvature;
mod damping;
mod diagnostics;
mod error;
mod field;
mod function;
mod gram;
mod info;
mod kernel;
mod method;
mod momentum;
mod newton_ensemble;
mod noise;
mod passes;
pub mod plane;
mod rate;
mod repulsion;
mod restrict;
mod run;
mod sampler;
mod score_only;
mod slope;
mod state;
mod subnormal;
mod system;
pub mod target;

pub use annealing::Annealing;
pub use bandwidth::Bandwidth;
pub use damping::Damping;
pub use diagnostics::{effective_dimension, kernel_stein_discrepancy};
pub use error::SteinError;
pub use field::{DensityEstimator, FieldNorms, svgd_into, wgd_into};
pub use function::{FunctionRepulsion, FunctionSpace};
pub use gram::{KernelGram, KernelSettings, KernelView, Metric};
pub use info::{Info, KernelHealth, KernelWarning};
pub use kernel::{Component, Kernel, Profile};
pub use method::{FirstOrder, Lift, Method, Newton, StepControl};
pub use newton_ensemble::NewtonEnsemble;
pub use rate::{Rate, Schedule, StepRule};
pub use repulsion::Coupling;
pub use restrict::Coordinates;
pub use run::{Flow, Observer, Stop, StopReason, run};
pub use sampler::Sampler;
pub use score_only::ScoreOnly;
pub use state::State;
pub use svn_linalg as linalg;
pub use system::{Scratch, SolveInfo, SolveRoute, SolveStatus, Solver, SvnSystem};
pub use target::{Curvature, Curved, Score, TargetError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
