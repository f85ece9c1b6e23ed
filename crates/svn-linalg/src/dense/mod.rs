//! Dense matrices: the one place where the workspace multiplies, factors and decomposes.
//!
//! ```text
//! C ← α A B + β C        A: m × k,  B: k × n,  C: m × n        β = 0 overwrites C whatever it holds
//! ```
//!
//! Nothing here needs a system library. Very large products run on all cores, to the same bits. Vector instructions are chosen
//! when the program runs. Small products go through a kernel that reads matrices where they lie, large ones through the same
//! kernel block by block, and decompositions are products as far as they can be; what else was measured is in
//! `docs/experiments/dense.md`.

mod bound;
mod finite;
mod gram;
mod kernel;
mod lanes;
mod large;
mod pivoted;
mod symmetric;
mod triangular;
mod vector;

pub use finite::{all_finite, first_non_finite};
pub(crate) use pivoted::Pivoted;
pub(crate) use symmetric::eigen;
pub use triangular::{cholesky_inplace, lower_columns, solve_lower, solve_lower_transposed};

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, LinalgScalar};

use pulp::Arch;

use crate::input::for_each_below_diagonal;
use large::Part;

/// Numbers that matrices are made of: `f64` and `f32`.
pub trait Real:
    LinalgScalar
    + std::ops::Neg<Output = Self>
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + sealed::Sealed
{
}

impl Real for f64 {}
impl Real for f32 {}

mod sealed {
    #![allow(unreachable_pub, reason = "seals a public trait")]

    use ndarray::{ArrayView2, ArrayViewMut2};

    use std::cell::RefCell;

    use super::large::Part;
    use super::{bound, kernel, large, vector};

    /// `C ← α A B + β C`, or with `Bᵀ`.
    type Multiply<T> = fn(T, ArrayView2<'_, T>, ArrayView2<'_, T>, T, ArrayViewMut2<'_, T>);
    type MultiplyPart<T> =
        fn(T, ArrayView2<'_, T>, ArrayView2<'_, T>, T, ArrayViewMut2<'_, T>, Part);

    type WithCopy<T> = fn(usize, &mut dyn FnMut(&mut [T]));

    /// The routines for one precision, compiled once, in this crate.
    #[allow(missing_debug_implementations, reason = "private")]
    pub struct Routines<T> {
        pub(in super::super) small: Multiply<T>,
        pub(in super::super) small_transposed: Multiply<T>,
        pub(in super::super) large: MultiplyPart<T>,
        /// Lets a function work on so many numbers, which are the thread's and keep their memory from call to call.
        pub(in super::super) with_copy: WithCopy<T>,
        pub(in super::super) dot: fn(&[T], &[T]) -> T,
        pub(in super::super) registers: fn(usize) -> usize,
    }

    pub trait Sealed: Sized + 'static {
        const ROUTINES: &'static Routines<Self>;

        fn sqrt(self) -> Self;
    }

    macro_rules! routines {
        ($float:ty, $name:ident) => {
            static $name: Routines<$float> = Routines {
                small: kernel::multiply,
                small_transposed: kernel::multiply_transposed,
                large: large::multiply,
                with_copy: |room, f| {
                    thread_local! {
                        static COPY: RefCell<Vec<$float>> = const { RefCell::new(Vec::new()) };
                    }
                    COPY.with_borrow_mut(|copy| {
                        if copy.len() < room {
                            copy.resize(room, 0.0);
                        }
                        f(&mut copy[..room]);
                    });
                },
                dot: vector::dot,
                registers: bound::register_operations::<$float>,
            };

            impl Sealed for $float {
                const ROUTINES: &'static Routines<Self> = &$name;

                fn sqrt(self) -> Self {
                    <$float>::sqrt(self)
                }
            }
        };
    }

    routines!(f64, DOUBLE);
    routines!(f32, SINGLE);
}

/// Multiplications up to which a product goes through the small kernel in any case.
const SMALL: usize = 1 << 18;

/// Numbers of `A` and of `B` up to which both are read where they lie: they stay in the second cache.
const NEAR: usize = 1 << 14;

/// Inner dimension up to which they are: a strip of `B` stays in the first cache.
const SHALLOW: usize = 192;

/// Rows of `A` up to which a copy of `B` costs more than it saves.
const FEW: usize = 32;

/// `C ← α A B + β C`, any strides.
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply<T: Real>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut c: ArrayViewMut2<'_, T>,
) {
    let ((m, k), n) = (a.dim(), b.ncols());
    assert_eq!(
        (k, m, n),
        (b.nrows(), c.nrows(), c.ncols()),
        "inner dimension, rows and columns of A B and C"
    );
    if m == 0 || n == 0 {
        return;
    }
    if n > 1 && c.strides()[1] != 1 {
        if m == 1 || c.strides()[0] == 1 {
            let (a, b) = (b.reversed_axes(), a.reversed_axes());
            return multiply(alpha, a, b, beta, c.reversed_axes());
        }
        let mut adjacent = c.as_standard_layout().into_owned();
        multiply(alpha, a, b, beta, adjacent.view_mut());
        c.assign(&adjacent);
        return;
    }
    // The columns of `C` are adjacent from here on.
    if n == 1 {
        let (x, y) = (b.index_axis_move(Axis(1), 0), c.index_axis_move(Axis(1), 0));
        multiply_vector(alpha, a, x, beta, y);
    } else if m == 1 {
        let (x, y) = (a.index_axis_move(Axis(0), 0), c.index_axis_move(Axis(0), 0));
        multiply_vector(alpha, b.reversed_axes(), x, beta, y);
    } else if !is_small(m, k, n) {
        (T::ROUTINES.large)(alpha, a, b, beta, c, Part::Whole);
    } else if adjacent_columns(&b) {
        (T::ROUTINES.small)(alpha, a, b, beta, c);
    } else if adjacent_columns(&a) && adjacent_columns(&b.t()) {
        (T::ROUTINES.small_transposed)(alpha, a, b.reversed_axes(), beta, c);
    } else {
        (T::ROUTINES.small)(alpha, a, b.as_standard_layout().view(), beta, c);
    }
}

