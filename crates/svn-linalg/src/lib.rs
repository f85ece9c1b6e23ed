#![doc = include_str!("../README.md")]
#![deny(missing_docs, unsafe_code)]

mod blas;
mod factor;
mod gram;
mod input;
mod kronecker;
mod layout;
mod operator;
mod solve;
pub mod threads;

pub use factor::{
    BlockFactor, Cholesky, CholeskyParams, DampedEigen, DiagonalFactor, Factor, FactorError,
    FactorizeDamped, InverseOperator, ScaledFactor, SymmetricEigen, Woodbury, factorize_dense,
};
pub use gram::{gram, gram_into};
pub use input::InputError;
pub use kronecker::{Kronecker, KroneckerEigen, KroneckerFactor, SymmetricKronecker};
pub use layout::{LayoutError, ParameterBlock, ParameterLayout};
pub use operator::{
    BlockDiagonal, Damped, Dense, Diagonal, LinearOperator, LowRankPlusDiagonal, Scaled,
    SelfAdjoint, Sum, Symmetric,
};
pub use solve::{
    Breakdown, CgColumns, CgInfo, CgParams, CgSolution, CgStatus, Definiteness, MinresColumns,
    MinresInfo, MinresParams, MinresSolution, MinresStatus, NotConverged, SolveError, cg,
    cg_columns, minres, minres_columns,
};
