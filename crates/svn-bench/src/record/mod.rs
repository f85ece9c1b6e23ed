//! `records.jsonl`: one line per data set × method × fold, appended as runs finish, resumable, canonical at the end;
//! and the file behind it, which serves other lines too.

mod entry;
mod error;
mod store;

pub(crate) use entry::quantile;
pub use entry::{Configuration, PartSizes, Record, SCHEMA, Timing};
pub use error::RecordError;
pub(crate) use store::write_atomically;
pub use store::{Entry, RecordStore, Store};
