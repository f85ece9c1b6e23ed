//! Cholesky factor in single precision, refined in double: half the time for large, well-conditioned matrices.
//!
//! ```text
//! A ≈ L Lᵀ  in f32;    x ← 0,   repeat  r ← b − A x,  x ← x + L⁻ᵀ L⁻¹ r  in f64       error × about ε₃₂ κ(A) each time
//! ```
//!
//! Reference: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., chapter 12.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, aview1, s};

use super::{Cholesky, Factor as _, FactorError};
use crate::dense::{
    all_finite, cholesky_inplace, dot, solve_lower, solve_lower_transposed, vectorized,
};
use crate::input::check_shape;

/// Relative residual of a solution.
const TOLERANCE: f64 = 1e-12;

/// Passes of refinement: each gives three digits and more where the factor is any good.
const PASSES: usize = 8;

/// Room for a matrix and its factor.
#[derive(Debug, Clone)]
pub struct MixedMemory {
    /// In standard layout; of it the upper triangle counts.
    matrix: Array2<f64>,
    /// In standard layout, the transpose of `L`.
    factor: Array2<f32>,
}

impl MixedMemory {
    /// Of a matrix of `dim` rows.
    pub fn new(dim: usize) -> Self {
        Self {
            matrix: Array2::zeros((dim, dim)),
            factor: Array2::zeros((dim, dim)),
        }
    }

    /// Number of rows.
    pub fn dim(&self) -> usize {
        self.matrix.nrows()
    }

    /// The matrix, whose upper triangle is to be written over whatever it holds.
    pub fn matrix_mut(&mut self) -> ArrayViewMut2<'_, f64> {
        self.matrix.view_mut()
    }
}

/// A symmetric positive definite matrix, factored in single precision, for solves in double.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::{MixedCholesky, MixedMemory};
///
/// let mut memory = MixedMemory::new(2);
/// memory.matrix_mut().assign(&array![[4.0, 2.0], [0.0, 3.0]]);
/// let factor = MixedCholesky::factorize(memory)?;
/// let x = factor.solve_rows(array![[8.0, 8.0]].view())?;
/// assert!((x - array![[1.0, 2.0]]).iter().all(|r| r.abs() < 1e-12));
/// # Ok::<(), svn_linalg::FactorError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MixedCholesky(MixedMemory);

impl MixedCholesky {
    /// Factor the matrix in `memory`.
    ///
    /// # Errors
    /// [`FactorError::NotPositiveDefinite`] with the pivot at which single precision ends.
    pub fn factorize(mut memory: MixedMemory) -> Result<Self, FactorError> {
        let dim = memory.dim();
        let single = |to: &mut f32, from: &f64| *to = *from as f32;
        memory.factor.zip_mut_with(&memory.matrix, single);
        match cholesky_inplace(memory.factor.view_mut().reversed_axes()) {
            Ok(()) => Ok(Self(memory)),
            Err(pivot) => Err(FactorError::NotPositiveDefinite {
                pivot,
                dim,
                jitter: 0.0,
            }),
        }
    }

    /// Number of rows.
    pub fn dim(&self) -> usize {
        self.0.dim()
    }

    /// Its memory, for another matrix.
    pub fn into_memory(self) -> MixedMemory {
        self.0
    }

    /// `z A⁻¹` for the `k` rows of `z`, to a relative residual of 1e-12. Where refinement does not get there, `A` is factored in
    /// double precision for this solve.
    ///
    /// # Shapes
    /// `z`: `k × dim`.
    ///
    /// # Errors
    /// [`FactorError::Input`] for another number of columns; [`FactorError::NotPositiveDefinite`] if double precision
    /// does not suffice either.
    pub fn solve_rows(&self, z: ArrayView2<'_, f64>) -> Result<Array2<f64>, FactorError> {
        check_shape("right-hand side", z.dim(), (z.nrows(), self.0.dim()))?;
        let mut out = Array2::zeros(z.raw_dim());
        for (z, mut out) in z.rows().into_iter().zip(out.rows_mut()) {
            let b = z.as_standard_layout();
            if let (Some(b), Some(x)) = (b.as_slice(), out.as_slice_mut())
                && !self.refine(b, x)
            {
                let matrix = self.0.matrix.clone().reversed_axes();
                let factor = Cholesky::factorize_owned(matrix)?;
                factor.solve_into(z.insert_axis(Axis(1)), out.insert_axis(Axis(1)));
            }
        }
        Ok(out)
    }

    /// `x ← A⁻¹ b`; whether that succeeded.
    fn refine(&self, b: &[f64], x: &mut [f64]) -> bool {
        x.fill(0.0);
        let lower = self.0.factor.t();
        let mut residual = b.to_vec();
        let mut single = Array2::<f32>::zeros((b.len(), 1));
        let size = largest(b);
        let mut error = size;
        for _ in 0..PASSES {
            if error <= TOLERANCE * size {
                return true;
            }
            // To unit size, so that nothing underflows.
            let scale = error.recip();
            for (to, from) in single.iter_mut().zip(&residual) {
                *to = (scale * from) as f32;
            }
            solve_lower(lower, single.view_mut());
            solve_lower_transposed(lower, single.view_mut());
            for (x, step) in x.iter_mut().zip(&single) {
                *x += error * f64::from(*step);
            }
            residual.copy_from_slice(b);
            self.subtract_product(x, &mut residual);
            error = largest(&residual);
            if !error.is_finite() {
                return false;
            }
        }
        error <= TOLERANCE * size
    }

    /// `out ← out − A x`, one pass over the triangle.
    fn subtract_product(&self, x: &[f64], out: &mut [f64]) {
        for (i, row) in self.0.matrix.rows().into_iter().enumerate() {
            let row = row.slice_move(s![i..]);
            let right = aview1(&x[i..]);
            out[i] -= dot(row, right);
            let Some(row) = row.to_slice() else {
                unreachable!("in standard layout")
            };
            let scale = x[i];
            vectorized(
                #[inline(always)]
                || {
                    for (out, a) in out[i + 1..].iter_mut().zip(&row[1..]) {
                        *out -= scale * a;
                    }
                },
            );
        }
    }
}

/// `max |x|`, or NaN where one is not finite.
fn largest(x: &[f64]) -> f64 {
    match all_finite(aview1(x)) {
        true => x.iter().fold(0.0, |most, x| x.abs().max(most)),
        false => f64::NAN,
    }
}
