//! The Newton system as one dense matrix, for many particles of few coordinates, of any curvature.
//!
//! ```text
//! A_(m,i),(n,j) = (1/N) Σ_p K̃_pm K̃_pn (H_p + λ I)_ij + (R_mn)_ij      K for K̃ and m = n with block-diagonal coupling
//! G_(p),(m,i)   = g_pm (y_p − y_m)_i / √N                              N × N d
//! R             = Gᵀ G (gram),  its blocks transposed (exact),  its diagonal blocks alone (the others)
//! ```

use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayViewMut2, s};
use svn_linalg::{Cholesky, CholeskyParams, Factor as _, SymmetricIndefinite, dense, gram};

use super::inverse::Inverse;
use super::{Scratch, SvnSystem};
use crate::error::SteinError;
use crate::repulsion::Coupling;

pub(super) struct DenseFactor {
    kind: Kind,
    size: usize,
    coupling: &'static str,
}

enum Kind {
    Positive(Cholesky),
    Indefinite(SymmetricIndefinite),
}

impl DenseFactor {
    pub(super) fn new(system: &SvnSystem<'_>) -> Result<Self, SteinError> {
        let matrix = system.assemble()?;
        let size = matrix.nrows();
        let kind = if system.coupling.is_psd() {
            let params = CholeskyParams::default();
            // A jitter only where the plain factor fails.
            let factor = Cholesky::factorize_owned(matrix.clone().reversed_axes())
                .or_else(|_| Cholesky::factorize(matrix.view(), &params));
            Kind::Positive(factor.map_err(|e| system.singular(size, e))?)
        } else {
            let factor = SymmetricIndefinite::factorize(matrix.view());
            Kind::Indefinite(factor.map_err(|e| system.singular(size, e))?)
        };
        Ok(Self {
            kind,
            size,
            coupling: system.coupling.name(),
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
            Kind::Positive(cholesky) => cholesky.solve_vec(flat.view()).map_err(|e| e.to_string()),
            Kind::Indefinite(factor) => factor.solve_vec(flat.view()).map_err(|e| e.to_string()),
        }
        .map_err(|reason| SteinError::Singular {
            coupling: self.coupling,
            size: self.size,
            reason,
        })?;
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
        let mut damped = Array3::zeros((n, d, d));
        let eye = Array2::eye(d);
        for (p, h) in damped.outer_iter_mut().enumerate() {
            self.curvature.multiply_into(p, self.damping, eye.view(), h);
        }
        let mut matrix = Array2::zeros((size, size));
        if self.is_block_diagonal() {
            let weights = self.kernel.kernel.mapv(|k| k * k / n as f64);
            for (m, weights) in weights.columns().into_iter().enumerate() {
                let mut block = matrix.slice_mut(block_of(m, m, d));
                for (h, &weight) in damped.outer_iter().zip(weights) {
                    block.scaled_add(weight, &h);
                }
            }
        } else {
            // One N × N product for each pair of coordinates, half of one for a coordinate with itself.
            let inverse = 1.0 / n as f64;
            let mut product = Array2::zeros((n, n));
            for i in 0..d {
                for j in 0..=i {
                    let column = damped.slice(s![.., i, j]);
                    if column.iter().all(|&h| h == 0.0) {
                        continue;
                    }
                    if i == j && column.iter().all(|&h| h > 0.0) {
                        product = gram(inverse, (&self.mixing * &column.mapv(f64::sqrt)).view());
                    } else {
                        let scaled = &self.mixing * &column;
                        dense::multiply(
                            inverse,
                            scaled.view(),
                            self.mixing.view(),
                            0.0,
                            product.view_mut(),
                        );
                    }
                    let d = d as isize;
                    matrix.slice_mut(s![i..;d, j..;d]).assign(&product);
                    matrix.slice_mut(s![j..;d, i..;d]).assign(&product);
                }
            }
        }
        self.add_repulsion(&mut matrix);
        Ok(matrix)
    }

    fn add_repulsion(&self, matrix: &mut Array2<f64>) {
        let (n, d) = self.shape();
        let (y, slope) = (self.kernel.transformed, self.kernel.slope);
        if slope.iter().all(|&g| g == 0.0) {
            return;
        }
        let root = (n as f64).sqrt().recip();
        let g = Array2::from_shape_fn((n, n * d), |(p, column)| {
            let (m, i) = (column / d, column % d);
            root * slope[(p, m)] * (y[(p, i)] - y[(m, i)])
        });
        match self.coupling {
            Coupling::Gram => dense::multiply(1.0, g.t(), g.view(), 1.0, matrix.view_mut()),
            Coupling::Exact => {
                let products = dense::product(g.t(), g.view());
                for m in 0..n {
                    for q in 0..n {
                        let block = products.slice(block_of(m, q, d));
                        matrix
                            .slice_mut(block_of(m, q, d))
                            .scaled_add(1.0, &block.t());
                    }
                }
            }
            Coupling::BlockRepulsion | Coupling::BlockDiagonal => {
                for m in 0..n {
                    let own = g.slice(s![.., m * d..(m + 1) * d]);
                    let mut block = matrix.slice_mut(block_of(m, m, d));
                    dense::multiply(1.0, own.t(), own.view(), 1.0, block.view_mut());
                }
            }
        }
    }
}

/// Block `(m, q)` of an `N d × N d` matrix.
fn block_of(
    m: usize,
    q: usize,
    d: usize,
) -> ndarray::SliceInfo<[ndarray::SliceInfoElem; 2], ndarray::Ix2, ndarray::Ix2> {
    s![m * d..(m + 1) * d, q * d..(q + 1) * d]
}
