//! The performance suite behind `cargo xtask perf`: time, memory and operation counts of one step of each method.
//!
//! ```text
//! shapes → cases → rigs (sampler, state, timed target) → interleaved rounds → split, counters, peak memory
//!        → ratios, limits → table, perf.json, figures
//! ```
//!
//! - what is measured: [`Shape`], [`Case`], [`Problem`], on synthetic rows with a seed
//! - how: [`measure`] warms every case up and then takes blocks of steps of all cases in turn, so that a disturbance
//!   of the machine falls on all of them
//! - what is asserted: operation counts ([`LIMITS`]), never times

mod case;
mod child;
pub mod cli;
mod counted;
mod env;
mod error;
mod estimate;
mod figure;
mod jobs;
mod limits;
mod measure;
mod outcome;
mod peers;
mod pieces;
mod problem;
mod ratios;
mod rig;
mod roofline;
mod scaling;
mod statistics;
mod table;
mod timed;

pub use case::{Case, Interaction, RING, SecondOrder, Shape, cases};
pub use error::PerfError;
pub use estimate::Estimate;
pub use limits::{LIMITS, Limit};
pub use measure::{Allocations, Counter, Effort, measure};
pub use outcome::{CaseResult, Operations, Outcome, Split};
pub use problem::Problem;
pub use statistics::{Fit, Spread, power_law};
