//! Gram matrices `α A Aᵀ` at half the flops of a general product.
//!
//! ```text
//! G = α A Aᵀ        A: r × d    G: r × r
//! ```
//!
//! One triangle is computed, the other is copied: both are bit-identical.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::dense;
use crate::input::{InputError, check_shape};

/// `α A Aᵀ` of an `r × d` matrix in any layout (rows of a larger array and transposes are read in place).
///
/// # Examples
/// ```
/// use ndarray::array;
/// let a = array![[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]];
/// assert_eq!(svn_linalg::gram(2.0, a.view()), array![[10.0, 4.0], [4.0, 20.0]]);
/// ```
pub fn gram(alpha: f64, a: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((a.nrows(), a.nrows()));
    dense::gram(alpha, a, out.view_mut());
    out
}

/// [`gram`] into a given `r × r` matrix, which is overwritten whatever it holds.
///
/// # Errors
/// [`InputError::Shape`] if `out` is not `r × r`.
pub fn gram_into(
    alpha: f64,
    a: ArrayView2<'_, f64>,
    out: ArrayViewMut2<'_, f64>,
) -> Result<(), InputError> {
    check_shape("out", out.dim(), (a.nrows(), a.nrows()))?;
    dense::gram(alpha, a, out);
    Ok(())
}
