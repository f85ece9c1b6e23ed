//! The engine of all studies: plan, order, worker threads, resume, checkpoints, tuning and records exist once, here.
//!
//! ```text
//! Study      what is fitted and measured                                  study.rs
//! Plan       designs × methods, settings resolved and checked             plan.rs, tuned.rs
//! run        each run on a thread, from its checkpoint, to its record     run.rs, train.rs, networks.rs, measure.rs, record.rs, store.rs
//! tune       settings by successive halving on validation rows            tune/
//! ```

mod checkpoint;
mod error;
mod left;
mod measure;
mod memory;
mod networks;
mod observer;
mod plan;
mod pool;
mod record;
mod run;
mod store;
mod store_error;
mod study;
mod train;
pub mod tune;
mod tuned;

pub(crate) use crate::metrics::quantile;
pub(crate) use checkpoint::{Checkpoints, read as read_checkpoint};
pub(crate) use error::out_of_range;
pub use error::{EngineError, OptionError, RunError};
pub use left::{Left, left};
pub(crate) use memory::of_this_machine;
pub use networks::networks;
pub(crate) use networks::{at_end, curve, warnings};
pub use observer::{EpochProgress, JobLabel, Observer, Shown, Silent};
pub(crate) use plan::distinct;
pub use plan::{Asked, Group, Plan};
pub(crate) use pool::lock as lock_mutex;
pub use record::{Configuration, EpochPoint, KernelUse, PartSizes, Record, SCHEMA, Timing};
pub use run::{Failure, Finished, RecordOf, Work, run};
pub(crate) use run::{label, record_of};
pub use store::{Entry, Identity, Store, read_entries};
pub(crate) use store::{lock, parse_entry, write_atomically};
pub use store_error::StoreError;
pub use study::{Design, Extra, Fold, Of, Part, RunId, Study};
pub use svn_models::Predicted;
pub use train::{Context, Model, Trained, Trainer};
pub(crate) use tuned::place_of;
pub use tuned::{TunedError, TunedSettings, TunedSource};
