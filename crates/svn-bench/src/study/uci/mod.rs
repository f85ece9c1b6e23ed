//! The UCI benchmark: perceptrons on tables.

mod design;
mod sets;

pub use design::UciDesign;
pub use sets::{ProtocolName, TUNED, Uci, UciOptions};
