//! Cholesky factor `A + j I = L Lᵀ` with a jitter `j` that is as small as possible, and reported.
//!
//! ```text
//! j = 0, then  j_k = initial · growth^k · mean(diag A),  k = 0 … attempts − 1
//! ```
//!
//! The plain algorithm accepts a rank-deficient matrix whenever rounding happens to leave a positive pivot, and the solve is then
//! garbage. Here a pivot counts only if `L_ii² > n ε A_ii`, a test that scaling of rows and columns does not change.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};

use super::{Factor, FactorError, FactorizeDamped};
use crate::dense::{cholesky_inplace, dot, lower_columns, solve_lower, solve_lower_transposed};
use crate::input::{InputError, check_non_negative, check_shape, check_symmetric};
use crate::operator::Symmetric;

/// How much a nearly singular matrix may be changed.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `initial` | 1e-12 | first jitter, relative to the mean diagonal | finite, ≥ 0 |
/// | `growth` | 100 | factor from one attempt to the next | finite, ≥ 1 |
/// | `attempts` | 4 | jitters tried after none; 0 is a strict factorization | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CholeskyParams {
    /// First jitter, relative to the mean of the diagonal.
    pub initial: f64,
    /// Factor between attempts.
    pub growth: f64,
    /// Number of jitters tried after the matrix as it is.
    pub attempts: usize,
}

impl Default for CholeskyParams {
    fn default() -> Self {
        Self {
            initial: 1e-12,
            growth: 100.0,
            attempts: 4,
        }
    }
}

impl CholeskyParams {
    /// No jitter at all.
    pub fn strict() -> Self {
        Self {
            attempts: 0,
            ..Self::default()
        }
    }
}

/// `A + j I = L Lᵀ`.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::{Cholesky, CholeskyParams, Factor};
///
/// let a = array![[4.0, 2.0], [2.0, 3.0]];
/// let factor = Cholesky::factorize(a.view(), &CholeskyParams::default())?;
/// assert_eq!(factor.jitter(), 0.0);
/// let x = factor.solve_vec(array![2.0, 3.0].view())?;
/// assert!((a.dot(&x) - array![2.0, 3.0]).iter().all(|r| r.abs() < 1e-15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cholesky {
    lower: Array2<f64>,
    jitter: f64,
}

impl Cholesky {
    /// Factor a symmetric matrix; the lower triangle is read.
    ///
    /// # Errors
    /// [`FactorError::Input`] for one that is not finite or not symmetric; [`FactorError::NotPositiveDefinite`] with the pivot if the
    /// largest jitter is not enough.
    pub fn factorize(a: ArrayView2<'_, f64>, params: &CholeskyParams) -> Result<Self, FactorError> {
        check_symmetric("matrix", a)?;
        Self::escalate(a, 0.0, params)
    }

    /// Factor `A + damping · I` without a copy of the sum; the jitter comes on top.
    ///
    /// # Errors
    /// As for [`factorize`](Self::factorize), and [`InputError::OutOfRange`] for a negative damping.
    pub fn factorize_with_damping(
        a: ArrayView2<'_, f64>,
        damping: f64,
        params: &CholeskyParams,
    ) -> Result<Self, FactorError> {
        check_symmetric("matrix", a)?;
        check_non_negative("damping", damping)?;
        Self::escalate(a, damping, params)
    }

    /// Factor a matrix that the caller has no further use for, without a jitter or a test of symmetry: the fast way for
    /// matrices that are symmetric and well away from singular by construction. The lower triangle is read. Where columns
    /// are contiguous, as in the transpose of a new array, nothing is copied.
    ///
    /// # Errors
    /// [`FactorError::Input`] if `a` is not square or empty; [`FactorError::NotPositiveDefinite`] with the pivot, also
    /// for a matrix that is not finite.
    pub fn factorize_owned(a: Array2<f64>) -> Result<Self, FactorError> {
        let dim = a.nrows();
        check_shape("matrix", a.dim(), (dim, dim))?;
        if dim == 0 {
            return Err(FactorError::Input(InputError::Empty { what: "matrix" }));
        }
        let lower = match a.strides()[0] {
            1 => a,
            _ => lower_columns(a.view()),
        };
        match factored(lower) {
            Ok(lower) => Ok(Self { lower, jitter: 0.0 }),
            Err(pivot) => Err(FactorError::NotPositiveDefinite {
                pivot,
                dim,
                jitter: 0.0,
            }),
        }
    }

