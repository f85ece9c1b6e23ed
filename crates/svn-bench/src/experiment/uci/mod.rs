//! The UCI benchmark: data sets × methods × folds, in parallel, resumable.

mod observer;
mod plan;
mod prepare;
mod run;
pub mod train;
mod tuned;

pub use observer::{JobLabel, Observer, Silent};
pub use plan::{Group, Plan, ProtocolName, UciOptions};
pub use prepare::Prepared;
pub use run::{Failure, Finished, run};
pub use tuned::{TunedError, TunedSettings, TunedSource};
