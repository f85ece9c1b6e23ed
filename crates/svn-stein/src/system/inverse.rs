//! What a factorised matrix is to the solvers.

use ndarray::{ArrayView2, ArrayViewMut2};
use svn_linalg::MixedMemory;

use super::Scratch;
use crate::error::SteinError;

/// A matrix that was factorised when it was made: an application costs solves alone.
pub(super) trait Inverse {
    /// `out = B⁻¹ rhs`, `N × d`.
    ///
    /// # Errors
    /// [`SteinError::Singular`] if a solve fails.
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        scratch: &mut Scratch,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError>;

    /// The memory of large factors, for those of the next step.
    fn into_memory(self: Box<Self>) -> Vec<MixedMemory> {
        Vec::new()
    }

    /// Size of the largest matrix factorised.
    fn size(&self) -> usize;
}
