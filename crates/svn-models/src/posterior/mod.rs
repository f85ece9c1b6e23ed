//! The posterior of a network's weights given data, as a target for the particle methods.
//!
//! ```text
//! log π(φ) = −(n/b) Σ_{i ∈ batch} ℓ(f_φ(x_i), y_i) − (δ/2) |φ|² + const
//! s_p      = (n/b) Σ_i J_iᵀ (−∂ℓ/∂f) − δ φ_p
//! H_p      = w C_p + δ I,   C_p: curvature of the last batches, full, diagonal or Kronecker-factored,   w = noise weight
//! ```
//!
//! Score and curvature come from the same forward pass, the same noise, the same prior and the same `n/b`.

mod accumulated;
mod average;
mod batches;
mod collect;
mod context;
mod effective;
mod noise;
mod order;
mod ring;
mod saved;
mod settings;
mod target;

pub use batches::Batches;
pub use context::{Context, ContextSettings};
pub(crate) use effective::stationary_noise;
pub(crate) use noise::NoiseEstimate;
pub(crate) use saved::SavedPosterior;
pub use settings::{
    CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings, PosteriorSettings,
};
pub use target::Posterior;
