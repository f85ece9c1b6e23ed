//! A curve with a gap: what the methods believe where there are no rows, beside what the posterior says.

mod bands;
mod curve;
pub mod data;
mod page;
mod posterior;

/// Name of the study.
pub const NAME: &str = "toy";

pub use curve::{Curve, Toy, ToyDesign};
pub use page::ToyPage;
pub use posterior::{Posterior, posterior};
