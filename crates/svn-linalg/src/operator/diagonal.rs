//! A diagonal matrix, `A x = a ∘ x`.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Zip};

use super::{LinearOperator, SelfAdjoint, assert_shapes};
use crate::input::{InputError, check_finite_vector};

/// `A = diag(a)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagonal {
    entries: Array1<f64>,
}

impl Diagonal {
    /// A diagonal matrix of any signs.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] with the index.
    pub fn new(entries: Array1<f64>) -> Result<Self, InputError> {
        check_finite_vector("diagonal", entries.view())?;
        Ok(Self { entries })
    }

    /// Of entries that were looked at before.
    pub(crate) fn unchecked(entries: Array1<f64>) -> Self {
        Self { entries }
    }

    /// `value · I`.
    ///
    /// # Errors
    /// [`InputError::NonFinite`].
    pub fn constant(dim: usize, value: f64) -> Result<Self, InputError> {
        Self::new(Array1::from_elem(dim, value))
    }

    /// The entries `a`.
    pub fn entries(&self) -> ArrayView1<'_, f64> {
        self.entries.view()
    }
}

/// Columns up to which a product goes column by column.
const FEW: usize = 8;

/// `out = diag(a) x`.
pub(crate) fn diagonal_scale_into(
    a: ArrayView1<'_, f64>,
    x: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) {
    assert_shapes((a.len(), a.len()), &x, &out);
    // Few columns are passed one by one, so that the inner loop is the long one.
    if x.ncols() <= FEW {
        for (mut out, x) in out.columns_mut().into_iter().zip(x.columns()) {
            Zip::from(&mut out)
                .and(&x)
                .and(&a)
                .for_each(|out, x, a| *out = a * x);
        }
        return;
    }
    Zip::from(out.rows_mut())
        .and(x.rows())
        .and(a)
        .for_each(|mut out, x, &a| out.zip_mut_with(&x, |out, x| *out = a * x));
}

impl LinearOperator for Diagonal {
    fn nrows(&self) -> usize {
        self.entries.len()
    }

    fn ncols(&self) -> usize {
        self.entries.len()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        diagonal_scale_into(self.entries.view(), x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }

    fn to_dense(&self) -> Array2<f64> {
        Array2::from_diag(&self.entries)
    }
}

impl SelfAdjoint for Diagonal {}
