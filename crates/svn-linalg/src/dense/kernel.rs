//! Products of small matrices straight from where they lie: nothing is packed, and a transposed `A` costs nothing.
//!
//! ```text
//! C ← α A B + β C        B and C with adjacent columns, A with any strides
//! C ← α A Bᵀ + β C       A and B with adjacent columns, C with any strides
//! ```
//!
//! A tile of `C` stays in registers while the inner dimension runs once. In the first form a step multiplies up to three
//! registers of a row of `B` by up to eight numbers of a column of `A`; in the second it adds to the partial sums of up to
//! sixteen inner products. The last columns go through a masked register, so that nothing past a row is touched.
#![allow(
    unsafe_code,
    reason = "the inner loops read and write through pointers into views; `Product::new` proves them"
)]

use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2};
use pulp::{Simd, WithSimd};

use super::lanes::{Lanes, dispatch};

/// A matrix by its first element and its strides, those of a live view.
#[derive(Clone, Copy)]
struct Elements<P> {
    first: P,
    rows: isize,
    columns: isize,
}

impl<T> Elements<*const T> {
    #[inline(always)]
    fn of(a: &ArrayView2<'_, T>) -> Self {
        Self {
            first: a.as_ptr(),
            rows: a.strides()[0],
            columns: a.strides()[1],
        }
    }

    /// Address of an element, not necessarily of one that exists.
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> *const T {
        self.first
            .wrapping_offset((i as isize).wrapping_mul(self.rows))
            .wrapping_offset((j as isize).wrapping_mul(self.columns))
    }
}

impl<T> Elements<*mut T> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> *mut T {
        self.first
            .wrapping_offset((i as isize).wrapping_mul(self.rows))
            .wrapping_offset((j as isize).wrapping_mul(self.columns))
    }
}

/// One product: shapes agree, and all elements named by them are those of live views, `c` being borrowed mutably.
struct Product<'a, T> {
    /// `m`, `n`, `k`.
    size: (usize, usize, usize),
    alpha: T,
    a: Elements<*const T>,
    b: Elements<*const T>,
    beta: T,
    c: Elements<*mut T>,
    views: PhantomData<&'a mut T>,
}

impl<'a, T: Lanes> Product<'a, T> {
    /// `b` is `k × n`.
    #[inline(always)]
    fn new(
        alpha: T,
        a: ArrayView2<'a, T>,
        b: ArrayView2<'a, T>,
        beta: T,
        mut c: ArrayViewMut2<'a, T>,
    ) -> Self {
        let (m, k) = a.dim();
        let n = b.ncols();
        assert_eq!(
            (k, m, n),
            (b.nrows(), c.nrows(), c.ncols()),
            "A B and C: shapes"
        );
        let strides = (c.strides()[0], c.strides()[1]);
        Self {
            size: (m, n, k),
            alpha,
            a: Elements::of(&a),
            b: Elements::of(&b),
            beta,
            c: Elements {
                first: c.as_mut_ptr(),
                rows: strides.0,
                columns: strides.1,
            },
            views: PhantomData,
        }
    }
}

/// `C ← α A B + β C`.
///
/// # Panics
/// If shapes do not fit, or columns of `B` or `C` are not adjacent.
pub(super) fn multiply<T: Lanes>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    c: ArrayViewMut2<'_, T>,
) {
    assert!(
        c.ncols() <= 1 || (b.strides()[1] == 1 && c.strides()[1] == 1),
        "columns of B and C: adjacent"
    );
    dispatch(ByColumns(Product::new(alpha, a, b, beta, c)));
}

/// `C ← α A Bᵀ + β C`.
///
/// # Panics
/// If shapes do not fit, or columns of `A` or `B` are not adjacent.
pub(super) fn multiply_transposed<T: Lanes>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    c: ArrayViewMut2<'_, T>,
) {
    assert!(
        a.ncols() <= 1 || (a.strides()[1] == 1 && b.strides()[1] == 1),
        "columns of A and B: adjacent"
    );
    dispatch(ByInnerProducts(Product::new(
        alpha,
        a,
        b.reversed_axes(),
        beta,
        c,
    )));
}

/// Whether a tile of eight rows and three registers leaves some for `A` and `B`.
const fn many_registers<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32
}

/// Registers of a row of `C` in a tile.
#[inline(always)]
fn width<S: Simd>() -> usize {
    if many_registers::<S>() { 3 } else { 2 }
}

/// Columns of `C` in a tile on this processor.
pub(super) fn strip_columns<T: Lanes>() -> usize {
    struct Strip<T>(PhantomData<T>);

    impl<T: Lanes> WithSimd for Strip<T> {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            width::<S>() * T::lanes::<S>()
        }
    }

    dispatch(Strip::<T>(PhantomData))
}

/// `C ← α A B + β C`, columns of `B` and `C` adjacent.
struct ByColumns<'a, T>(Product<'a, T>);

