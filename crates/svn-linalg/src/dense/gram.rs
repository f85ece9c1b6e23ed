//! One triangle of `α A Aᵀ`.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::traits::RealField;
use faer::{Accum, Par};
use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::large::{view, view_mut};
use super::{Real, SMALL, multiply};

/// Rows of a band of a small result.
const BAND: usize = 32;

/// The lower triangle of `C ← α A Aᵀ`, diagonal included; what is above is undefined.
pub(super) fn lower<T: Real + RealField>(
    alpha: T,
    a: ArrayView2<'_, T>,
    mut c: ArrayViewMut2<'_, T>,
) {
    let (n, k) = a.dim();
    if n.saturating_mul(n).saturating_mul(k) > SMALL {
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let (c, rows, t) = (view_mut(&mut c), view(&a), a.t());
        let columns = view(&t);
        matmul(
            c,
            lower,
            Accum::Replace,
            rows,
            whole,
            columns,
            whole,
            alpha,
            Par::Seq,
        );
        return;
    }
    for start in (0..n).step_by(BAND) {
        let end = n.min(start + BAND);
        let (rows, columns) = (a.slice(s![start..end, ..]), a.slice(s![..end, ..]));
        let band = c.slice_mut(s![start..end, ..end]);
        multiply(alpha, rows, columns.reversed_axes(), T::zero(), band);
    }
}
