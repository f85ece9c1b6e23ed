//! The posterior of a network's weights given data, as a target for the particle methods.
//!
//! ```text
//! log π(φ) = −(n/b) Σ_{i ∈ batch} ℓ(f_φ(x_i), y_i) − (δ/2) |φ|² + const
//! s_p      = (n/b) Σ_i J_iᵀ (−∂ℓ/∂f) − δ φ_p
//! H_p      = w Ĵ_pᵀ Ĵ_p + δ I,   rows of Ĵ_p = √(n/b) R_iᵀ J_i of the last L batches,   w = noise weight / L
//! ```
//!
//! Score and curvature come from the same forward pass, the same noise, the same prior and the same `n/b`.

mod batches;
mod curvature;
mod noise;
mod ring;
mod target;

pub use batches::Batches;
pub use noise::NoiseEstimate;
pub use ring::RowRing;
pub use target::{Posterior, PosteriorSettings};
