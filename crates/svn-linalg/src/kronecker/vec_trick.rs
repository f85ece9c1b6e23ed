//! `out = (A ⊗ B) x` for `k` columns as two matrix products.
//!
//! The columns are laid out one after the other (for one column: as they are), so that `B` is a single product over
//! all of them and `A` one product a column. Which comes first is decided by the flops: `mq(n + p)` for `A`,
//! `np(q + m)` for `B`.

use std::borrow::Cow;

use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use crate::dense;
use crate::operator::assert_shapes;

/// `out = (left ⊗ right) x`.
///
/// # Shapes
/// `left`: m × n, `right`: p × q, `x`: nq × k, `out`: mp × k.
pub(super) fn kronecker_into(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    x: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) {
    let ((m, n), (p, q)) = (left.dim(), right.dim());
    assert_shapes((m * p, n * q), &x, &out);
    let k = x.ncols();
    let columns = one_after_the_other(x);
    let left_first = m * q * (n + p) <= n * p * (q + m);
    let mut inner = vec![0.0; k * if left_first { m * q } else { n * p }];
    if left_first {
        multiply_columns(left, &columns, &mut inner, k, q);
    } else {
        multiply_rows(right, &columns, &mut inner, k * n);
    }
    // One column of a standard array is written in place, more go through a transposition.
    let mut buffer = Vec::new();
    let in_place = k == 1 && out.is_standard_layout();
    let result = match out.as_slice_mut() {
        Some(slice) if in_place => slice,
        _ => {
            buffer.resize(k * m * p, 0.0);
            &mut buffer
        }
    };
    if left_first {
        multiply_rows(right, &inner, result, k * m);
    } else {
        multiply_columns(left, &inner, result, k, p);
    }
    if !in_place {
        side_by_side(&buffer, out);
    }
}

/// Rows transposed at a time, so that reads and writes stay in cache.
const CHUNK: usize = 256;

/// The columns of `x`, each contiguous; borrowed where they already are.
fn one_after_the_other<'a>(x: ArrayView2<'a, f64>) -> Cow<'a, [f64]> {
    if let Some(slice) = x.reversed_axes().to_slice() {
        return Cow::Borrowed(slice);
    }
    let rows = x.nrows();
    let mut columns = vec![0.0; x.len()];
    for (chunk, x) in x.axis_chunks_iter(Axis(0), CHUNK).enumerate() {
        for (c, x) in x.columns().into_iter().enumerate() {
            let start = c * rows + chunk * CHUNK;
            columns[start..start + x.len()]
                .iter_mut()
                .zip(x)
                .for_each(|(to, from)| *to = *from);
        }
    }
    Cow::Owned(columns)
}

/// The inverse: columns one after the other back into `out`.
fn side_by_side(columns: &[f64], mut out: ArrayViewMut2<'_, f64>) {
    let rows = out.nrows();
    for (chunk, mut out) in out.axis_chunks_iter_mut(Axis(0), CHUNK).enumerate() {
        for (c, mut out) in out.columns_mut().into_iter().enumerate() {
            let start = c * rows + chunk * CHUNK;
            out.iter_mut()
                .zip(&columns[start..])
                .for_each(|(to, from)| *to = *from);
        }
    }
}

/// `X_c ↦ A X_c` for each of `k` matrices `X_c` with `columns` columns.
fn multiply_columns(a: ArrayView2<'_, f64>, x: &[f64], out: &mut [f64], k: usize, columns: usize) {
    let (rows, inner) = a.dim();
    for c in 0..k {
        let x = &x[c * inner * columns..(c + 1) * inner * columns];
        let out = &mut out[c * rows * columns..(c + 1) * rows * columns];
        let (x, out) = (view(x, inner, columns), view_mut(out, rows, columns));
        dense::multiply(1.0, a, x, 0.0, out);
    }
}

/// `X ↦ X Bᵀ` for a matrix of `rows` rows, those of all columns of the operand.
fn multiply_rows(b: ArrayView2<'_, f64>, x: &[f64], out: &mut [f64], rows: usize) {
    let (columns, inner) = b.dim();
    let (x, out) = (view(x, rows, inner), view_mut(out, rows, columns));
    dense::multiply(1.0, x, b.t(), 0.0, out);
}

fn view(slice: &[f64], rows: usize, columns: usize) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape((rows, columns), slice).expect("the callers cut slices of this length")
}

fn view_mut(slice: &mut [f64], rows: usize, columns: usize) -> ArrayViewMut2<'_, f64> {
    ArrayViewMut2::from_shape((rows, columns), slice)
        .expect("the callers cut slices of this length")
}
