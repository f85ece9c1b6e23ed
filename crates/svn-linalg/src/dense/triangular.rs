//! Cholesky factors and triangular systems, by `faer`; one thread.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::traits::RealField;
use faer::{Par, Spec};
use ndarray::{ArrayView2, ArrayViewMut2};

use super::large::{view, view_mut};

/// Which of the two triangular systems of a Cholesky factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Triangle {
    /// `L y = b`.
    Lower,
    /// `Lᵀ y = b`.
    Transposed,
}

/// Overwrites the lower triangle of a square matrix with `L`, `A = L Lᵀ`; the strict upper one is undefined
/// afterwards. Columns that are contiguous are fastest.
///
/// `Err` is the index of the first pivot that is not positive; the columns before it are those of `L`.
pub(super) fn cholesky<T: RealField + Copy>(mut a: ArrayViewMut2<'_, T>) -> Result<(), usize> {
    let scratch = cholesky_in_place_scratch::<T>(a.nrows(), Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (a, plain) = (view_mut(&mut a), Default::default());
    match cholesky_in_place(a, plain, Par::Seq, stack, Spec::default()) {
        Ok(_) => Ok(()),
        Err(LltError::NonPositivePivot { index }) => Err(index),
    }
}

/// Overwrites `b` (`n × k`) with `L⁻¹ b` or `L⁻ᵀ b`; of `l` the lower triangle is read.
pub(super) fn solve<T: RealField + Copy>(
    l: ArrayView2<'_, T>,
    triangle: Triangle,
    mut b: ArrayViewMut2<'_, T>,
) {
    assert_eq!(
        l.dim(),
        (b.nrows(), b.nrows()),
        "a triangle of as many rows as the right-hand side"
    );
    let b = view_mut(&mut b);
    match triangle {
        Triangle::Lower => solve_lower_triangular_in_place(view(&l), b, Par::Seq),
        Triangle::Transposed => solve_upper_triangular_in_place(view(&l.t()), b, Par::Seq),
    }
}
