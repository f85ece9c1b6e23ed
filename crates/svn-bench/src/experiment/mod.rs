//! Experiments: what is run, by whom, in which order, and what comes of it.
//!
//! An experiment plans jobs (data set × method × fold), gives each to a [`FoldRunner`] and keeps the record of what
//! came back. How a network is trained is known to `uci::train` and `vision::train` alone.

#[macro_use]
mod choice;
mod error;
mod job;
mod method;
mod pool;
mod settings;
pub mod tune;
pub mod uci;
pub mod vision;

pub use choice::{
    Bandwidth, Binary, Coupling, Hessian, Kernel, KernelMetric, Noise, Predictive, Schedule, Solver,
};
pub use error::{ExperimentError, RunError, SettingsError};
pub use job::{
    DatasetSummary, EpochPoint, EpochProgress, FoldJob, FoldOutcome, FoldRunner, Part, Size,
    Validated,
};
pub use method::Method;
pub use settings::TrainSettings;
