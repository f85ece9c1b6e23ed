//! Direct damped solves: a factor of `A + λ I`, and from it solves, a square root of the inverse, a log-determinant.
//!
//! ```text
//! solve          x = (A + λ I)⁻¹ b
//! inverse_sqrt   w = W z   with   W Wᵀ = (A + λ I)⁻¹        (z ~ N(0, I)  ⇒  w ~ N(0, (A + λ I)⁻¹))
//! log_det        log det(A + λ I)
//! ```
//!
//! | operator | factor | cost of factor / solve |
//! |---|---|---|
//! | [`Symmetric`](crate::Symmetric) | [`Cholesky`] | n³/3 / 2n² |
//! | large and well-conditioned, for solves | [`MixedCholesky`] | n³/3 in f32 / 6n² |
//! | any, with all dampings from one factor | [`SymmetricEigen`] → [`DampedEigen`] | ~9n³ / 4n² |
//! | [`Diagonal`](crate::Diagonal) | [`DiagonalFactor`] | n / n |
//! | [`LowRankPlusShift`](crate::LowRankPlusShift) | [`LowRankFactor`] by [`Woodbury`] | r²d + r³/3 / 4rd |
//! | [`KroneckerEigen`](crate::KroneckerEigen) | [`KroneckerFactor`](crate::KroneckerFactor) | ~9(m³ + n³) / 4mn(m + n) |
//! | [`Scaled`](crate::Scaled), [`Damped`](crate::Damped), [`BlockDiagonal`](crate::BlockDiagonal) | of their parts | |
//!
//! The damping belongs to the factor, never to the operator: factorizing twice does not add it twice.

mod cholesky;
mod composite;
mod diagonal;
mod eigen;
mod indefinite;
mod low_rank;
mod mixed;
mod pointer;
mod woodbury;

pub use cholesky::{Cholesky, CholeskyParams};
pub use composite::{BlockFactor, ScaledFactor};
pub use diagonal::DiagonalFactor;
pub use eigen::{DampedEigen, SymmetricEigen};
pub use indefinite::SymmetricIndefinite;
pub use low_rank::LowRankFactor;
pub use mixed::{MixedCholesky, MixedMemory};
pub use woodbury::Woodbury;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};

use crate::dense;
use crate::input::{InputError, check_shape};
use crate::operator::SelfAdjoint;

/// A factored positive definite matrix `A`.
pub trait Factor: Send + Sync {
    /// Dimension of `A`.
    fn dim(&self) -> usize;

    /// `out = A⁻¹ b`.
    ///
    /// # Shapes
    /// `b` and `out`: `dim × k`.
    ///
    /// # Panics
    /// If the shapes are others; [`solve`](Self::solve) checks them.
    fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>);

    /// `out = W z` with `W Wᵀ = A⁻¹`. Whether `W` is symmetric or triangular is the factor's choice.
    ///
    /// # Shapes
    /// `z` and `out`: `dim × k`.
    ///
    /// # Panics
    /// If the shapes are others; [`inverse_sqrt`](Self::inverse_sqrt) checks them.
    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>);

    /// `log det A`.
    fn log_det(&self) -> f64;

    /// `xᵀ A⁻¹ x` of each of the `k` rows of `x`.
    ///
    /// # Shapes
    /// `x`: `k × dim`.
    fn inverse_quadratic(&self, x: ArrayView2<'_, f64>) -> Array1<f64> {
        let mut solved = Array2::zeros((x.ncols(), x.nrows()));
        self.solve_into(x.t(), solved.view_mut());
        let pairs = x.rows().into_iter().zip(solved.columns());
        pairs.map(|(x, s)| dense::dot(x, s)).collect()
    }

    /// `A⁻¹ b` for `k` right-hand sides.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `b` does not have `dim` rows.
    fn solve(&self, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, InputError> {
        check_shape("right-hand side", b.dim(), (self.dim(), b.ncols()))?;
        let mut out = Array2::zeros(b.raw_dim());
        self.solve_into(b, out.view_mut());
        Ok(out)
    }

    /// `A⁻¹ b` for one right-hand side.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `b` does not have `dim` elements.
    fn solve_vec(&self, b: ArrayView1<'_, f64>) -> Result<Array1<f64>, InputError> {
        Ok(self.solve(b.insert_axis(Axis(1)))?.remove_axis(Axis(1)))
    }

    /// `W z` for `k` columns, `W Wᵀ = A⁻¹`.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `z` does not have `dim` rows.
    fn inverse_sqrt(&self, z: ArrayView2<'_, f64>) -> Result<Array2<f64>, InputError> {
        check_shape("z", z.dim(), (self.dim(), z.ncols()))?;
        let mut out = Array2::zeros(z.raw_dim());
        self.inverse_sqrt_into(z, out.view_mut());
        Ok(out)
    }
}

/// An operator that can be factored directly.
pub trait FactorizeDamped: SelfAdjoint {
    /// What holds the factor.
    type Factor: Factor;

    /// Factor `A + damping · I`.
    ///
    /// # Errors
    /// [`FactorError`]: negative or non-finite damping, or `A + damping · I` not positive definite.
    fn factorize_damped(&self, damping: f64) -> Result<Self::Factor, FactorError>;
}

/// Why a matrix could not be factored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorError {
    /// The input was rejected before any decomposition.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A pivot is not positive, or so small that rounding alone explains it.
    #[error(
        "matrix of dimension {dim} is not positive definite at pivot {pivot} (with jitter {jitter:e} on the diagonal); \
         raise the damping"
    )]
    NotPositiveDefinite {
        /// Index of the first such pivot.
        pivot: usize,
        /// Dimension of the matrix.
        dim: usize,
        /// The largest jitter tried.
        jitter: f64,
    },
    /// A diagonal entry or eigenvalue plus the damping is not positive.
    #[error(
        "eigenvalue {index} of {dim} is {value:e}, with damping {damping:e} not positive; raise the damping"
    )]
    NotPositive {
        /// Index of the smallest eigenvalue, or of the entry.
        index: usize,
        /// Dimension of the matrix.
        dim: usize,
        /// Its value without the damping.
        value: f64,
        /// The damping.
        damping: f64,
    },
    /// A block of a composite operator could not be factored.
    #[error("block {index}: {source}")]
    Block {
        /// Index of the block.
        index: usize,
        /// Why.
        source: Box<FactorError>,
    },
    /// The eigenvalues of a matrix did not converge.
    #[error("the eigenvalues of a matrix of dimension {dim} did not converge")]
    NotConverged {
        /// Dimension of the matrix.
        dim: usize,
    },
    /// A pivot of a matrix of any signs is zero.
    #[error("matrix of dimension {dim} is singular at pivot {pivot}")]
    Singular {
        /// Index of the pivot.
        pivot: usize,
        /// Dimension of the matrix.
        dim: usize,
    },
}
