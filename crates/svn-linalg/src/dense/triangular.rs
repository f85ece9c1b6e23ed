//! Cholesky factors and triangular systems, by halves: all but narrow strips is products.
//!
//! ```text
//! [A₁₁ ·  ]   [L₁₁    ]           L₁₁, L₂₁ by half of the columns,  A₂₂ − L₂₁ L₂₁ᵀ = L₂₂ L₂₂ᵀ
//! [A₂₁ A₂₂] = [L₂₁ L₂₂] Lᵀ
//!
//! L y = b:   y₁ = L₁₁⁻¹ b₁,  y₂ = L₂₂⁻¹ (b₂ − L₂₁ y₁)           Lᵀ y = b the other way round
//! ```

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};

use super::{Real, gram, multiply, vectorized};

/// Columns of a strip that is factored column by column.
const STRIP: usize = 12;

/// Unknowns that are found one after the other.
const UNKNOWNS: usize = 12;

/// Overwrites the lower triangle of a square `a` by `L`, `A = L Lᵀ`; the strict upper triangle, which is not read, is
/// undefined afterwards. Any strides; contiguous columns are fastest.
///
/// # Errors
/// The index of the first pivot that is not positive; the columns before it are those of `L`.
///
/// # Panics
/// If `a` is not square.
pub fn cholesky_inplace<T: Real>(mut a: ArrayViewMut2<'_, T>) -> Result<(), usize> {
    assert!(a.is_square(), "a square matrix");
    if a.nrows() <= 1 || a.strides()[0] == 1 {
        return columns(a);
    }
    let mut copy = lower_columns(a.view());
    let found = columns(copy.view_mut());
    a.assign(&copy);
    found
}

/// Of the first columns of a matrix, as many as `a` has; columns contiguous.
fn columns<T: Real>(mut a: ArrayViewMut2<'_, T>) -> Result<(), usize> {
    let width = a.ncols();
    if width <= STRIP {
        return strip(a);
    }
    let half = (width / 2).next_multiple_of(STRIP).min(width - 1);
    let (mut left, right) = a.view_mut().split_at(Axis(1), half);
    columns(left.view_mut())?;
    let (_, mut right) = right.split_at(Axis(0), half);
    let below = left.slice(s![half.., ..]);
    let (square, rest) = right.view_mut().split_at(Axis(0), width - half);
    let rows = below.slice(s![..width - half, ..]);
    gram::lower(-T::one(), rows, T::one(), square);
    multiply(
        -T::one(),
        below.slice(s![width - half.., ..]),
        rows.t(),
        T::one(),
        rest,
    );
    columns(right).map_err(|pivot| half + pivot)
}

/// Column by column, each less its products with those before.
fn strip<T: Real>(mut a: ArrayViewMut2<'_, T>) -> Result<(), usize> {
    for j in 0..a.ncols() {
        let (before, mut rest) = a.view_mut().split_at(Axis(1), j);
        let mut column = rest.column_mut(0);
        let mut column = column.slice_mut(s![j..]);
        let Some(column) = column.as_slice_mut() else {
            unreachable!("columns are contiguous");
        };
        for other in before.columns() {
            let Some(other) = other.to_slice() else {
                unreachable!("columns are contiguous");
            };
            let factor = other[j];
            vectorized(
                #[inline(always)]
                || {
                    for (x, y) in column.iter_mut().zip(&other[j..]) {
                        *x = *x - factor * *y;
                    }
                },
            );
        }
        let pivot = column[0];
        // NaN is not greater than anything.
        if pivot.partial_cmp(&T::zero()) != Some(std::cmp::Ordering::Greater) {
            return Err(j);
        }
        let root = pivot.sqrt();
        vectorized(
            #[inline(always)]
            || column.iter_mut().for_each(|x| *x = *x / root),
        );
    }
    Ok(())
}

/// A matrix with contiguous columns: the lower triangle of `a`, zeros above.
pub fn lower_columns<T: Real>(a: ArrayView2<'_, T>) -> Array2<T> {
    let mut out = Array2::zeros(a.dim().f());
    crate::input::for_each_below_diagonal(a.nrows(), |i, j| out[[i, j]] = a[[i, j]]);
    out.diag_mut().assign(&a.diag());
    out
}

