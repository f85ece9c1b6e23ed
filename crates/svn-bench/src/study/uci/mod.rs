//! The tables of the UCI repository, by the paper's cross-validation or by the random splits of the wider literature.

mod design;
mod page;
mod published;

#[cfg(test)]
pub(crate) mod samples;

pub use design::UciDesign;
pub use page::UciPage;

/// Name of the study.
pub const NAME: &str = "uci";
