//! From data files to benchmark reports: data sets, splits, metrics, the engine that runs studies, the studies behind the `svn`
//! command, and their reports.
//!
//! Who trains is known to [`engine`] alone, behind the boundary [`engine::Trainer`].

#![deny(missing_docs)]

pub mod cli;
pub mod data;
pub mod doctor;
pub mod engine;
mod files;
mod libraries;
pub mod metrics;
pub mod perf;
pub mod report;
pub mod split;
pub mod study;
pub mod tabular;
pub mod terminal;

/// The programs of the guide, which `cargo test --doc` runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/src/own-network.md")]
#[doc = include_str!("../../../docs/guide/src/own-density.md")]
struct Guide;
