//! Low-rank curvature: the data part through the Gram matrix of its rows.
//!
//! ```text
//! A₀ = P ⊗ I_d + U Uᵀ,   P = (μ/N) K² + ρ I_N,   U_(p,i) = √(w/N) k_p ⊗ J_p[i]          N R columns
//! A₀⁻¹ v = C v − C U (I + W)⁻¹ Uᵀ C v,   C = P⁻¹ ⊗ I_d
//! W_(p,i),(q,j) = (w/N) (K P⁻¹ K)_pq J_p[i]·J_q[j]       an elementwise scaling of one Gram matrix
//! ```
//!
//! The rank is `N R`, not `N` times that, because `H_p` enters every block of the system through `k_p k_pᵀ` alone.
//! Rows that are all zero only add ones to the diagonal of `I + W`.

use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayViewMut2, Axis, s};
use svn_linalg::{Cholesky, CholeskyParams, Factor as _, SymmetricEigen};

use super::SvnSystem;
use super::rows::RowGram;
use super::woodbury::{Base, solve_vector};
use crate::error::SteinError;
use crate::repulsion::RepulsionFactor;
use crate::target::LowRank;

pub(super) struct Reduced<'s, 'a> {
    low: LowRank<'a>,
    /// `P⁻¹` and `K P⁻¹`, `N × N`.
    inverse: Array2<f64>,
    kernel_inverse: Array2<f64>,
    cholesky: Option<Cholesky>,
    rows: &'s RowGram,
    scale: f64,
    coupling: &'static str,
}

impl<'s, 'a> Reduced<'s, 'a> {
    pub fn new(
        system: &SvnSystem<'a>,
        low: &LowRank<'a>,
        rows: &'s mut RowGram,
    ) -> Result<Self, SteinError> {
        let coupling = system.coupling.name();
        let (n, r, _) = low.rows.dim();
        let k = system.kernel.kernel;
        let mu = low.shift + system.damping;
        let singular = |reason: String| SteinError::Singular {
            coupling,
            size: n,
            reason,
        };
        let eigen = SymmetricEigen::factorize(k).map_err(|e| singular(e.to_string()))?;
        let (values, vectors) = (eigen.values(), eigen.vectors());
        let function = |f: &dyn Fn(f64) -> f64| -> Array2<f64> {
            let scaled = &vectors * &values.mapv(f);
            scaled.dot(&vectors.t())
        };
        let p = |x: f64| mu / n as f64 * x * x + system.ridge;
        if values
            .iter()
            .any(|&x| !(p(x) > 0.0 && p(x).recip().is_finite()))
        {
            return Err(singular(
                "the kernel matrix is singular and neither damping nor ridge is positive".into(),
            ));
        }
        let inverse = function(&|x| p(x).recip());
        let kernel_inverse = function(&|x| x / p(x));
        let both = function(&|x| x * x / p(x));
        rows.update(low.rows, system.kernel.transformed, |_, _| true);
        let rows: &'s RowGram = rows;
        let scale = (low.weight / n as f64).sqrt();
        let cholesky = if r == 0 || low.weight == 0.0 {
            None
        } else {
            let mut w = Array2::<f64>::zeros((n * r, n * r));
            for p in 0..n {
                for q in 0..n {
                    let factor = scale * scale * both[(p, q)];
                    w.slice_mut(s![p * r..(p + 1) * r, q * r..(q + 1) * r])
                        .zip_mut_with(&rows.block(p, q), |w, &e| *w = factor * e);
                }
            }
            w.diag_mut().mapv_inplace(|x| x + 1.0);
            Some(
                Cholesky::factorize(w.view(), &CholeskyParams::default()).map_err(|e| {
                    SteinError::Singular {
                        coupling,
                        size: n * r,
                        reason: e.to_string(),
                    }
                })?,
            )
        };
        Ok(Self {
            low: *low,
            inverse,
            kernel_inverse,
            cholesky,
            rows,
            scale,
            coupling,
        })
    }
}

impl Base for Reduced<'_, '_> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        ndarray::linalg::general_mat_mul(1.0, &self.inverse, &rhs, 0.0, &mut out);
        let Some(cholesky) = &self.cholesky else {
            return Ok(());
        };
        let (n, r, _) = self.low.rows.dim();
        let mut mixed = self.kernel_inverse.dot(&rhs);
        let mut z = Array1::zeros(n * r);
        for p in 0..n {
            let projected = self.low.rows.index_axis(Axis(0), p).dot(&mixed.row(p));
            z.slice_mut(s![p * r..(p + 1) * r])
                .assign(&(projected * self.scale));
        }
        let z = solve_vector(cholesky, z.view(), self.coupling)?;
        for p in 0..n {
            let rows = self.low.rows.index_axis(Axis(0), p);
            let part = z.slice(s![p * r..(p + 1) * r]);
            ndarray::linalg::general_mat_vec_mul(
                self.scale,
                &rows.t(),
                &part,
                0.0,
                &mut mixed.row_mut(p),
            );
        }
        ndarray::linalg::general_mat_mul(-1.0, &self.kernel_inverse.t(), &mixed, 1.0, &mut out);
        Ok(())
    }

    fn project(&self, factor: &RepulsionFactor) -> Result<Array2<f64>, SteinError> {
        let (f, n, _) = factor.columns.dim();
        let r = self.low.rows.dim().1;
        let outer = self.rows.transformed();
        let mut image = Array2::zeros((f, n * n));
        // mixed[q, a, f] = (K P⁻¹ B_f)_qa
        let mut mixed = Array3::zeros((n, n, f));
        for (i, b) in factor.columns.outer_iter().enumerate() {
            let product = self.inverse.dot(&b).dot(&outer);
            image
                .row_mut(i)
                .iter_mut()
                .zip(&product)
                .for_each(|(o, &x)| *o = x);
            mixed
                .slice_mut(s![.., .., i])
                .assign(&self.kernel_inverse.dot(&b));
        }
        let columns = factor
            .columns
            .view()
            .into_shape_with_order((f, n * n))
            .map_err(|e| SteinError::Singular {
                coupling: self.coupling,
                size: f,
                reason: e.to_string(),
            })?;
        let mut t = columns.dot(&image.t());
        if let Some(cholesky) = &self.cholesky {
            let mut z = Array2::zeros((n * r, f));
            for q in 0..n {
                let block = self.rows.cross(q).dot(&mixed.index_axis(Axis(0), q)) * self.scale;
                z.slice_mut(s![q * r..(q + 1) * r, ..]).assign(&block);
            }
            let solved = cholesky.solve(z.view()).map_err(|e| SteinError::Singular {
                coupling: self.coupling,
                size: n * r,
                reason: e.to_string(),
            })?;
            t -= &z.t().dot(&solved);
        }
        symmetrise(&mut t);
        Ok(t)
    }

    fn size(&self) -> usize {
        let (n, r, _) = self.low.rows.dim();
        n * r
    }
}

/// Average a matrix with its transpose: removes the rounding that would hide definiteness.
pub(super) fn symmetrise(t: &mut Array2<f64>) {
    for i in 0..t.nrows() {
        for j in 0..i {
            let mean = 0.5 * (t[(i, j)] + t[(j, i)]);
            t[(i, j)] = mean;
            t[(j, i)] = mean;
        }
    }
}
