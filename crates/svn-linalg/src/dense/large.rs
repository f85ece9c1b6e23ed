//! Products of large matrices: the kernel for small ones on blocks that fit the caches.
//!
//! ```text
//! C[i, j] ← α Σ_p A[i, p] B[p, j] + β C[i, j]        i: rows of a block, p: depth, j: the columns of a tile
//! ```
//!
//! `B` is copied strip by strip, a strip having the columns of a tile of the kernel, and blocks of `A` row by row where `B` is
//! wide. Of a triangle, only the strips that have a part in it are computed.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

use super::lanes::Lanes;
use super::{Real, kernel};
use crate::parallel;

/// Depth of a block: the part of a copied strip of `B` that stays in the first cache.
const DEPTH: usize = 192;

/// Rows of a block of `A`, which stays in the second cache.
const ROWS: usize = 96;

/// Columns of `B` that are copied at a time: few copies of `A`, and those of `B` stay near.
const GROUP: usize = 480;

/// Columns of `B` from which on copies of `A` cost less than reading it where it lies, from as many pages as it has rows or columns.
const WIDE: usize = 96;

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
    let strip = kernel::strip_columns::<T>();
    let depth = DEPTH.min(k);
    let copies_rows = n >= WIDE;
    let rows_room = if copies_rows { depth * ROWS.min(m) } else { 0 };
    let mut with_copies = |copies: &mut [T]| {
        let (block, group) = copies.split_at_mut(rows_room);
        for (p, first) in blocks(k, DEPTH).flat_map(|p| blocks(n, GROUP).map(move |j| (p, j))) {
            let deep = p..k.min(p + DEPTH);
            let beta = if p == 0 { beta } else { T::one() };
            let last = n.min(first + GROUP);
            // A strip's columns, and where its copy is.
            let strips = || {
                (first..last).step_by(strip).map(|j| {
                    let columns = j..last.min(j + strip);
                    let copy = (j - first) * deep.len()..(columns.end - first) * deep.len();
                    (columns, copy)
                })
            };
            pack(b.slice(s![deep.clone(), first..last]), strip, group);
            for i in blocks(m, ROWS) {
                let all = i..m.min(i + ROWS);
                let wanted = |columns| {
                    let rows = part.rows(columns);
                    all.start.max(rows.start.saturating_sub(start))
                        ..all.end.min(rows.end.saturating_sub(start))
                };
                if wanted(first..last).is_empty() {
                    continue;
                }
                let mut a = a.slice(s![all.clone(), deep.clone()]);
                if copies_rows {
                    pack(a, deep.len(), block);
                    a = matrix(a.dim(), &block[..a.len()]);
                }
                for (columns, copy) in strips() {
                    let rows = wanted(columns.clone());
                    if rows.is_empty() {
                        continue;
                    }
                    let b = matrix((deep.len(), columns.len()), &group[copy]);
                    let a = a.slice(s![rows.start - i..rows.end - i, ..]);
                    kernel::multiply(alpha, a, b, beta, c.slice_mut(s![rows, columns]));
                }
            }
        }
    };
    (T::ROUTINES.with_copy)(rows_room + depth * GROUP.min(n), &mut with_copies);
}

/// A copy as a matrix.
fn matrix<T>(shape: (usize, usize), copy: &[T]) -> ArrayView2<'_, T> {
    match ArrayView2::from_shape(shape, copy) {
        Ok(matrix) => matrix,
        Err(_) => unreachable!("a copy is as large as its matrix"),
    }
}

/// Where blocks of `size` begin.
fn blocks(length: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..length).step_by(size)
}

/// Copies a matrix strip of columns by strip, each row by row.
fn pack<T: Real>(from: ArrayView2<'_, T>, strip: usize, to: &mut [T]) {
    /// Columns read beside each other where they are contiguous: the numbers of a cache line.
    const SIDE: usize = 8;
    let (rows, width) = from.dim();
    if rows > 1 && from.strides()[0] == 1 && width > 1 {
        for first in blocks(width, strip) {
            let to = &mut to[first * rows..];
            let width = strip.min(width - first);
            for start in blocks(width, SIDE) {
                let side = SIDE.min(width - start);
                let mut columns: [&[T]; SIDE] = [&[]; SIDE];
                for (j, column) in columns.iter_mut().enumerate().take(side) {
                    let Some(contiguous) = from.slice_move(s![.., first + start + j]).to_slice()
                    else {
                        unreachable!("columns are contiguous");
                    };
                    *column = contiguous;
                }
                let rows = to.chunks_exact_mut(width).take(rows).enumerate();
                if side == SIDE {
                    for (i, row) in rows {
                        for (to, column) in row[start..start + SIDE].iter_mut().zip(&columns) {
                            *to = column[i];
                        }
                    }
                } else {
                    for (i, row) in rows {
                        for (to, column) in row[start..].iter_mut().zip(&columns[..side]) {
                            *to = column[i];
                        }
                    }
                }
            }
        }
        return;
    }
    // Whole rows, so that memory is read in order.
    for (i, row) in from.rows().into_iter().enumerate() {
        let row = row.as_standard_layout();
        let parts = row.as_slice().unwrap_or_default().chunks(strip);
        for (part, first) in parts.zip(blocks(width, strip)) {
            let at = first * rows + i * part.len();
            let to = &mut to[at..at + part.len()];
            match <[T; SIDE]>::try_from(part) {
                Ok(part) => to.copy_from_slice(&part),
                Err(_) => to.copy_from_slice(part),
            }
        }
    }
}
