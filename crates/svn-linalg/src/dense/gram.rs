//! One triangle of a symmetric product.

use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::large::Part;
use super::{Real, is_small, multiply, multiply_large};

/// Rows of a band, which is a product of its own: what it computes above the diagonal is in vain.
const BAND: usize = 48;

/// The lower triangle of `C ← α A Aᵀ + β C`, diagonal included, any strides; what is above is undefined.
///
/// # Panics
/// If `C` is not square with as many rows as `A`.
pub(super) fn lower<T: Real>(alpha: T, a: ArrayView2<'_, T>, beta: T, mut c: ArrayViewMut2<'_, T>) {
    let (n, k) = a.dim();
    if !is_small(n, k, n) {
        return multiply_large(alpha, a, a.reversed_axes(), beta, c, Part::Lower);
    }
    for start in (0..n).step_by(BAND) {
        let end = n.min(start + BAND);
        let (rows, columns) = (a.slice(s![start..end, ..]), a.slice(s![..end, ..]));
        let band = c.slice_mut(s![start..end, ..end]);
        multiply(alpha, rows, columns.reversed_axes(), beta, band);
    }
}
