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
use svn_linalg::{Cholesky, CholeskyParams, Factor, ParticleOperators, dense};

use super::{SvnSystem, vector_product};
use crate::error::SteinError;
use crate::noise::Normals;
use crate::repulsion::{Coupling, factor};

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
                .zip(vector_product(cholesky.lower(), z.view()))
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
        let low = self.curvature.low_rank();
        let rank = low.map_or(0, |low| low.rows.count());
        for p in 0..n {
            let root_of = Root::new(self, p)?;
            if block {
                for m in (0..n).filter(|&m| k[(p, m)] != 0.0) {
                    let x = root_of.apply(draw(n + p * n + m, d + rank).view());
                    out.row_mut(m).scaled_add(root * k[(p, m)], &x);
                }
            } else {
                let x = root_of.apply(draw(n + p, d + rank).view());
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
            dense::multiply(
                1.0,
                b.view(),
                self.kernel.transformed.view(),
                1.0,
                out.view_mut(),
            );
        }
        Ok(())
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

/// `(H_p + λ I)^½`.
struct Root<'s> {
    curvature: &'s dyn ParticleOperators,
    particle: usize,
    damping: f64,
    /// None where rows serve: `√w J_pᵀ` beside `√(δ + λ) I`. Else `(H + λ) W` with `W Wᵀ = (H + λ)⁻¹`.
    factor: Option<Box<dyn Factor + 's>>,
}

impl<'s> Root<'s> {
    fn new(system: &SvnSystem<'s>, particle: usize) -> Result<Self, SteinError> {
        let (curvature, damping) = (system.curvature, system.damping);
        let factor = match curvature.low_rank() {
            Some(_) => None,
            None => Some(
                curvature
                    .factor(particle, damping)
                    .map_err(|e| system.singular(system.shape().1, e))?,
            ),
        };
        Ok(Self {
            curvature,
            particle,
            damping,
            factor,
        })
    }

    /// From `d + R` normal numbers, or `d` where there are no rows.
    fn apply(&self, z: ArrayView1<'_, f64>) -> Array1<f64> {
        let (z, extra) = z.split_at(Axis(0), self.curvature.dim());
        let mut out = z.insert_axis(Axis(0)).to_owned();
        match (&self.factor, self.curvature.low_rank()) {
            (Some(factor), _) => {
                let mut w = Array2::zeros((z.len(), 1));
                factor.inverse_sqrt_into(z.insert_axis(Axis(1)), w.view_mut());
                self.curvature
                    .multiply_into(self.particle, self.damping, w.t(), out.view_mut());
            }
            (None, Some(low)) => {
                let shift = (low.shift + self.damping).sqrt();
                let rows = low.rows.rows(self.particle);
                let extra = extra.insert_axis(Axis(0));
                rows.combine_into(low.weight.sqrt(), extra, shift, out.view_mut());
            }
            (None, None) => {}
        }
        out.index_axis_move(Axis(0), 0)
    }
}
