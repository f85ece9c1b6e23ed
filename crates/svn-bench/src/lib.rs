//! From data files to benchmark reports: data sets, splits, metrics, the engine that runs studies, the studies behind the `svn`
//! command, and their reports.
//!
//! Start with [`data::load_named`] or [`data::Schema`], which make a table of the benchmark or of one's own into arrays;
//! [`split::split`], which says who learns from which rows; and [`engine::Study`], which the engine runs, resumes and records.
//! Who trains is known to [`engine`] alone, behind the boundary [`engine::Trainer`].
//!
//! ```
//! use svn_bench::data::{Manifest, SearchPath, load_named};
//! use svn_bench::split::{Protocol, split};
//!
//! // A bundled set; others are looked for in the folders of the search path.
//! let cars = load_named("autompg", &Manifest::embedded()?, &SearchPath::standard(None))?;
//! assert_eq!((cars.rows(), cars.features.len(), cars.target.as_str()), (392, 7, "mpg"));
//! let folds = split(Protocol::Paper { folds: 5 }, &cars.name, cars.rows(), None, 0)?;
//! assert_eq!((folds.len(), folds[0].test.len()), (5, 79));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub mod survey;
pub mod sweep;
pub mod tabular;
pub mod terminal;

/// The programs of the guide, which `cargo test --doc` runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/src/own-network.md")]
#[doc = include_str!("../../../docs/guide/src/own-density.md")]
struct Guide;
