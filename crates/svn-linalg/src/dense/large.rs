//! Products of large matrices: the kernel for small ones on blocks that fit the caches.
//!
//! ```text
//! C[i, j] ← α Σ_p A[i, p] B[p, j] + β C[i, j]        i: rows of a block, p: depth, j: the columns of a tile
//! ```
//!
//! `B` is copied, tile by tile, so that a tile's rows lie side by side; `A` is read where it lies.

use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::lanes::Lanes;
use super::{Real, kernel};

/// Depth of a block: the part of a copied tile of `B` that stays in the first cache.
const DEPTH: usize = 192;

/// Rows of a block of `A`, which stays in the second cache.
const ROWS: usize = 96;

/// Columns of a tile, those of three registers of AVX-512 in either precision.
const COLUMNS: usize = 48;

/// `C ← α A B + β C`, columns of `C` adjacent.
///
/// # Panics
/// If the shapes do not fit.
pub(super) fn multiply<T: Real + Lanes>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut c: ArrayViewMut2<'_, T>,
) {
    let ((m, k), n) = (a.dim(), b.ncols());
    let mut copy = vec![T::zero(); DEPTH.min(k) * n];
    for p in (0..k).step_by(DEPTH) {
        let deep = p..k.min(p + DEPTH);
        let beta = if p == 0 { beta } else { T::one() };
        let mut tiles = Vec::with_capacity(n.div_ceil(COLUMNS));
        let mut left = copy.as_mut_slice();
        for j in (0..n).step_by(COLUMNS) {
            let b = b.slice(s![deep.clone(), j..n.min(j + COLUMNS)]);
            let (tile, rest) = left.split_at_mut(b.len());
            left = rest;
            if let Ok(mut tile) = ArrayViewMut2::from_shape(b.dim(), &mut *tile) {
                tile.assign(&b);
            }
            if let Ok(tile) = ArrayView2::from_shape(b.dim(), &*tile) {
                tiles.push((j, tile));
            }
        }
        for i in (0..m).step_by(ROWS) {
            let rows = i..m.min(i + ROWS);
            let a = a.slice(s![rows.clone(), deep.clone()]);
            for (j, tile) in &tiles {
                let c = c.slice_mut(s![rows.clone(), *j..*j + tile.ncols()]);
                kernel::multiply(alpha, a, *tile, beta, c);
            }
        }
    }
}
