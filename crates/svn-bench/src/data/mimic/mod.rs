//! Intensive-care stays of MIMIC-IV, from its official tables to one row of features a patient.
//!
//! ```text
//! hosp/, icu/      which files, and how old                                 folder.rs, rows.rs, columns.rs
//! Cohort           adults, first stays, at least 24 hours; a count a rule   cohort.rs, flow.rs, time.rs
//! events           hundreds of millions of rows, a block at a time          blocks.rs, scan.rs, events.rs
//!   Signal         item ids, units, plausible ranges                        signals.rs
//!   Chart          what is kept of a stay, whatever the order of its rows   chart.rs
//! FeatureTable     one row a patient, its cache and the manifest of it      features.rs, extract.rs, cache.rs
//! synthetic        made-up patients in the same tables                      synthetic/
//! ```
//!
//! Nothing of a patient is in any message: errors name file, line and column, never what a cell holds.

mod blocks;
mod cache;
mod chart;
mod cohort;
mod columns;
mod error;
mod events;
mod extract;
mod features;
mod flow;
mod folder;
mod rows;
mod scan;
mod signals;
pub mod synthetic;
mod time;

#[cfg(test)]
mod tests;

pub use cache::{Manifest, cached};
pub use error::MimicError;
pub use events::Counts;
pub use extract::{ExtractOptions, Extraction, Progress, Quiet, extract};
pub use features::FeatureTable;
pub use flow::{Flow, Removal};
pub use folder::{Release, SourceStamp, Tables};
pub use signals::{SIGNALS, Signal};
pub use time::Timestamp;
