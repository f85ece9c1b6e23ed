//! Per-sample Jacobians of small networks on libtorch, for all particles of an ensemble at once, and from them curvature.
//!
//! ```text
//! H_p = Σ_i J_iᵀ S_i S_iᵀ J_i        J_i = ∂f(φ_p, x_i)/∂φ_p,  S_i S_iᵀ = Fisher information of the outputs
//! ```
//!
//! | symbol | shape | |
//! |---|---|---|
//! | `φ` | `N × d` | parameters of `N` particles, [`Sequential::layout`] names the columns |
//! | `x` | `b × …` | samples, the same for all particles |
//! | `f` | `N × b × c` | outputs, [`Linearization::outputs`] |
//! | `S` | `N × b × c × k` | root of the loss's curvature, [`Loss::root`] and its stochastic and empirical kin |
//! | `S_iᵀ J_i` | `N × bk × d` | [`Linearization::rows`] |
//!
//! The way is always the same: [`Sequential::linearize`] a batch, take a root from a [`Loss`], [`Accumulate`] it in one of
//! the families [`Full`], [`Diag`], [`Kfac`], [`Ekfac`], finish, and get `svn-linalg` operators by particle from the
//! [`ParticleCurvature`].
#![doc = "\n"]
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod affine;
pub mod convert;
mod error;
mod family;
mod layer;
mod layer_ggn;
mod layer_text;
mod layered_rows;
mod linearization;
mod loss;
mod moments;
mod network;
mod shape;
mod subject;
mod tape;

pub use error::CurvatureError;
pub use family::{
    Accumulate, AccumulatedSums, Diag, DiagAccumulator, Ekfac, EkfacAccumulator, Full,
    FullAccumulator, Homogeneous, HomogeneousFactor, Kfac, KfacAccumulator, ParticleCurvature,
};
pub use layer::{Activation, Conv2d, Layer, Pool2d};
pub use layer_ggn::LayerGgn;
pub use layered_rows::{LayeredRows, LayeredRowsParts};
pub use linearization::Linearization;
pub use loss::Loss;
pub use network::Sequential;
pub use svn_linalg::ParameterLayout;

/// Result of this crate's fallible calls.
pub type Result<T> = std::result::Result<T, CurvatureError>;