impl<T: Lanes> WithSimd for ByColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (m, n, _) = self.0.size;
        if m == 1 {
            return self.single_row(s);
        }
        let lanes = T::lanes::<S>();
        let registers = n.div_ceil(lanes);
        let strips = registers.div_ceil(width::<S>());
        let mut first = 0;
        for strip in 0..strips {
            // Strips of about the same width: seven registers are 3 + 2 + 2.
            let width = (registers - first).div_ceil(strips - strip);
            let column = first * lanes;
            first += width;
            let part = if first == registers && n % lanes != 0 {
                n % lanes
            } else {
                0
            };
            // SAFETY: the strip begins at `column` and ends before column `n`, in the last register after `part` lanes
            // if that is not 0.
            unsafe {
                match (width, part) {
                    (1, 0) => self.strip::<S, 1, false>(s, column, lanes),
                    (1, part) => self.strip::<S, 1, true>(s, column, part),
                    // Constants, so that what does not occur is not compiled.
                    (3, 0) if const { many_registers::<S>() } => {
                        self.strip::<S, 3, false>(s, column, lanes);
                    }
                    (3, part) if const { many_registers::<S>() } => {
                        self.strip::<S, 3, true>(s, column, part);
                    }
                    (_, 0) => self.strip::<S, 2, false>(s, column, lanes),
                    (_, part) => self.strip::<S, 2, true>(s, column, part),
                }
            }
        }
    }
}

/// Rows of `B` that a vector is multiplied by at once: as many streams as a processor reads ahead.
const STREAMS: usize = 16;

impl<T: Lanes> ByColumns<'_, T> {
    /// `c ← α a B + β c` of one row: a few rows of `B` at a time in their whole length, so that memory is read in order.
    #[inline(always)]
    fn single_row<S: Simd>(&self, s: S) {
        let (_, n, k) = self.0.size;
        let lanes = T::lanes::<S>();
        let mut inner = 0..STREAMS.min(k);
        let mut beta = self.0.beta;
        loop {
            let mut column = 0;
            // SAFETY: `column` and as many registers as the tile has, of the last the lanes of the mask, are below `n`.
            unsafe {
                let mask = T::mask(s, n % lanes);
                while column + 8 * lanes <= n {
                    self.tile::<S, 1, 8, false>(s, 0, column, mask, inner.clone(), beta);
                    column += 8 * lanes;
                }
                if column + 4 * lanes <= n {
                    self.tile::<S, 1, 4, false>(s, 0, column, mask, inner.clone(), beta);
                    column += 4 * lanes;
                }
                while column + lanes <= n {
                    self.tile::<S, 1, 1, false>(s, 0, column, mask, inner.clone(), beta);
                    column += lanes;
                }
                if column < n {
                    self.tile::<S, 1, 1, true>(s, 0, column, mask, inner.clone(), beta);
                }
            }
            if inner.end == k {
                return;
            }
            inner = inner.end..(inner.end + STREAMS).min(k);
            beta = T::one();
        }
    }

    /// `N` registers of columns from `column` on, in all rows.
    ///
    /// # Safety
    /// They exist; of the last register `part` lanes do if `PART`.
    #[inline(always)]
    unsafe fn strip<S: Simd, const N: usize, const PART: bool>(
        &self,
        s: S,
        column: usize,
        part: usize,
    ) {
        let (m, _, k) = self.0.size;
        let beta = self.0.beta;
        let mask = T::mask(s, part);
        let mut row = 0;
        // SAFETY: the caller's for the columns; `row` and as many rows as the tile has are below `m`.
        unsafe {
            // As many sums as leave registers for what is multiplied.
            if const { many_registers::<S>() || N == 1 } {
                while row + 8 <= m {
                    self.tile::<S, 8, N, PART>(s, row, column, mask, 0..k, beta);
                    row += 8;
                }
            } else {
                while row + 6 <= m {
                    self.tile::<S, 6, N, PART>(s, row, column, mask, 0..k, beta);
                    row += 6;
                }
            }
            while row + 4 <= m {
                self.tile::<S, 4, N, PART>(s, row, column, mask, 0..k, beta);
                row += 4;
            }
            if row + 2 <= m {
                self.tile::<S, 2, N, PART>(s, row, column, mask, 0..k, beta);
                row += 2;
            }
            if row < m {
                self.tile::<S, 1, N, PART>(s, row, column, mask, 0..k, beta);
            }
        }
    }

    /// `M` rows by `N` registers, over a part of the inner dimension.
    ///
    /// # Safety
    /// They exist, of the last register those of the mask if `PART`.
    #[inline(always)]
    unsafe fn tile<S: Simd, const M: usize, const N: usize, const PART: bool>(
        &self,
        s: S,
        row: usize,
        column: usize,
        mask: T::Mask<S>,
        inner: Range<usize>,
        beta: T,
    ) {
        let product = &self.0;
        let lanes = T::lanes::<S>();
        let load = |j: usize, from: *const T| {
            // SAFETY: a register of this tile.
            unsafe {
                if PART && j + 1 == N {
                    T::load_part(s, mask, from)
                } else {
                    T::load(s, from)
                }
            }
        };
        let mut sums = [[T::splat(s, T::zero()); N]; M];
        for p in inner {
            let from = product.b.at(p, column);
            let b: [_; N] = std::array::from_fn(|j| load(j, from.wrapping_add(j * lanes)));
            for (i, sums) in sums.iter_mut().enumerate() {
                // SAFETY: an element of `A`.
                let a = T::splat(s, unsafe { *product.a.at(row + i, p) });
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = T::mul_add(s, a, b, *sum);
                }
            }
        }
        let add = beta != T::zero();
        let (alpha, beta) = (T::splat(s, product.alpha), T::splat(s, beta));
        for (i, sums) in sums.into_iter().enumerate() {
            for (j, sum) in sums.into_iter().enumerate() {
                let to = product.c.at(row + i, column + j * lanes);
                let mut value = T::times(s, alpha, sum);
                if add {
                    value = T::mul_add(s, beta, load(j, to), value);
                }
                // SAFETY: a register of this tile.
                unsafe {
                    if PART && j + 1 == N {
                        T::store_part(s, mask, to, value);
                    } else {
                        T::store(s, to, value);
                    }
                }
            }
        }
    }
}

