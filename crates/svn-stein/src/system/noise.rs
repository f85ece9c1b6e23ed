//! Draws from `N(0, A)`, the covariance that the stochastic Newton step needs.
//!
//! ```text
//! ξ = (1/√N) K̃ [ (H_p + λ I)^½ z_p ]_p + (I ⊗ Yᵀ) F z'           coupled
//! ξ_m = (1/√N) Σ_p K_pm (H_p + λ I)^½ z_pm + (I ⊗ Yᵀ) F z'       block-diagonal
//! A⁻¹ ξ ~ N(0, A⁻¹),   so that K A⁻¹ ξ has the law of K U⁻¹ B with UᵀU = A
//! ```
//!
//! Any solver of `A` samples; no factor of the whole is needed. The indefinite `exact` coupling is assembled densely.

use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut2, Axis};
use svn_linalg::{Cholesky, CholeskyParams};

use super::SvnSystem;
use crate::error::SteinError;
use crate::noise::Normals;
use crate::repulsion::{Coupling, factor};
use crate::target::Curvature;

impl SvnSystem<'_> {
    /// `out ~ N(0, A)`, a function of `seed` and `step`.
    ///
    /// # Shapes
    /// `out`: `N × d`.
    ///
    /// # Errors
    /// [`SteinError::Singular`] if `A` is not positive definite, which more damping cures.
    pub fn noise_into(
        &self,
        seed: u64,
        step: u64,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        let (n, d) = self.shape();
        let draw = |stream: usize, len: usize| -> Array1<f64> {
            let mut normals = Normals::new(seed, step, stream);
            Array1::from_shape_simple_fn(len, || normals.draw())
        };
        if self.coupling == Coupling::Exact && self.kernel.slope.iter().any(|&g| g != 0.0) {
            let cholesky = self.factorize(self.assemble()?)?;
            let z = Array1::from_iter((0..n).flat_map(|p| draw(p, d)));
            out.iter_mut()
                .zip(cholesky.lower().dot(&z))
                .for_each(|(o, x)| *o = x);
            return Ok(());
        }
        let root = (n as f64).sqrt().recip();
        let block = self.is_block_diagonal();
        let k = if block {
            self.kernel.kernel
        } else {
            self.mixing.view()
        };
        out.fill(0.0);
        let rank = match &self.curvature {
            Curvature::LowRank(low) => low.rows.count(),
            _ => 0,
        };
        for p in 0..n {
            let roots = self.curvature_root(p)?;
            if block {
                for m in (0..n).filter(|&m| k[(p, m)] != 0.0) {
                    let x = self.shape_noise(p, &roots, draw(n + p * n + m, d + rank).view());
                    out.row_mut(m).scaled_add(root * k[(p, m)], &x);
                }
            } else {
                let x = self.shape_noise(p, &roots, draw(n + p, d + rank).view());
                for m in 0..n {
                    out.row_mut(m).scaled_add(root * k[(p, m)], &x);
                }
            }
        }
        if let Some(repulsion) = factor(self.coupling, self.kernel.slope) {
            let z = draw(n + n * n, repulsion.rank());
            let mut b = Array2::<f64>::zeros((n, n));
            for (column, &z) in repulsion.columns.outer_iter().zip(&z) {
                b.scaled_add(z, &column);
            }
            ndarray::linalg::general_mat_mul(1.0, &b, &self.kernel.transformed, 1.0, &mut out);
        }
        Ok(())
    }

    /// Lower Cholesky factor of `H_p + λ I` where one is needed.
    fn curvature_root(&self, p: usize) -> Result<Option<Cholesky>, SteinError> {
        match &self.curvature {
            Curvature::Dense(h) => {
                let mut matrix = h.index_axis(Axis(0), p).to_owned();
                matrix.diag_mut().mapv_inplace(|x| x + self.damping);
                self.factorize(matrix).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `(H_p + λ I)^½ z`.
    fn shape_noise(
        &self,
        p: usize,
        root: &Option<Cholesky>,
        z: ArrayView1<'_, f64>,
    ) -> Array1<f64> {
        let d = self.shape().1;
        let (z, extra) = z.split_at(Axis(0), d);
        match &self.curvature {
            Curvature::LowRank(low) => {
                let mut out = z.insert_axis(Axis(0)).to_owned();
                let shift = (low.shift + self.damping).sqrt();
                let extra = extra.insert_axis(Axis(0));
                low.rows
                    .combine_into(p, low.weight.sqrt(), extra, shift, out.view_mut());
                out.index_axis_move(Axis(0), 0)
            }
            Curvature::Diagonal(h) => {
                let h = h.row(p);
                Array1::from_shape_fn(d, |i| (h[i] + self.damping).sqrt() * z[i])
            }
            Curvature::Dense(_) => root
                .as_ref()
                .map_or_else(|| z.to_owned(), |c| c.lower().dot(&z)),
            Curvature::Factored(f) => {
                // (H + λ) W z with W Wᵀ = (H + λ)⁻¹.
                let mut out = Array2::zeros((1, d));
                if let Ok(factor) = f.factor(p, self.damping) {
                    let mut w = Array2::zeros((d, 1));
                    factor.inverse_sqrt_into(z.insert_axis(Axis(1)), w.view_mut());
                    self.curvature
                        .apply_one_into(p, w.t(), self.damping, out.view_mut());
                } else {
                    out.fill(f64::NAN);
                }
                out.index_axis_move(Axis(0), 0)
            }
        }
    }

    fn factorize(&self, matrix: Array2<f64>) -> Result<Cholesky, SteinError> {
        Cholesky::factorize(matrix.view(), &CholeskyParams::strict()).map_err(|e| {
            SteinError::Singular {
                coupling: self.coupling.name(),
                size: matrix.nrows(),
                reason: e.to_string(),
            }
        })
    }
}
