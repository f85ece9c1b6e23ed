//! From records to `summary.json`, `report.md`, figures and the table on the terminal, the same for every study.
//!
//! ```text
//! Page        what a study adds: title, metrics, printed cells, sections, figures       page.rs
//! Summary     means over runs, one row a configuration                                  summary.rs
//!   compare   paired differences, how soon as good as the ensemble                      compare.rs
//!   distinct  rows that would look alike are told apart by what differs                 distinct.rs
//! Grid        tables of text, for the terminal and for Markdown alike                   grid.rs, tables.rs, printed.rs
//! Figure      SVG                                                                       figure/
//! write       all of it into a folder                                                   markdown.rs, write.rs
//! ```

mod compare;
mod distinct;
mod error;
pub mod figure;
mod grid;
pub(crate) mod html;
mod losses;
mod markdown;
mod page;
mod printed;
mod summary;
mod tables;
mod write;

pub use crate::terminal::Grid;
pub use compare::{Convergence, Versus};
pub(crate) use distinct::of_settings;
pub use error::ReportError;
pub use figure::Figure;
pub use grid::{dash, number, with_error};
pub use losses::losses;
pub use markdown::markdown;
pub(crate) use page::density;
pub use page::{Beside, Detail, Page, RecordOf};
pub use printed::{Anchor, Cells, PaperCell, paper_cells};
pub use summary::{Cost, KernelMean, Row, Summary, summarise};
pub(crate) use tables::{beside_baselines, beside_literature, cost};
pub use tables::{grid, results, tables};
pub(crate) use write::environment;
pub use write::write;
