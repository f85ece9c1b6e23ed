//! Factor of a symmetric matrix of any signs, by elimination with partial pivoting: `P A = L U`.

use ndarray::{Array1, ArrayView1, ArrayView2, Axis};

use super::FactorError;
use crate::dense::Pivoted;
use crate::input::{InputError, check_shape, check_symmetric};

/// A symmetric, non-singular matrix, factored.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::SymmetricIndefinite;
///
/// let saddle = array![[0.0, 2.0], [2.0, 0.0]];
/// let factor = SymmetricIndefinite::factorize(saddle.view())?;
/// assert_eq!(factor.solve_vec(array![2.0, 6.0].view())?, array![3.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SymmetricIndefinite {
    dim: usize,
    factor: Pivoted,
}

impl SymmetricIndefinite {
    /// Factor a symmetric matrix.
    ///
    /// # Errors
    /// [`FactorError::Input`] for one that is not finite or not symmetric; [`FactorError::Singular`] with the
    /// column whose pivots are all exactly zero.
    pub fn factorize(a: ArrayView2<'_, f64>) -> Result<Self, FactorError> {
        check_symmetric("matrix", a)?;
        let dim = a.nrows();
        match Pivoted::new(a) {
            Ok(factor) => Ok(Self { dim, factor }),
            Err(pivot) => Err(FactorError::Singular { pivot, dim }),
        }
    }

    /// `A⁻¹ b`.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `b` does not have as many elements as the matrix has rows.
    pub fn solve_vec(&self, b: ArrayView1<'_, f64>) -> Result<Array1<f64>, InputError> {
        check_shape(
            "right-hand side",
            b.insert_axis(Axis(1)).dim(),
            (self.dim, 1),
        )?;
        let mut x = Array1::from_iter(b.iter().copied());
        self.factor.solve(x.view_mut());
        Ok(x)
    }
}
