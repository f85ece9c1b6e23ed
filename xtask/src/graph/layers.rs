//! The table of the modules inside svn-bench, in layers.
//!
//! A module uses itself and modules of layers below. What lies in one layer does not know of each other.

/// The crate that the table is about.
pub(super) const CRATE: &str = "svn-bench";

/// From bottom to top; `lib.rs` and the programs in `bin` are above all.
pub(super) const LAYERS: &[&[&str]] = &[
    &["files"],
    &["libraries", "terminal", "data", "split"],
    &["metrics"],
    &["engine"],
    &["report"],
    &["study", "tabular"],
    &["perf", "doctor", "sweep"],
    &["survey"],
    &["cli"],
];

/// Arrows that the layers do not allow, each with its reason: who uses whom.
pub(super) const EXCEPTIONS: &[(&str, &[&str])] = &[
    // Drawn and distorted images take the streams of random numbers that belong to a seed.
    ("data", &["split"]),
];
