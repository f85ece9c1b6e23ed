//! From records of image experiments to `summary.json`, `report.md`, figures and the table on the terminal.

mod compare;
mod markdown;
mod paper;
mod sections;
mod summary;
mod write;

#[cfg(test)]
mod tests;

pub use markdown::markdown;
pub use paper::paper_cells;
pub use sections::{brief, losses, sections};
pub use summary::{CorruptionMean, VisionRow, VisionSummary, summarise};
pub use write::write;
