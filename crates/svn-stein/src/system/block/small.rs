//! `(I + T)⁻¹` of one system, in the precision that its size and condition number call for.
//!
//! | rows of `T` | condition number | factor |
//! |---|---|---|
//! | from 256 on | below 1e5 | in single precision, refined |
//! | else | | in double precision |

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use svn_linalg::{FactorError, MixedCholesky, MixedMemory, Woodbury};

/// Rows from which on a factor in single precision pays.
const LARGE: usize = 256;

/// Largest condition number at which its refinement takes a few passes.
const CONDITION: f64 = 1e5;

/// `(I + T)⁻¹`, factored.
pub(super) enum Small {
    Double(Woodbury),
    Mixed(MixedCholesky),
}

impl Small {
    /// Without rows.
    pub(super) fn none() -> Self {
        Self::Double(Woodbury::none())
    }

    /// `fill` writes the upper triangle of a `T` of `size` rows. The condition number of `I + T` is at most `1 + trace T`, so
    /// that a `trace` that leaves little out tells it; `memory` of another one is used where it fits.
    pub(super) fn new(
        size: usize,
        trace: f64,
        memory: Option<MixedMemory>,
        fill: impl Fn(ArrayViewMut2<'_, f64>),
    ) -> Result<Self, FactorError> {
        if size >= LARGE && trace < CONDITION {
            let kept = memory.filter(|kept| kept.dim() == size);
            let mut memory = kept.unwrap_or_else(|| MixedMemory::new(size));
            let mut matrix = memory.matrix_mut();
            fill(matrix.view_mut());
            matrix.diag_mut().mapv_inplace(|x| x + 1.0);
            if let Ok(factor) = MixedCholesky::factorize(memory) {
                return Ok(Self::Mixed(factor));
            }
        }
        Ok(Self::Double(Woodbury::filled(size, fill)?))
    }

    /// `z (I + T)⁻¹` for the rows of `z`.
    pub(super) fn solve_rows(&self, z: ArrayView2<'_, f64>) -> Result<Array2<f64>, FactorError> {
        match self {
            Self::Double(small) => Ok(small.solve_rows(z)),
            Self::Mixed(factor) => factor.solve_rows(z),
        }
    }

    /// Rows of `T`.
    pub(super) fn dim(&self) -> usize {
        match self {
            Self::Double(small) => small.dim(),
            Self::Mixed(factor) => factor.dim(),
        }
    }

    /// The memory of a large factor.
    pub(super) fn into_memory(self) -> Option<MixedMemory> {
        match self {
            Self::Double(_) => None,
            Self::Mixed(factor) => Some(factor.into_memory()),
        }
    }
}
