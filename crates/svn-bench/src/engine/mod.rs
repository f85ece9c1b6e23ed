//! The engine of all studies: plan, order, worker threads, resume, checkpoints, tuning and records exist once, here.
//!
//! ```text
//! Study      what is fitted and measured                                  study.rs
//! Plan       designs × methods, settings resolved and checked             plan.rs
//! run        each run on a thread, from its checkpoint, to its record     run.rs, train.rs, store.rs
//! tune       settings by successive halving on validation rows            tune/
//! ```

mod record;
mod study;

pub(crate) use record::quantile;
pub use record::{Configuration, EpochPoint, KernelUse, PartSizes, Record, SCHEMA, Timing};
pub use study::{Design, Extra, RunId};
