//! Dense curvature, for small `d`.

use std::fmt;

use ndarray::{Array1, Array2, ArrayBase, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Data, Ix3};

use super::{MatrixFault, ParticleOperators};
use crate::dense;
use crate::factor::{Cholesky, CholeskyParams, Factor, FactorError};
use crate::input::{InputError, check_symmetric};
use crate::operator::{SelfAdjoint, Symmetric};

/// `H_p` as matrices, `N × d × d`, owned or borrowed.
pub struct DenseMatrices<S: Data<Elem = f64>> {
    matrices: ArrayBase<S, Ix3>,
    trusted: bool,
}

impl<S: Data<Elem = f64>> fmt::Debug for DenseMatrices<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DenseMatrices{:?}", self.matrices.dim())
    }
}

impl<S: Data<Elem = f64>> DenseMatrices<S> {
    /// # Shapes
    /// `matrices`: `N × d × d`; nothing is checked before [`check`](ParticleOperators::check).
    pub fn new(matrices: ArrayBase<S, Ix3>) -> Self {
        Self {
            matrices,
            trusted: false,
        }
    }

    /// Matrices that are finite, symmetric and positive semi-definite by construction, which no check looks at again.
    pub fn trusted(matrices: ArrayBase<S, Ix3>) -> Self {
        Self {
            matrices,
            trusted: true,
        }
    }

    fn matrix(&self, particle: usize) -> ArrayView2<'_, f64> {
        self.matrices.index_axis(Axis(0), particle)
    }
}

impl<S: Data<Elem = f64> + Send + Sync> ParticleOperators for DenseMatrices<S> {
    fn particles(&self) -> usize {
        self.matrices.dim().0
    }

    fn dim(&self) -> usize {
        self.matrices.dim().1
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(Symmetric::unchecked(self.matrix(particle)))
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        let params = CholeskyParams::default();
        let factor = Cholesky::factorize_with_damping(self.matrix(particle), damping, &params)?;
        Ok(Box::new(factor))
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.matrix(particle).diag().to_owned()
    }

    fn factor_size(&self) -> usize {
        self.dim()
    }

    fn factor_sum(
        &self,
        weights: ArrayView1<'_, f64>,
        damping: f64,
    ) -> Option<Result<Box<dyn Factor + '_>, FactorError>> {
        let mut matrix = Array2::zeros((self.dim(), self.dim()));
        for (h, &weight) in self
            .matrices
            .outer_iter()
            .zip(weights)
            .filter(|(_, w)| **w != 0.0)
        {
            matrix.scaled_add(weight, &h);
        }
        matrix
            .diag_mut()
            .mapv_inplace(|x| x + damping * weights.sum());
        let factor = Cholesky::factorize(matrix.view(), &CholeskyParams::default());
        Some(factor.map(|factor| Box::new(factor) as Box<dyn Factor>))
    }

    fn multiply_into(
        &self,
        particle: usize,
        damping: f64,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        out.assign(&x);
        dense::multiply(1.0, x, self.matrix(particle), damping, out);
    }

    /// Finite, symmetric, and without a negative pivot beyond rounding.
    fn check(&self) -> Result<(), MatrixFault> {
        if self.trusted {
            return Ok(());
        }
        // Rank-deficient matrices of a Gauss-Newton sum pass with a jitter of rounding size.
        let params = CholeskyParams {
            attempts: 3,
            ..CholeskyParams::default()
        };
        for (particle, h) in self.matrices.outer_iter().enumerate() {
            check_symmetric("curvature", h).map_err(|error| match error {
                InputError::NotSymmetric { .. } => MatrixFault::NotSymmetric { particle },
                _ => MatrixFault::NonFinite { particle },
            })?;
            if h.iter().all(|x| *x == 0.0) {
                continue;
            }
            if let Err(error) = Cholesky::factorize(h, &params) {
                let coordinate = match error {
                    FactorError::NotPositiveDefinite { pivot, .. } => pivot,
                    _ => 0,
                };
                return Err(MatrixFault::Indefinite {
                    particle,
                    coordinate,
                });
            }
        }
        Ok(())
    }
}
