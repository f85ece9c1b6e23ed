//! Experiments: what is run, by whom, in which order, and what comes of it.
//!
//! An experiment plans jobs (data set × method × fold), gives each to a [`FoldRunner`] and keeps the record of what
//! came back. How a network is trained is known to `uci::train` and `vision::train` alone.

mod error;
mod job;
mod pool;
pub mod tune;
pub mod uci;
pub mod vision;

pub(crate) use error::out_of_range;
pub use error::{ExperimentError, RunError, SettingsError};
pub use job::{
    DatasetSummary, EpochPoint, EpochProgress, FoldJob, FoldOutcome, FoldRunner, Part, Validated,
};
pub use svn_models::recipe::{Method, Recipe};
