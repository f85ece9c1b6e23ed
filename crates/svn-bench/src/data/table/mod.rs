//! Text files as rows of cells: encoding, line ends, separator, header and what stands around the table are found out.
//!
//! ```text
//! bytes → Lines (UTF-8, any line end) → Records (quotes, comments) → TableReader (header, width) → Row, or Table
//! ```
//!
//! A line of a message is the line that an editor shows. Nothing is left out without a note.

mod dialect;
mod layout;
mod lines;
#[cfg(test)]
mod properties;
mod reader;
mod records;
mod row;
mod whole;

pub use dialect::Delimiter;
pub use reader::{HeaderMode, Reading, TableReader};
pub use row::Row;
pub use whole::Table;
