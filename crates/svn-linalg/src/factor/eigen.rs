//! Eigendecomposition of a symmetric matrix, and every damped function of it.
//!
//! ```text
//! A = U diag(θ) Uᵀ        θ ascending        (A + λ I)⁻¹ = U diag(1/(θ + λ)) Uᵀ
//! ```

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2};

use super::{Factor, FactorError};
use crate::dense;
use crate::input::{check_non_negative, check_symmetric};
use crate::operator::diagonal_scale_into;
use crate::operator::{LinearOperator, SelfAdjoint, multiply_into};

/// `A = U diag(θ) Uᵀ`, one decomposition for all dampings.
#[derive(Debug, Clone)]
pub struct SymmetricEigen {
    values: Array1<f64>,
    vectors: Array2<f64>,
}

impl SymmetricEigen {
    /// Decompose a symmetric matrix; the lower triangle is read.
    ///
    /// # Errors
    /// [`FactorError::Input`] for NaN, before anything is decomposed; [`FactorError::NotConverged`].
    pub fn factorize(a: ArrayView2<'_, f64>) -> Result<Self, FactorError> {
        check_symmetric("matrix", a)?;
        let (values, vectors) =
            dense::eigen(a).ok_or(FactorError::NotConverged { dim: a.nrows() })?;
        Ok(Self { values, vectors })
    }

    /// `θ`, ascending.
    pub fn values(&self) -> ArrayView1<'_, f64> {
        self.values.view()
    }

    /// `U`; column `i` belongs to `values()[i]`.
    pub fn vectors(&self) -> ArrayView2<'_, f64> {
        self.vectors.view()
    }

    /// Number of eigenvalues above `n ε max|θ|`.
    pub fn rank(&self) -> usize {
        let largest = self.values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let least = self.values.len() as f64 * f64::EPSILON * largest;
        self.values.iter().filter(|v| v.abs() > least).count()
    }

    /// `A + damping · I` as a factor.
    ///
    /// # Errors
    /// [`FactorError::NotPositive`] with the smallest eigenvalue if it is not positive after damping.
    pub fn damped(&self, damping: f64) -> Result<DampedEigen<'_>, FactorError> {
        check_non_negative("damping", damping)?;
        let largest = self.values.iter().fold(damping, |m, v| m.max(v.abs()));
        let least = f64::EPSILON * largest;
        match self.values.iter().position(|v| v + damping <= least) {
            Some(index) => Err(FactorError::NotPositive {
                index,
                dim: self.values.len(),
                value: self.values[index],
                damping,
            }),
            None => Ok(DampedEigen {
                eigen: self,
                damping,
            }),
        }
    }

    /// `out = U diag(f(θ)) Uᵀ x`: any function of the matrix, such as a pseudo-inverse or `|A|⁻¹`.
    ///
    /// # Panics
    /// If `x` and `out` are not both `dim × k`.
    pub fn apply_function_into(
        &self,
        f: impl Fn(f64) -> f64,
        x: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) {
        let mut rotated = Array2::zeros(x.raw_dim());
        multiply_into(self.vectors.t(), x, rotated.view_mut());
        let mut scaled = Array2::zeros(x.raw_dim());
        diagonal_scale_into(
            self.values.mapv(f).view(),
            rotated.view(),
            scaled.view_mut(),
        );
        multiply_into(self.vectors.view(), scaled.view(), out);
    }
}

impl LinearOperator for SymmetricEigen {
    fn nrows(&self) -> usize {
        self.values.len()
    }

    fn ncols(&self) -> usize {
        self.values.len()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_function_into(|v| v, x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for SymmetricEigen {}

/// `(A + λ I)` through the eigenvectors of `A`; costs nothing to make.
#[derive(Debug, Clone)]
pub struct DampedEigen<'a> {
    eigen: &'a SymmetricEigen,
    damping: f64,
}

impl Factor for DampedEigen<'_> {
    fn dim(&self) -> usize {
        self.eigen.values.len()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.eigen
            .apply_function_into(|v| 1.0 / (v + self.damping), b, out);
    }

    /// The symmetric root `W = (A + λ I)^(−1/2)`.
    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.eigen
            .apply_function_into(|v| (v + self.damping).sqrt().recip(), z, out);
    }

    fn log_det(&self) -> f64 {
        self.eigen
            .values
            .iter()
            .map(|v| (v + self.damping).ln())
            .sum()
    }
}
