//! Cutting rows into training, validation and test parts: seeded, shuffled, stratified for classes.

mod error;
mod holdout;
mod protocol;
mod rows;
mod stream;

pub use error::SplitError;
pub use holdout::{Limits, holdout, limited};
pub use protocol::{Protocol, VALIDATION_FRACTION, split};
pub use rows::FoldRows;
pub use stream::stream;
