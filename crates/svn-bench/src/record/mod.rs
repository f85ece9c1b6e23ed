//! `records.jsonl`: one line per data set × method × fold, appended as runs finish, resumable, canonical at the end.

mod error;
mod record;
mod store;

pub use error::RecordError;
pub(crate) use record::quantile;
pub use record::{Configuration, PartSizes, Record, SCHEMA, Timing};
pub use store::RecordStore;
pub(crate) use store::write_atomically;
