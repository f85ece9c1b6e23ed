//! Kronecker products by the vec trick, in the factors and in their eigenbasis, never formed.
//!
//! With row-major `vec` (the layout of a weight matrix `W`, outputs × inputs, in memory)
//!
//! ```text
//! (A ⊗ B) vec(X) = vec(A X Bᵀ)                A: m × n    B: p × q    X: n × q    A ⊗ B: mp × nq
//! A ⊗ B = (U ⊗ V) diag(a_i b_j) (U ⊗ V)ᵀ      A = U diag(a) Uᵀ,  B = V diag(b) Vᵀ
//! ```
//!
//! so a product costs two small matrix products, and the damped inverse, which is *not* a Kronecker product, four:
//! `(A ⊗ B + λ I)⁻¹ = (U ⊗ V) diag(1 / (a_i b_j + λ)) (U ⊗ V)ᵀ`, exactly.
//!
//! # References
//! Van Loan 2000 for the vec trick; George et al. 2018 (arXiv 1806.03884) for a spectrum of its own (EKFAC).

mod eigen;
mod product;
mod vec_trick;

pub use eigen::{KroneckerEigen, KroneckerFactor};
pub use product::Kronecker;
