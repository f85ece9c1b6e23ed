//! The performance suite behind `cargo xtask perf`: time, allocations and operation counts of one step of each method.
//!
//! ```text
//! shapes → cases → rigs (sampler, state, target) → steps of all cases in turn → results → limits, figures → tables, JSON
//! ```
//!
//! - what is measured: `shape`, `case`, on synthetic rows with a seed
//! - how: `measure` warms every case up and then takes blocks of steps of all cases in turn, so that a disturbance
//!   of the machine falls on all of them
//! - what is asserted: operation counts (`limits`), never times
//!
//! Growth with particles, dimension and rows is another program's: `cargo bench -p svn-models --bench growth`.

mod case;
mod cli;
mod counted;
mod error;
mod figures;
mod limits;
mod machine;
mod measure;
mod peers;
mod result;
mod rig;
mod shape;
mod table;

pub use cli::run;
pub use rig::Counter;
