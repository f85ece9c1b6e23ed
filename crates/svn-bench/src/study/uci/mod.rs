//! The tables of the UCI repository, by the paper's cross-validation or by the random splits of the wider literature.

mod design;
mod page;
mod published;
mod sets;

#[cfg(test)]
pub(crate) mod samples;

pub use design::UciDesign;
pub use page::UciPage;
pub use sets::{ProtocolName, TUNED, Uci, UciOptions};

/// Name of the study.
pub const NAME: &str = "uci";
