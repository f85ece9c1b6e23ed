//! Whether the matrix routines of this binary compute right, and how fast they are here.

mod residual;
mod speed;

pub use residual::{Check, self_check};
pub use speed::{Speed, speeds};
