//! Per-sample Jacobians of small networks, for all particles of an ensemble at once, and from them curvature.
//!
//! ```text
//! H_p = Σ_i J_iᵀ S_i S_iᵀ J_i        J_i = ∂f(φ_p, x_i)/∂φ_p,  S_i S_iᵀ = Fisher information of the outputs
//! ```
//!
//! | symbol | shape | |
//! |---|---|---|
//! | `φ` | `N × d` | parameters of `N` particles, [`Sequential::layout`] names the columns |
//! | `x` | `b × …` | samples, the same for all particles |
//! | `f` | `N × b × c` | outputs, [`Linearized::outputs`] |
//! | `S` | `N × b × c × k` | root of the loss's curvature, [`Loss::root`] and its stochastic kin |
//! | `S_iᵀ J_i` | `N × bk × d` | [`Linearized::rows_into`] |
//!
//! Start with [`Sequential`], a network; [`Backend`], what evaluates it; and [`LayeredRows`], its exact curvature.
//! The way is always the same: let a [`Backend`] take in samples, [`Samples::linearize`] a batch, take a root from a
//! [`Loss`], and give both to what keeps the curvature: a store of recent batches ([`BatchSlots`]: [`LayeredRows`],
//! [`WrittenRows`], [`LayerGgn`]; exact) or a sum of moments ([`Accumulate`]: [`DiagAccumulator`], [`KfacAccumulator`],
//! [`EkfacAccumulator`]). Out come [`ParticleOperators`](svn_linalg::ParticleOperators), the contract of `svn-linalg`.
#![doc = "\n"]
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![warn(clippy::unwrap_used, clippy::print_stdout)]

mod backend;
mod block;
mod error;
mod family;
mod layer;
mod layer_ggn;
mod layer_text;
mod layered_rows;
mod linearized;
mod loss;
mod native;
mod network;
mod shape;
mod slots;
mod subject;
#[cfg(feature = "torch")]
mod torch;
mod written_rows;

pub use backend::{Backend, BackendKind, Device, Precision, Samples, set_torch_threads};
pub use error::CurvatureError;
pub use family::{
    Accumulate, AccumulatedSums, Diag, DiagAccumulator, EkfacAccumulator, Homogeneous,
    HomogeneousFactor, KfacAccumulator, KroneckerCurvature,
};
pub use layer::{Activation, Conv2d, Layer, Pool2d};
pub use layer_ggn::LayerGgn;
pub use layered_rows::LayeredRows;
pub use linearized::{LayerBases, LayerMoments, LayerVisitor, Linearized};
pub use loss::Loss;
pub use network::Sequential;
pub use slots::BatchSlots;
pub use subject::Subject;
pub use svn_linalg::ParameterLayout;
pub use written_rows::WrittenRows;

/// Result of this crate's fallible calls.
pub type Result<T> = std::result::Result<T, CurvatureError>;
