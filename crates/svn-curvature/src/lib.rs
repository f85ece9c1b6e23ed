//! Per-sample Jacobians of a network on libtorch, and from them its curvature.
#![deny(missing_docs)]

mod affine;
pub mod convert;
mod error;
mod layer;
mod layout;
mod linearization;
mod network;
mod tape;

pub use error::CurvatureError;
pub use layer::{Activation, Conv2d, Layer, Pool2d};
pub use layout::ParameterLayout;
pub use linearization::Linearization;
pub use network::Sequential;

/// Result of this crate's fallible calls.
pub type Result<T> = std::result::Result<T, CurvatureError>;
