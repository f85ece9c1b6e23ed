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
//! `growth` takes the same steps at many sizes, for the page of all studies. Growth with rows, and where conjugate gradients overtake the
//! direct solve, is another program's: `cargo bench -p svn-models --bench growth`.

mod case;
mod cli;
mod counted;
mod error;
mod figures;
mod growth;
mod limits;
mod machine;
mod measure;
mod peers;
mod result;
mod rig;
mod shape;
mod table;

pub use cli::run;
pub use error::PerfError;
pub use growth::{Growth, LONGEST_MS, Line, Point, growth};
pub use machine::machine;
pub use rig::Counter;
pub use shape::SEED;
