//! From a file on disk to arrays: bytes → lines → records → table of cells → features and a target.
//!
//! [`Schema`] is for tables of any kind; [`load`] for the benchmark's, which are numbers alone, to a checked [`Dataset`].
//!
//! Nothing is repaired in silence: a cell that is no number is an error that names file, line and column,
//! unless the caller chose a [`CellPolicy`], and what a policy did is counted in the [`LoadReport`].

mod audit;
mod bytes;
mod dataset;
mod error;
mod idx;
pub mod images;
mod locate;
mod manifest;
pub mod mimic;
mod notation;
mod numeric;
mod schema;
mod shown;
mod table;

pub use audit::{LEAK_CORRELATION, correlation};
pub use bytes::{open, read};
pub use dataset::{Dataset, LoadOptions, LoadReport, load};
pub use error::DataError;
pub(crate) use error::near;
pub use idx::{find_idx, read_idx};
pub use locate::{SearchPath, load_named};
pub use manifest::{Entry, Manifest, TargetStats};
pub use notation::{Mark, Notation};
pub use numeric::CellPolicy;
pub use schema::{
    Ask, DateOrder, Finding, FindingKind, Learned, Matched, Missing, Outcome, Schema, SchemaError,
    TargetCell, Targets, UsedColumn,
};
pub use svn_models::{LabelEncoding, Task};
pub use table::{Delimiter, HeaderMode, Reading, Row, Table, TableReader};