/// Whether a product of `m × k` by `k × n` is better without a copy of `B`.
fn is_small(m: usize, k: usize, n: usize) -> bool {
    m <= FEW
        || m.saturating_mul(n).saturating_mul(k) <= SMALL
        || (k <= SHALLOW && m * k <= NEAR && k * n <= NEAR)
}

/// A part of `C ← α A B + β C` by way of copies of `B`, any strides.
fn multiply_large<T: Real>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut c: ArrayViewMut2<'_, T>,
    part: Part,
) {
    assert_eq!(
        (a.ncols(), a.nrows(), b.ncols()),
        (b.nrows(), c.nrows(), c.ncols()),
        "inner dimension, rows and columns of A B and C"
    );
    if adjacent_columns(&c.view()) {
        (T::ROUTINES.large)(alpha, a, b, beta, c, part);
    } else if adjacent_columns(&c.view().t()) {
        let (a, b) = (b.reversed_axes(), a.reversed_axes());
        (T::ROUTINES.large)(alpha, a, b, beta, c.reversed_axes(), part.transposed());
    } else {
        let mut adjacent = c.as_standard_layout().into_owned();
        (T::ROUTINES.large)(alpha, a, b, beta, adjacent.view_mut(), part);
        c.assign(&adjacent);
    }
}

fn adjacent_columns<T>(a: &ArrayView2<'_, T>) -> bool {
    a.ncols() <= 1 || a.strides()[1] == 1
}

/// `A B`.
///
/// # Panics
/// If the shapes do not fit.
pub fn product<T: Real>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<T> {
    let mut c = Array2::zeros((a.nrows(), b.ncols()));
    multiply(T::one(), a, b, T::zero(), c.view_mut());
    c
}

/// `y ← α A x + β y`, any strides.
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply_vector<T: Real>(
    alpha: T,
    a: ArrayView2<'_, T>,
    x: ArrayView1<'_, T>,
    beta: T,
    mut y: ArrayViewMut1<'_, T>,
) {
    assert_eq!(
        a.dim(),
        (y.len(), x.len()),
        "rows and columns of A: the lengths of y and x"
    );
    if !adjacent_columns(&a) && !adjacent_columns(&a.t()) {
        return multiply_vector(alpha, a.as_standard_layout().view(), x, beta, y);
    }
    if adjacent_columns(&a) {
        let x = x.as_standard_layout();
        let (x, y) = (x.view().insert_axis(Axis(0)), y.insert_axis(Axis(1)));
        return (T::ROUTINES.small_transposed)(alpha, a, x, beta, y);
    }
    let (x, a) = (x.insert_axis(Axis(0)), a.reversed_axes());
    if y.len() <= 1 || y.strides()[0] == 1 {
        return (T::ROUTINES.small)(alpha, x, a, beta, y.insert_axis(Axis(0)));
    }
    let mut adjacent = y.as_standard_layout().into_owned();
    (T::ROUTINES.small)(alpha, x, a, beta, adjacent.view_mut().insert_axis(Axis(0)));
    y.assign(&adjacent);
}

/// `Σ x_i y_i`, any strides.
///
/// # Panics
/// If the lengths differ.
pub fn dot<T: Real>(x: ArrayView1<'_, T>, y: ArrayView1<'_, T>) -> T {
    (T::ROUTINES.dot)(
        x.as_standard_layout().as_slice().unwrap_or_default(),
        y.as_standard_layout().as_slice().unwrap_or_default(),
    )
}

/// `C ← α A Aᵀ`, any strides, at half the flops of a product; both triangles are the same bits.
///
/// # Panics
/// If `C` is not square with as many rows as `A`.
pub fn gram<T: Real>(alpha: T, a: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>) {
    let n = a.nrows();
    assert_eq!(c.dim(), (n, n), "A Aᵀ is square");
    gram::lower(alpha, a, T::zero(), c.view_mut());
    mirror(c);
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror<T: Real>(mut a: ArrayViewMut2<'_, T>) {
    for_each_below_diagonal(a.nrows(), |i, j| a[[j, i]] = a[[i, j]]);
}

/// Does `rounds` rounds of a few independent `a x + b` on registers, without memory, and gives the number of
/// multiplications and additions in them. Over the time that it took, this is what the fastest product could do.
///
/// # Examples
/// ```
/// use svn_linalg::dense::register_operations;
/// assert_eq!(register_operations::<f64>(20), 20 * register_operations::<f64>(1));
/// ```
pub fn register_operations<T: Real>(rounds: usize) -> usize {
    (T::ROUTINES.registers)(rounds)
}

/// Runs `f`, which is compiled again for each set of vector instructions, with the widest that this processor has. Loops
/// in it are vectorised only if everything they call is inlined.
#[inline(always)]
pub fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(f)
}
