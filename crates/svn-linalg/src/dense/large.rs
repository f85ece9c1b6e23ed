//! Products of large matrices: the kernel for small ones on blocks that fit the caches.
//!
//! ```text
//! C[i, j] ← α Σ_p A[i, p] B[p, j] + β C[i, j]        i: rows of a block, p: depth, j: the columns of a tile
//! ```
//!
//! `B` is copied, tile by tile, so that a tile's rows lie side by side; `A` is read where it lies. Of a triangle, only the
//! tiles that have a part in it are computed.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

use super::lanes::Lanes;
use super::{Real, kernel};
use crate::parallel;

/// Depth of a block: the part of a copied tile of `B` that stays in the first cache.
const DEPTH: usize = 192;

/// Rows of a block of `A`, which stays in the second cache.
const ROWS: usize = 96;

/// Columns of a tile, those of three registers of AVX-512 in either precision.
const COLUMNS: usize = 48;

/// Tiles that are copied at a time, so that the copies stay in the second cache as well.
const TILES: usize = 3;

/// Rows of a product that another thread may take: so many that copying `B` for them alone is little of the work.
const TASK: usize = 4 * ROWS;

/// Multiplications that take much longer than handing tasks to other threads.
const SPLIT: usize = 1 << 24;

/// Which elements of `C` are wanted; the others are undefined afterwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Part {
    Whole,
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
}

impl Part {
    /// The same of the transpose.
    pub(super) fn transposed(self) -> Self {
        match self {
            Self::Whole => Self::Whole,
            Self::Lower => Self::Upper,
            Self::Upper => Self::Lower,
        }
    }

    /// The rows with a wanted element in some columns.
    fn rows(self, columns: Range<usize>) -> Range<usize> {
        match self {
            Self::Whole => 0..usize::MAX,
            Self::Lower => columns.start..usize::MAX,
            Self::Upper => 0..columns.end,
        }
    }
}

/// `C ← α A B + β C`, columns of `C` adjacent, on all cores where that pays.
///
/// # Panics
/// If the shapes do not fit.
pub(super) fn multiply<T: Real + Lanes>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut c: ArrayViewMut2<'_, T>,
    part: Part,
) {
    let work = a.len().saturating_mul(b.ncols());
    if work < SPLIT || c.nrows() <= TASK {
        return some_rows(alpha, a, b, beta, c, (part, 0));
    }
    let tasks: Vec<_> = c.axis_chunks_iter_mut(Axis(0), TASK).collect();
    parallel::for_each(tasks, work, |i, c| {
        let rows = i * TASK..i * TASK + c.nrows();
        let part = (part, rows.start);
        some_rows(alpha, a.slice(s![rows, ..]), b, beta, c, part);
    });
}

/// Rows of a product, from the given one on.
fn some_rows<T: Real + Lanes>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut c: ArrayViewMut2<'_, T>,
    (part, start): (Part, usize),
) {
    let ((m, k), n) = (a.dim(), b.ncols());
    let group = COLUMNS * TILES;
    let room = DEPTH.min(k) * group.min(n);
    let mut with_copy = |copy: &mut [T]| {
        for (p, first) in blocks(k, DEPTH).flat_map(|p| blocks(n, group).map(move |j| (p, j))) {
            let deep = p..k.min(p + DEPTH);
            let beta = if p == 0 { beta } else { T::one() };
            let last = n.min(first + group);
            // A tile's first column, and where its copy is.
            let tiles = || {
                (first..last).step_by(COLUMNS).map(|j| {
                    let columns = j..last.min(j + COLUMNS);
                    let copy = (j - first) * deep.len()..(columns.end - first) * deep.len();
                    (columns, copy)
                })
            };
            for (columns, tile) in tiles() {
                pack(b.slice(s![deep.clone(), columns]), &mut copy[tile]);
            }
            for i in blocks(m, ROWS) {
                for (columns, tile) in tiles() {
                    let wanted = part.rows(columns.clone());
                    let rows = i.max(wanted.start.saturating_sub(start))
                        ..m.min(i + ROWS).min(wanted.end.saturating_sub(start));
                    if rows.is_empty() {
                        continue;
                    }
                    let Ok(b) = ArrayView2::from_shape((deep.len(), columns.len()), &copy[tile])
                    else {
                        unreachable!("a tile is `depth × width`");
                    };
                    let a = a.slice(s![rows.clone(), deep.clone()]);
                    let c = c.slice_mut(s![rows, columns]);
                    kernel::multiply(alpha, a, b, beta, c);
                }
            }
        }
    };
    (T::ROUTINES.with_copy)(room, &mut with_copy);
}

/// Where blocks of `size` begin.
fn blocks(length: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..length).step_by(size)
}

/// Copies a matrix row by row.
fn pack<T: Real>(b: ArrayView2<'_, T>, to: &mut [T]) {
    /// Columns read beside each other where they are contiguous: the numbers of a cache line.
    const SIDE: usize = 8;
    let (rows, width) = b.dim();
    if width == 0 {
        return;
    }
    if rows > 1 && b.strides()[0] == 1 && width > 1 {
        for first in (0..width).step_by(SIDE) {
            let last = width.min(first + SIDE);
            let mut columns: [&[T]; SIDE] = [&[]; SIDE];
            for (column, j) in columns.iter_mut().zip(first..last) {
                let Some(contiguous) = b.slice_move(s![.., j]).to_slice() else {
                    unreachable!("columns are contiguous");
                };
                *column = contiguous;
            }
            let columns = &columns[..last - first];
            if let Ok(columns) = <&[&[T]; SIDE]>::try_from(columns) {
                for (i, row) in to.chunks_exact_mut(width).enumerate() {
                    for (to, column) in row[first..last].iter_mut().zip(columns) {
                        *to = column[i];
                    }
                }
            } else {
                for (i, row) in to.chunks_exact_mut(width).enumerate() {
                    for (to, column) in row[first..last].iter_mut().zip(columns) {
                        *to = column[i];
                    }
                }
            }
        }
        return;
    }
    for (from, to) in b.rows().into_iter().zip(to.chunks_exact_mut(width)) {
        match from.as_slice() {
            Some(from) => to.copy_from_slice(from),
            None => to.iter_mut().zip(from).for_each(|(to, from)| *to = *from),
        }
    }
}
