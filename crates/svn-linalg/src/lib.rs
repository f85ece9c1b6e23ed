#![doc = include_str!("../README.md")]
#![deny(missing_docs, unsafe_code)]
#![warn(clippy::unwrap_used, clippy::print_stdout)]

pub mod dense;
mod factor;
mod gram;
mod input;
mod kronecker;
mod layout;
mod operator;
pub mod parallel;
mod particles;
mod solve;
pub mod threads;

pub use factor::{
    BlockFactor, Cholesky, CholeskyParams, DampedEigen, DiagonalFactor, Factor, FactorError,
    FactorizeDamped, LowRankFactor, MixedCholesky, MixedMemory, ScaledFactor, SymmetricEigen,
    SymmetricIndefinite, Woodbury,
};
pub use gram::{gram, gram_into};
pub use input::InputError;
pub use kronecker::{Kronecker, KroneckerEigen, KroneckerFactor};
pub use layout::{LayoutError, ParameterBlock, ParameterLayout};
pub use operator::{
    BlockDiagonal, Damped, Dense, Diagonal, LinearOperator, LowRankPlusShift, Rows, Scaled,
    SelfAdjoint, Symmetric,
};
pub use particles::{
    DenseMatrices, DiagonalMatrices, KeptFactors, LowRank, LowRankView, MatrixFault,
    ParticleOperators, ParticleRows, Shifted, multiply_each_into,
};
pub use solve::{
    Breakdown, CgInfo, CgParams, CgSolution, CgStatus, Definiteness, MinresInfo, MinresParams,
    MinresSolution, MinresStatus, NotConverged, SolveError, cg, minres,
};
