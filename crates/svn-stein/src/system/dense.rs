//! The Newton system as one dense matrix, for small `d`, of any curvature.
//!
//! ```text
//! A_(m,i),(n,j) = (1/N) Σ_p K̃_pm K̃_pn (H_p + λ I)_ij + (R_mn)_ij      K for K̃ and m = n with block-diagonal coupling
//! ```

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, OwnedRepr, s};
use ndarray_linalg::{FactorizeInto, LUFactorized, Solve};
use svn_linalg::{Cholesky, CholeskyParams};

use super::direct::Inverse;
use super::{Scratch, SvnSystem, solve_vector};
use crate::error::SteinError;
use crate::repulsion::factor;

pub(super) struct DenseFactor {
    kind: Kind,
    size: usize,
    coupling: &'static str,
}

enum Kind {
    Positive(Cholesky),
    Indefinite(LUFactorized<OwnedRepr<f64>>),
}

impl DenseFactor {
    pub fn new(system: &SvnSystem<'_>) -> Result<Self, SteinError> {
        let matrix = system.assemble()?;
        let size = matrix.nrows();
        let coupling = system.coupling.name();
        let singular = |reason: String| SteinError::Singular {
            coupling,
            size,
            reason,
        };
        let kind = if system.coupling.is_psd() {
            let params = CholeskyParams::default();
            Kind::Positive(
                Cholesky::factorize(matrix.view(), &params).map_err(|e| singular(e.to_string()))?,
            )
        } else {
            Kind::Indefinite(
                matrix
                    .factorize_into()
                    .map_err(|e| singular(e.to_string()))?,
            )
        };
        Ok(Self {
            kind,
            size,
            coupling,
        })
    }
}

impl Inverse for DenseFactor {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        _scratch: &mut Scratch,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        let flat = Array1::from_iter(rhs.iter().copied());
        let x = match &self.kind {
            Kind::Positive(cholesky) => solve_vector(cholesky, flat.view(), self.coupling)?,
            Kind::Indefinite(lu) => lu.solve_into(flat).map_err(|e| SteinError::Singular {
                coupling: self.coupling,
                size: self.size,
                reason: e.to_string(),
            })?,
        };
        out.iter_mut().zip(x).for_each(|(o, x)| *o = x);
        Ok(())
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl SvnSystem<'_> {
    /// `A` as an `N d × N d` matrix, particle-major; for small `d` and for tests.
    ///
    /// # Errors
    /// [`SteinError::Singular`] if `N d` is too large to index.
    pub fn assemble(&self) -> Result<Array2<f64>, SteinError> {
        let (n, d) = self.shape();
        let size = n
            .checked_mul(d)
            .filter(|s| s.checked_mul(*s).is_some())
            .ok_or_else(|| SteinError::Singular {
                coupling: self.coupling.name(),
                size: usize::MAX,
                reason: "too large to assemble".into(),
            })?;
        let block_only = self.is_block_diagonal();
        let k = if block_only {
            self.kernel.kernel
        } else {
            self.mixing.view()
        };
        let mut matrix = Array2::zeros((size, size));
        let eye = Array2::eye(d);
        let mut h = Array2::zeros((d, d));
        for p in 0..n {
            self.curvature
                .apply_one_into(p, eye.view(), self.damping, h.view_mut());
            for m in 0..n {
                for q in (0..n).filter(|&q| !block_only || q == m) {
                    let weight = k[(p, m)] * k[(p, q)] / n as f64;
                    matrix
                        .slice_mut(s![m * d..(m + 1) * d, q * d..(q + 1) * d])
                        .scaled_add(weight, &h);
                }
            }
        }
        if let Some(repulsion) = factor(self.coupling, self.kernel.slope) {
            let r = repulsion.rank();
            let mut u = Array2::zeros((r, size));
            for (f, b) in repulsion.columns.outer_iter().enumerate() {
                u.row_mut(f)
                    .iter_mut()
                    .zip(&b.dot(&self.kernel.transformed))
                    .for_each(|(u, &x)| *u = x);
            }
            match &repulsion.core {
                None => ndarray::linalg::general_mat_mul(1.0, &u.t(), &u, 1.0, &mut matrix),
                Some(core) => {
                    let scaled = core.dot(&u);
                    ndarray::linalg::general_mat_mul(1.0, &u.t(), &scaled, 1.0, &mut matrix);
                }
            }
        }
        Ok(matrix)
    }
}