    fn escalate(
        a: ArrayView2<'_, f64>,
        damping: f64,
        params: &CholeskyParams,
    ) -> Result<Self, FactorError> {
        check_non_negative("jitter initial", params.initial)?;
        if !(params.growth.is_finite() && params.growth >= 1.0) {
            return Err(FactorError::Input(InputError::OutOfRange {
                name: "jitter growth",
                range: "finite and at least 1",
                value: params.growth,
            }));
        }
        let dim = a.nrows();
        let scale = a
            .diag()
            .iter()
            .map(|v| (v + damping) / dim as f64)
            .sum::<f64>()
            .abs();
        let mut jitter = 0.0;
        let mut left = params.attempts;
        loop {
            let pivot = match attempt_factor(a, damping, jitter) {
                Ok(lower) => return Ok(Self { lower, jitter }),
                Err(pivot) => pivot,
            };
            if left == 0 {
                return Err(FactorError::NotPositiveDefinite { pivot, dim, jitter });
            }
            left -= 1;
            jitter = match jitter {
                0.0 => params.initial * scale,
                last => last * params.growth,
            };
        }
    }

    /// The multiple of the identity that was added to make the factor exist; 0 for a well-conditioned matrix.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// `L`, lower triangular with zeros above the diagonal.
    pub fn lower(&self) -> ArrayView2<'_, f64> {
        self.lower.view()
    }

    /// `b ← L⁻¹ b`, half a solve: `‖L⁻¹ b‖² = bᵀ A⁻¹ b`.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `b` does not have `dim` rows.
    pub fn solve_lower_inplace(&self, mut b: ArrayViewMut2<'_, f64>) -> Result<(), InputError> {
        check_shape("right-hand side", b.dim(), (self.dim(), b.ncols()))?;
        solve_lower(self.lower.view(), b.view_mut());
        Ok(())
    }

    /// `b ← L⁻ᵀ b`, the other half.
    ///
    /// # Errors
    /// [`InputError::Shape`] if `b` does not have `dim` rows.
    pub fn solve_transposed_inplace(
        &self,
        mut b: ArrayViewMut2<'_, f64>,
    ) -> Result<(), InputError> {
        check_shape("right-hand side", b.dim(), (self.dim(), b.ncols()))?;
        solve_lower_transposed(self.lower.view(), b.view_mut());
        Ok(())
    }
}

/// One factorization: the factor, or the index of the pivot where it ends.
fn attempt_factor(a: ArrayView2<'_, f64>, damping: f64, jitter: f64) -> Result<Array2<f64>, usize> {
    let mut lower = lower_columns(a);
    lower.diag_mut().mapv_inplace(|v| v + damping + jitter);
    factored(lower)
}

/// The factor of a lower triangle, or the index of the pivot where it ends.
fn factored(mut lower: Array2<f64>) -> Result<Array2<f64>, usize> {
    let dim = lower.nrows();
    let diagonal = lower.diag().to_owned();
    let ended = cholesky_inplace(lower.view_mut()).err();
    let least = dim as f64 * f64::EPSILON;
    let weak = lower
        .diag()
        .iter()
        .zip(&diagonal)
        .take(ended.unwrap_or(dim))
        .position(|(l, a)| l * l <= least * a || !l.is_finite());
    if let Some(pivot) = weak.or(ended) {
        return Err(pivot);
    }
    for (j, mut column) in lower.columns_mut().into_iter().enumerate() {
        column.slice_mut(s![..j]).fill(0.0);
    }
    Ok(lower)
}

impl Factor for Cholesky {
    fn dim(&self) -> usize {
        self.lower.nrows()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        out.assign(&b);
        solve_lower(self.lower.view(), out.view_mut());
        solve_lower_transposed(self.lower.view(), out.view_mut());
    }

    /// `W = L⁻ᵀ`, upper triangular.
    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        out.assign(&z);
        solve_lower_transposed(self.lower.view(), out.view_mut());
    }

    fn inverse_quadratic(&self, x: ArrayView2<'_, f64>) -> Array1<f64> {
        let mut half = x.to_owned().reversed_axes();
        solve_lower(self.lower.view(), half.view_mut());
        half.map_axis(Axis(0), |column| dot(column, column))
    }

    fn log_det(&self) -> f64 {
        2.0 * self.lower.diag().iter().map(|l| l.ln()).sum::<f64>()
    }
}

impl FactorizeDamped for Symmetric<'_> {
    type Factor = Cholesky;

    /// Strict: no jitter beyond the damping.
    fn factorize_damped(&self, damping: f64) -> Result<Cholesky, FactorError> {
        Cholesky::factorize_with_damping(self.matrix(), damping, &CholeskyParams::strict())
    }
}