/// `b ← L⁻¹ b`, any strides; of `l` the lower triangle is read.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve_lower<T: Real>(l: ArrayView2<'_, T>, b: ArrayViewMut2<'_, T>) {
    assert_eq!(l.dim(), (b.nrows(), b.nrows()), "a row of L for each of b");
    in_rows(b, |b| forward(l, b));
}

/// `b ← L⁻ᵀ b`, any strides; of `l` the lower triangle is read.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve_lower_transposed<T: Real>(l: ArrayView2<'_, T>, b: ArrayViewMut2<'_, T>) {
    assert_eq!(l.dim(), (b.nrows(), b.nrows()), "a row of L for each of b");
    in_rows(b, |b| backward(l, b));
}

/// Lets `f` work on a matrix whose columns are adjacent.
fn in_rows<T: Real>(mut b: ArrayViewMut2<'_, T>, f: impl FnOnce(ArrayViewMut2<'_, T>)) {
    if b.ncols() <= 1 && b.strides()[0] == 1 || b.strides()[1] == 1 {
        return f(b);
    }
    let mut copy = b.as_standard_layout().into_owned();
    f(copy.view_mut());
    b.assign(&copy);
}

fn forward<T: Real>(l: ArrayView2<'_, T>, mut b: ArrayViewMut2<'_, T>) {
    let n = b.nrows();
    if n <= UNKNOWNS {
        for i in 0..n {
            let (known, mut rest) = b.view_mut().split_at(Axis(0), i);
            let products = known.rows().into_iter().zip(l.slice(s![i, ..i]));
            eliminate(
                rest.row_mut(0),
                products.map(|(row, l)| (row, *l)),
                l[[i, i]],
            );
        }
        return;
    }
    let half = n / 2;
    let (mut first, mut second) = b.split_at(Axis(0), half);
    forward(l.slice(s![..half, ..half]), first.view_mut());
    let below = l.slice(s![half.., ..half]);
    multiply(-T::one(), below, first.view(), T::one(), second.view_mut());
    forward(l.slice(s![half.., half..]), second);
}

fn backward<T: Real>(l: ArrayView2<'_, T>, mut b: ArrayViewMut2<'_, T>) {
    let n = b.nrows();
    if n <= UNKNOWNS {
        for i in (0..n).rev() {
            let (mut rest, known) = b.view_mut().split_at(Axis(0), i + 1);
            let products = known.rows().into_iter().zip(l.slice(s![i + 1.., i]));
            eliminate(
                rest.row_mut(i),
                products.map(|(row, l)| (row, *l)),
                l[[i, i]],
            );
        }
        return;
    }
    let half = n / 2;
    let (mut first, mut second) = b.split_at(Axis(0), half);
    backward(l.slice(s![half.., half..]), second.view_mut());
    let below = l.slice(s![half.., ..half]);
    multiply(
        -T::one(),
        below.t(),
        second.view(),
        T::one(),
        first.view_mut(),
    );
    backward(l.slice(s![..half, ..half]), first);
}

/// `x ← (x − Σ l row) / pivot`.
#[inline]
fn eliminate<'a, T: Real>(
    mut x: ndarray::ArrayViewMut1<'_, T>,
    products: impl Iterator<Item = (ndarray::ArrayView1<'a, T>, T)>,
    pivot: T,
) {
    if x.len() == 1 {
        let sum = products.fold(x[0], |sum, (row, l)| sum - l * row[0]);
        x[0] = sum / pivot;
        return;
    }
    let Some(x) = x.as_slice_mut() else {
        unreachable!("columns are adjacent");
    };
    for (row, l) in products {
        let Some(row) = row.to_slice() else {
            unreachable!("columns are adjacent");
        };
        vectorized(
            #[inline(always)]
            || {
                for (x, y) in x.iter_mut().zip(row) {
                    *x = *x - l * *y;
                }
            },
        );
    }
    vectorized(
        #[inline(always)]
        || x.iter_mut().for_each(|x| *x = *x / pivot),
    );
}
