//! From what a person asks for to the settings of a fit: the one list of training settings and the one table of defaults.
//!
//! ```text
//! Recipe      what is given; the rest is left out             settings.rs
//!   or        command line, then tuned, then study            settings.rs
//!   resolve   what is left out                                defaults.rs
//!             defaults of method × problem                    networks.rs, problem.rs
//! Resolved    everything that the method uses
//!   fit_settings, last_layer_settings                         build.rs
//!   fit                                                       fit.rs
//! ```
//!
//! A new setting is a line in the list of `settings.rs`, its default, and its use in `build.rs`.

mod build;
mod defaults;
mod fit;
mod method;
mod names;
mod networks;
mod problem;
mod selection;
mod settings;

pub use method::Method;
pub use names::{Binary, Head, LastLayerMode, NetworkKind, Noise, Predictive, Schedule, Selection};
pub use problem::{Problem, Size};
pub(crate) use selection::beside;
pub use settings::{Recipe, Setting};

/// A [`Recipe`] with everything filled in that its method uses; what it does not use is empty, so that a record does not claim
/// it was used.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// How the particles move.
    pub method: Method,
    /// What it was resolved for.
    pub problem: Problem,
    /// The settings.
    pub recipe: Recipe,
}

#[cfg(test)]
mod tests;
