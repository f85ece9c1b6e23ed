//! A Kronecker product in its factors, `x ↦ (A ⊗ B) x`.

use ndarray::{ArrayView2, ArrayViewMut2, CowArray, Ix2};

use super::vec_trick::kronecker_into;
use crate::input::{InputError, check_finite};
use crate::operator::LinearOperator;

/// `A ⊗ B` of rectangular factors.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::{Kronecker, LinearOperator};
///
/// // (A ⊗ B) vec(X) = vec(A X Bᵀ)
/// let k = Kronecker::new(array![[1.0, 2.0]], array![[0.0, 1.0], [1.0, 0.0]])?;
/// let x = array![1.0, 2.0, 3.0, 4.0]; // vec [[1, 2], [3, 4]]
/// assert_eq!(k.apply_vec(x.view())?, array![10.0, 7.0]);
/// # Ok::<(), svn_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Kronecker<'a> {
    left: CowArray<'a, f64, Ix2>,
    right: CowArray<'a, f64, Ix2>,
}

impl<'a> Kronecker<'a> {
    /// `left ⊗ right`, each owned (`Array2`) or borrowed (`ArrayView2`).
    ///
    /// # Errors
    /// [`InputError`]: an empty or non-finite factor.
    pub fn new(
        left: impl Into<CowArray<'a, f64, Ix2>>,
        right: impl Into<CowArray<'a, f64, Ix2>>,
    ) -> Result<Self, InputError> {
        let (left, right) = (left.into(), right.into());
        for (what, factor) in [
            ("left Kronecker factor", &left),
            ("right Kronecker factor", &right),
        ] {
            if factor.is_empty() {
                return Err(InputError::Empty { what });
            }
            check_finite(what, factor.view())?;
        }
        Ok(Self { left, right })
    }
}

impl LinearOperator for Kronecker<'_> {
    fn nrows(&self) -> usize {
        self.left.nrows() * self.right.nrows()
    }

    fn ncols(&self) -> usize {
        self.left.ncols() * self.right.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        kronecker_into(self.left.view(), self.right.view(), x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        kronecker_into(self.left.t(), self.right.t(), x, out);
    }
}
