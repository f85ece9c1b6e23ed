//! From data files to benchmark reports: data sets, splits, metrics, records, reports, figures, and the
//! experiments behind the `svn` command.
//!
//! Training is behind the boundary [`experiment::FoldRunner`] and in [`experiment::vision::train`]; everything else here
//! knows no network.

#![deny(missing_docs)]

pub mod cli;
pub mod data;
pub mod doctor;
pub mod experiment;
mod libraries;
pub mod metrics;
pub mod perf;
pub mod plot;
pub mod record;
pub mod report;
pub mod split;
pub mod study;
