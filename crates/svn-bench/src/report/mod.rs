//! From records to `summary.json`, `report.md`, figures and the table on the terminal.

mod compare;
mod error;
mod grid;
mod markdown;
mod paper;
mod published;
mod sections;
mod summary;
pub mod vision;
mod write;

#[cfg(test)]
pub(crate) mod samples;

pub use compare::{Convergence, Versus};
pub use error::ReportError;
pub use grid::{Detail, Grid, grids, number, with_error};
pub use markdown::markdown;
pub use paper::{PaperCell, paper_cells};
pub use published::{Anchor, Published, published};
pub use sections::{NLL_CONSTANT, losses, sections};
pub use summary::{ResultRow, StepTime, Summary, summarise};
pub use write::write;
