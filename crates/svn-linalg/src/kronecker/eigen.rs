//! A Kronecker product in the eigenbasis of its factors, where damping, inverse and root are elementwise.
//!
//! ```text
//! (U ⊗ V) diag(vec S) (U ⊗ V)ᵀ      U: m × m    V: n × n    S: m × n,  S_ij = a_i b_j unless replaced
//! ```

use std::sync::Arc;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use super::vec_trick::kronecker_into;
use crate::factor::{Factor, FactorError, FactorizeDamped, SymmetricEigen};
use crate::input::{InputError, check_finite, check_non_negative, check_shape};
use crate::operator::{LinearOperator, SelfAdjoint};

/// `(U ⊗ V) diag(vec S) (U ⊗ V)ᵀ`; clones share the bases.
#[derive(Debug, Clone)]
pub struct KroneckerEigen {
    basis: Arc<Basis>,
    spectrum: Array2<f64>,
}

/// Orthogonal `U` and `V`.
#[derive(Debug)]
struct Basis {
    left: Array2<f64>,
    right: Array2<f64>,
}

impl KroneckerEigen {
    /// Decompose the symmetric factors of `left ⊗ right`.
    ///
    /// # Errors
    /// [`FactorError::Block`] with index 0 for `left` and 1 for `right`.
    pub fn factorize(
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
    ) -> Result<Self, FactorError> {
        let named = |index| {
            move |source| FactorError::Block {
                index,
                source: Box::new(source),
            }
        };
        let left = SymmetricEigen::factorize(left).map_err(named(0))?;
        let right = SymmetricEigen::factorize(right).map_err(named(1))?;
        Ok(Self::from_eigen(&left, &right))
    }

    /// From the decompositions of the two factors.
    pub fn from_eigen(left: &SymmetricEigen, right: &SymmetricEigen) -> Self {
        let spectrum = &left.values().insert_axis(Axis(1)) * &right.values().insert_axis(Axis(0));
        Self {
            basis: Arc::new(Basis {
                left: left.vectors().to_owned(),
                right: right.vectors().to_owned(),
            }),
            spectrum,
        }
    }

    /// The same basis with another spectrum, such as the second moments of the gradient in it (EKFAC).
    ///
    /// # Errors
    /// [`InputError`]: another shape than `m × n`, or not finite.
    pub fn with_spectrum(&self, spectrum: Array2<f64>) -> Result<Self, InputError> {
        check_shape("spectrum", spectrum.dim(), self.spectrum.dim())?;
        check_finite("spectrum", spectrum.view())?;
        Ok(Self {
            basis: Arc::clone(&self.basis),
            spectrum,
        })
    }

    /// `S`, m × n.
    pub fn spectrum(&self) -> ArrayView2<'_, f64> {
        self.spectrum.view()
    }

    /// `U` and `V`, eigenvectors in columns.
    pub fn vectors(&self) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
        (self.basis.left.view(), self.basis.right.view())
    }

    /// `out = (U ⊗ V)ᵀ x`, into the eigenbasis.
    ///
    /// # Panics
    /// If `x` and `out` are not both `mn × k`.
    pub fn rotate_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        kronecker_into(self.basis.left.t(), self.basis.right.t(), x, out);
    }

    /// `out = (U ⊗ V) x`, back from it.
    ///
    /// # Panics
    /// If `x` and `out` are not both `mn × k`.
    pub fn rotate_back_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        kronecker_into(self.basis.left.view(), self.basis.right.view(), x, out);
    }

    /// `x ← (U ⊗ V) f((U ⊗ V)ᵀ x, vec S)`: `f` changes the coordinates of one column in the eigenbasis.
    ///
    /// # Panics
    /// If `x` is not `mn`.
    pub fn in_eigenbasis(&self, x: &mut [f64], f: &mut dyn FnMut(&mut [f64], &[f64])) {
        let spectrum = self.spectrum.as_standard_layout();
        let mut rotated = Array2::zeros((x.len(), 1));
        self.rotate_into(column(x).view(), rotated.view_mut());
        if let (Some(rotated), Some(spectrum)) = (rotated.as_slice_mut(), spectrum.as_slice()) {
            f(rotated, spectrum);
        }
        self.rotate_back_into(rotated.view(), column(x));
    }

    /// `xᵀ (U ⊗ V) diag(vec S) (U ⊗ V)ᵀ x`, by one change of basis.
    ///
    /// # Panics
    /// If `x` is not `mn × 1`.
    pub fn quadratic(&self, x: ArrayView2<'_, f64>) -> f64 {
        let mut rotated = Array2::zeros(x.raw_dim());
        self.rotate_into(x, rotated.view_mut());
        let terms = rotated.iter().zip(&self.spectrum);
        terms.map(|(x, s)| s * x * x).sum()
    }

    /// `out = (U ⊗ V) diag(f(S)) (U ⊗ V)ᵀ x`, any function of the matrix.
    ///
    /// # Panics
    /// If `x` and `out` are not both `mn × k`.
    pub fn apply_function_into(
        &self,
        f: impl Fn(f64) -> f64,
        x: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) {
        let mut rotated = Array2::zeros(x.raw_dim());
        self.rotate_into(x, rotated.view_mut());
        for (mut row, &s) in rotated.rows_mut().into_iter().zip(&self.spectrum) {
            row *= f(s);
        }
        self.rotate_back_into(rotated.view(), out);
    }
}

fn column(x: &mut [f64]) -> ArrayViewMut2<'_, f64> {
    ArrayViewMut2::from_shape((x.len(), 1), x).expect("one number a row")
}

impl LinearOperator for KroneckerEigen {
    fn nrows(&self) -> usize {
        self.spectrum.len()
    }

    fn ncols(&self) -> usize {
        self.spectrum.len()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_function_into(|s| s, x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for KroneckerEigen {}

impl FactorizeDamped for KroneckerEigen {
    type Factor = KroneckerFactor;

    fn factorize_damped(&self, damping: f64) -> Result<KroneckerFactor, FactorError> {
        check_non_negative("damping", damping)?;
        let largest = self.spectrum.iter().fold(damping, |m, s| m.max(s.abs()));
        let least = f64::EPSILON * largest;
        match self.spectrum.iter().position(|s| s + damping <= least) {
            Some(index) => Err(FactorError::NotPositive {
                index,
                dim: self.spectrum.len(),
                value: self.spectrum.iter().copied().nth(index).unwrap_or(f64::NAN),
                damping,
            }),
            None => Ok(KroneckerFactor(Self {
                basis: Arc::clone(&self.basis),
                spectrum: &self.spectrum + damping,
            })),
        }
    }
}

/// `A ⊗ B + λ I`, factored.
#[derive(Debug, Clone)]
pub struct KroneckerFactor(KroneckerEigen);

impl Factor for KroneckerFactor {
    fn dim(&self) -> usize {
        self.0.nrows()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.0.apply_function_into(f64::recip, b, out);
    }

    /// The symmetric root.
    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.0.apply_function_into(|s| s.sqrt().recip(), z, out);
    }

    fn log_det(&self) -> f64 {
        self.0.spectrum.iter().map(|s| s.ln()).sum()
    }
}
