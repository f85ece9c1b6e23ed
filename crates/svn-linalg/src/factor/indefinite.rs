//! Factor of a symmetric matrix of any signs, `P A Pᵀ = L D Lᵀ` with blocks of one or two in `D` (Bunch and Kaufman, 1977).
//!
//! Half the flops of LU, and no routine of OpenBLAS that wants a large stack when it runs in parallel.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use super::FactorError;
use crate::blas::{indefinite_factor, indefinite_solve};
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
    packed: Array2<f64>,
    pivots: Vec<i32>,
}

impl SymmetricIndefinite {
    /// Factor a symmetric matrix; the lower triangle is read.
    ///
    /// # Errors
    /// [`FactorError::Input`] before LAPACK sees it; [`FactorError::Lapack`] with the pivot that is exactly zero.
    pub fn factorize(a: ArrayView2<'_, f64>) -> Result<Self, FactorError> {
        check_symmetric("matrix", a)?;
        let dim = a.nrows();
        let mut packed = Array2::zeros((dim, dim));
        packed.assign(&a);
        let pivots = indefinite_factor(&mut packed).map_err(|info| FactorError::Lapack {
            routine: "sytrf",
            dim,
            info,
        })?;
        Ok(Self { packed, pivots })
    }

    /// `A⁻¹ b`.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `b` does not have as many elements as the matrix has rows.
    pub fn solve_vec(&self, b: ArrayView1<'_, f64>) -> Result<Array1<f64>, InputError> {
        check_shape(
            "right-hand side",
            b.insert_axis(Axis(1)).dim(),
            (self.packed.nrows(), 1),
        )?;
        let mut x = Array1::from_iter(b.iter().copied());
        indefinite_solve(&self.packed, &self.pivots, &mut x);
        Ok(x)
    }
}
