//! Repulsion on top of a factorised data part.
//!
//! ```text
//! A = A₀ + (I ⊗ Yᵀ) F S Fᵀ (I ⊗ Y),   T = Fᵀ (I ⊗ Y) A₀⁻¹ (I ⊗ Yᵀ) F        r × r
//! A⁻¹ v = x − A₀⁻¹ (I ⊗ Yᵀ) F (I + S T)⁻¹ S Fᵀ (I ⊗ Y) x,   x = A₀⁻¹ v
//! ```
//!
//! With `S = I` (PSD couplings) `I + T` is factorised by Cholesky, with the indefinite core of `exact` by LU.

use ndarray::OwnedRepr;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2};
use ndarray_linalg::{Factorize, LUFactorized, Solve};
use svn_linalg::{Cholesky, CholeskyParams, Factor as _};

use super::SvnSystem;
use super::direct::Inverse;
use crate::error::SteinError;
use crate::repulsion::RepulsionFactor;

/// Data part `A₀` of the system, factorised.
pub(super) trait Base {
    /// `out = A₀⁻¹ rhs`, `N × d`.
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError>;
    /// `T`, `r × r`.
    fn project(&self, factor: &RepulsionFactor) -> Result<Array2<f64>, SteinError>;
    /// Size of the largest matrix factorised.
    fn size(&self) -> usize;
}

enum Small {
    None,
    Positive(Cholesky),
    Indefinite {
        lu: LUFactorized<OwnedRepr<f64>>,
        core: Array2<f64>,
    },
}

pub(super) struct Woodbury<'a, B> {
    base: B,
    factor: Option<RepulsionFactor>,
    small: Small,
    transformed: ArrayView2<'a, f64>,
    coupling: &'static str,
}

impl<'a, B: Base> Woodbury<'a, B> {
    pub fn new(
        base: B,
        factor: Option<RepulsionFactor>,
        system: &SvnSystem<'a>,
    ) -> Result<Self, SteinError> {
        let coupling = system.coupling.name();
        let small = match &factor {
            None => Small::None,
            Some(f) => {
                let mut matrix = base.project(f)?;
                let size = matrix.nrows();
                let singular = |reason: String| SteinError::Singular {
                    coupling,
                    size,
                    reason,
                };
                match &f.core {
                    None => {
                        matrix.diag_mut().mapv_inplace(|x| x + 1.0);
                        let cholesky =
                            Cholesky::factorize(matrix.view(), &CholeskyParams::default())
                                .map_err(|e| singular(e.to_string()))?;
                        Small::Positive(cholesky)
                    }
                    Some(core) => {
                        let mut matrix = core.dot(&matrix);
                        matrix.diag_mut().mapv_inplace(|x| x + 1.0);
                        let lu = matrix.factorize().map_err(|e| singular(e.to_string()))?;
                        Small::Indefinite {
                            lu,
                            core: core.clone(),
                        }
                    }
                }
            }
        };
        Ok(Self {
            base,
            factor,
            small,
            transformed: system.kernel.transformed,
            coupling,
        })
    }

    /// `(I + S T)⁻¹ S f`.
    fn solve_small(&self, f: Array1<f64>) -> Result<Array1<f64>, SteinError> {
        let singular = |reason: String| SteinError::Singular {
            coupling: self.coupling,
            size: f.len(),
            reason,
        };
        match &self.small {
            Small::None => Ok(f),
            Small::Positive(cholesky) => {
                let column = f.view().insert_axis(ndarray::Axis(1));
                let solved = cholesky
                    .solve(column)
                    .map_err(|e| singular(e.to_string()))?;
                Ok(solved.column(0).to_owned())
            }
            Small::Indefinite { lu, core } => lu
                .solve_into(core.dot(&f))
                .map_err(|e| singular(e.to_string())),
        }
    }
}

impl<B: Base> Inverse for Woodbury<'_, B> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        self.base.solve_into(rhs, out.view_mut())?;
        let Some(factor) = &self.factor else {
            return Ok(());
        };
        let (r, n, _) = factor.columns.dim();
        let t = out.dot(&self.transformed.t());
        let flat = |x: &Array2<f64>| Array1::from_iter(x.iter().copied());
        let columns = factor
            .columns
            .view()
            .into_shape_with_order((r, n * n))
            .map_err(|e| self.shape_error(&e))?;
        let beta = self.solve_small(columns.dot(&flat(&t)))?;
        let b: Array1<f64> = columns.t().dot(&beta);
        let b = b
            .into_shape_with_order((n, n))
            .map_err(|e| self.shape_error(&e))?;
        let pushed = b.dot(&self.transformed);
        let mut correction = Array2::zeros(out.dim());
        self.base.solve_into(pushed.view(), correction.view_mut())?;
        out -= &correction;
        Ok(())
    }

    fn size(&self) -> usize {
        self.base
            .size()
            .max(self.factor.as_ref().map_or(0, RepulsionFactor::rank))
    }
}

impl<B> Woodbury<'_, B> {
    fn shape_error(&self, error: &ndarray::ShapeError) -> SteinError {
        SteinError::Singular {
            coupling: self.coupling,
            size: 0,
            reason: error.to_string(),
        }
    }
}

/// Solve with a Cholesky factor, one vector.
pub(super) fn solve_vector(
    cholesky: &Cholesky,
    b: ArrayView1<'_, f64>,
    coupling: &'static str,
) -> Result<Array1<f64>, SteinError> {
    let column = b.insert_axis(ndarray::Axis(1));
    let solved = cholesky.solve(column).map_err(|e| SteinError::Singular {
        coupling,
        size: b.len(),
        reason: e.to_string(),
    })?;
    Ok(solved.column(0).to_owned())
}
