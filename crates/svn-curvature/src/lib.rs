//! Per-sample Jacobians of a network on libtorch, and from them its curvature.
#![deny(missing_docs)]

mod affine;
pub mod convert;
mod error;
mod family;
mod layer;
mod layer_text;
mod layered_rows;
mod linearization;
mod loss;
mod moments;
mod network;
mod subject;
mod tape;

pub use error::CurvatureError;
pub use family::{
    Accumulate, Diag, DiagAccumulator, Ekfac, EkfacAccumulator, Full, FullAccumulator, Homogeneous, HomogeneousFactor, Kfac,
    KfacAccumulator, ParticleCurvature,
};
pub use layer::{Activation, Conv2d, Layer, Pool2d};
pub use layered_rows::LayeredRows;
pub use linearization::Linearization;
pub use loss::Loss;
pub use network::Sequential;
pub use svn_linalg::ParameterLayout;

/// Result of this crate's fallible calls.
pub type Result<T> = std::result::Result<T, CurvatureError>;
