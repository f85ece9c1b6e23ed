//! Systems of a square matrix of any signs: elimination with partial pivoting, by halves of the columns.
//!
//! ```text
//! P A = L U,   L with unit diagonal and |L_ij| ≤ 1
//! ```

use ndarray::{Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, s};

use super::{multiply, vectorized};

/// Columns that are eliminated one by one.
const STRIP: usize = 8;

/// `P A = L U`.
#[derive(Debug, Clone)]
pub(crate) struct Pivoted {
    /// `L` below the diagonal, `U` on and above it.
    packed: Array2<f64>,
    /// The row that each row changed places with, in this order.
    swaps: Vec<usize>,
}

impl Pivoted {
    /// Factors a square matrix.
    ///
    /// `Err` is the index of a column without a pivot other than zero.
    pub(crate) fn new(a: ArrayView2<'_, f64>) -> Result<Self, usize> {
        let mut packed = a.as_standard_layout().into_owned();
        let mut swaps = Vec::with_capacity(a.nrows());
        eliminate(packed.view_mut(), 0..a.nrows(), &mut swaps)?;
        Ok(Self { packed, swaps })
    }

    /// `b ← A⁻¹ b`.
    pub(crate) fn solve(&self, mut b: ArrayViewMut1<'_, f64>) {
        for (i, &j) in self.swaps.iter().enumerate() {
            b.swap(i, j);
        }
        let n = b.len();
        for i in 0..n {
            let row = self.packed.slice(s![i, ..i]);
            b[i] -= super::dot(row, b.slice(s![..i]));
        }
        for i in (0..n).rev() {
            let row = self.packed.slice(s![i, i + 1..]);
            b[i] = (b[i] - super::dot(row, b.slice(s![i + 1..]))) / self.packed[[i, i]];
        }
    }
}

/// Eliminates some columns of `a` in all rows from the first of them on; rows are exchanged in all columns.
fn eliminate(
    mut a: ArrayViewMut2<'_, f64>,
    columns: std::ops::Range<usize>,
    swaps: &mut Vec<usize>,
) -> Result<(), usize> {
    let (start, end) = (columns.start, columns.end);
    if columns.len() <= STRIP {
        for j in columns {
            let candidates = a.slice(s![j.., j]);
            let larger = |best: (usize, f64), (i, x): (usize, &f64)| match x.abs() > best.1 {
                true => (i, x.abs()),
                false => best,
            };
            let (offset, size) = candidates.iter().enumerate().fold((0, 0.0), larger);
            if size == 0.0 {
                return Err(j);
            }
            swap_rows(&mut a, j, j + offset);
            swaps.push(j + offset);
            let (upper, mut lower) = a.view_mut().split_at(Axis(0), j + 1);
            let (pivot, row) = (upper[[j, j]], upper.slice(s![j, j + 1..end]));
            for mut other in lower.rows_mut() {
                let factor = other[j] / pivot;
                other[j] = factor;
                other
                    .slice_mut(s![j + 1..end])
                    .zip_mut_with(&row, |x, y| *x -= factor * y);
            }
        }
        return Ok(());
    }
    let half = start + columns.len() / 2;
    eliminate(a.view_mut(), start..half, swaps)?;
    // The rows of U beside, then what is below less their products.
    let (upper, lower) = a.view_mut().split_at(Axis(0), half);
    let (left, mut right) = upper.split_at(Axis(1), half);
    for i in start..half {
        let (known, mut rest) = right.view_mut().split_at(Axis(0), i);
        let mut row = rest.slice_mut(s![0, ..end - half]);
        for (p, known) in (start..i).zip(known.rows().into_iter().skip(start)) {
            let factor = left[[i, p]];
            let known = known.slice_move(s![..end - half]);
            if let (Some(row), Some(known)) = (row.as_slice_mut(), known.to_slice()) {
                vectorized(
                    #[inline(always)]
                    || {
                        for (x, y) in row.iter_mut().zip(known) {
                            *x -= factor * y;
                        }
                    },
                );
            }
        }
    }
    let (below, mut rest) = lower.split_at(Axis(1), half);
    multiply(
        -1.0,
        below.slice(s![.., start..]),
        right.slice(s![start.., ..end - half]),
        1.0,
        rest.slice_mut(s![.., ..end - half]),
    );
    eliminate(a, half..end, swaps)
}

fn swap_rows(a: &mut ArrayViewMut2<'_, f64>, i: usize, j: usize) {
    if i == j {
        return;
    }
    let (mut upper, mut lower) = a.view_mut().split_at(Axis(0), i.max(j));
    upper
        .row_mut(i.min(j))
        .iter_mut()
        .zip(lower.row_mut(0))
        .for_each(|(x, y)| std::mem::swap(x, y));
}