/// `C ← α A B + β C`, rows of `A` and columns of `B` contiguous.
struct ByInnerProducts<'a, T>(Product<'a, T>);

impl<T: Lanes> WithSimd for ByInnerProducts<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (m, n, _) = self.0.size;
        let mut row = 0;
        // SAFETY: `row` and as many rows as the band has are below `m`.
        unsafe {
            while n == 1 && row + 8 <= m {
                self.tile::<S, 8, 1>(s, row, 0);
                row += 8;
            }
            while row + 4 <= m {
                self.band::<S, 4>(s, row);
                row += 4;
            }
            if row + 2 <= m {
                self.band::<S, 2>(s, row);
                row += 2;
            }
            if row < m {
                self.band::<S, 1>(s, row);
            }
        }
    }
}

impl<T: Lanes> ByInnerProducts<'_, T> {
    /// `M` rows, all columns.
    ///
    /// # Safety
    /// The rows exist.
    #[inline(always)]
    unsafe fn band<S: Simd, const M: usize>(&self, s: S, row: usize) {
        let (_, n, _) = self.0.size;
        let mut column = 0;
        // SAFETY: the caller's for the rows; `column` and as many columns as the tile has are below `n`.
        unsafe {
            if const { many_registers::<S>() } {
                while column + 4 <= n {
                    self.tile::<S, M, 4>(s, row, column);
                    column += 4;
                }
            }
            while column + 2 <= n {
                self.tile::<S, M, 2>(s, row, column);
                column += 2;
            }
            if column < n {
                self.tile::<S, M, 1>(s, row, column);
            }
        }
    }

    /// `M × N` inner products.
    ///
    /// # Safety
    /// The rows and columns exist.
    #[inline(always)]
    unsafe fn tile<S: Simd, const M: usize, const N: usize>(
        &self,
        s: S,
        row: usize,
        column: usize,
    ) {
        let product = &self.0;
        let (_, _, k) = product.size;
        let lanes = T::lanes::<S>();
        let a: [_; M] = std::array::from_fn(|i| product.a.at(row + i, 0));
        let b: [_; N] = std::array::from_fn(|j| product.b.at(0, column + j));
        let mut sums = [[T::splat(s, T::zero()); N]; M];
        let whole = k - k % lanes;
        let mut p = 0;
        while p < whole {
            // SAFETY: `lanes` elements from `p` on of each of these rows and columns, which are contiguous.
            let b = b.map(|b| unsafe { T::load(s, b.wrapping_add(p)) });
            for (sums, a) in sums.iter_mut().zip(a) {
                // SAFETY: as above.
                let a = unsafe { T::load(s, a.wrapping_add(p)) };
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = T::mul_add(s, a, b, *sum);
                }
            }
            p += lanes;
        }
        if whole < k {
            let mask = T::mask(s, k - whole);
            // SAFETY: the last `k − whole` elements.
            let b = b.map(|b| unsafe { T::load_part(s, mask, b.wrapping_add(whole)) });
            for (sums, a) in sums.iter_mut().zip(a) {
                // SAFETY: as above.
                let a = unsafe { T::load_part(s, mask, a.wrapping_add(whole)) };
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = T::mul_add(s, a, b, *sum);
                }
            }
        }
        for (i, sums) in sums.into_iter().enumerate() {
            for (j, sum) in sums.into_iter().enumerate() {
                let value = product.alpha * T::sum(s, sum);
                let to = product.c.at(row + i, column + j);
                // SAFETY: an element of `C`.
                unsafe {
                    *to = if product.beta == T::zero() {
                        value
                    } else {
                        product.beta * *to + value
                    };
                }
            }
        }
    }
}
