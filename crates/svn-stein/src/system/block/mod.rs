//! Block-diagonal coupling: `N` independent systems, solved in parallel.
//!
//! ```text
//! h_mm = (1/N) Σ_p [ K_pm² (H_p + λ I) + G_pm G_pmᵀ ]
//! diagonal  h_mm = D_m + Z Zᵀ,    D_m = (1/N) Σ_p K_pm² (h_p + λ),  columns of Z: G_pm/√N
//! ```
//!
//! Low-rank curvature has a file of its own.

mod low_rank;

use ndarray::{
    Array1, Array2, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, Axis, Zip,
};
use rayon::prelude::*;
use svn_linalg::{Cholesky, CholeskyParams, Factor as _};

use super::direct::Inverse;
use super::{Scratch, SvnSystem, solve_vector, symmetrise};
use crate::error::SteinError;
use crate::target::{Curvature, FactoredCurvature};
use low_rank::LowRankBlocks;

const COUPLING: &str = "block-diagonal";

/// The `N` systems.
pub(super) struct PerParticle<'s, 'a> {
    system: &'s SvnSystem<'a>,
    low_rank: Option<LowRankBlocks<'s>>,
}

impl<'s, 'a> PerParticle<'s, 'a> {
    pub fn new(system: &'s SvnSystem<'a>) -> Result<Self, SteinError> {
        let low_rank = match &system.curvature {
            Curvature::LowRank(low) => Some(LowRankBlocks::new(system, *low)?),
            _ => None,
        };
        Ok(Self { system, low_rank })
    }

    /// Particles `p ≠ m` that repel `m`.
    fn repelling(&self, m: usize) -> Vec<usize> {
        (0..self.system.shape().0)
            .filter(|&p| p != m && self.system.kernel.slope[(p, m)] != 0.0)
            .collect()
    }

    /// `G_pm / √N`, one row per repelling particle.
    fn repulsion(&self, m: usize, repelling: &[usize]) -> Array2<f64> {
        let (n, d) = self.system.shape();
        let y = self.system.kernel.transformed;
        let mut out = Array2::zeros((repelling.len(), d));
        for (mut row, &p) in out.rows_mut().into_iter().zip(repelling) {
            let g = self.system.kernel.slope[(p, m)] / (n as f64).sqrt();
            Zip::from(&mut row)
                .and(&y.row(p))
                .and(&y.row(m))
                .for_each(|o, &a, &b| *o = g * (a - b));
        }
        out
    }

    fn solve_one(
        &self,
        m: usize,
        rhs: ArrayView1<'_, f64>,
        out: ArrayViewMut1<'_, f64>,
    ) -> Result<(), SteinError> {
        let repelling = self.repelling(m);
        let g = self.repulsion(m, &repelling);
        match &self.system.curvature {
            // Handled together, by `LowRankBlocks`.
            Curvature::LowRank(_) => Ok(()),
            Curvature::Diagonal(h) => self.solve_diagonal(m, *h, &g, rhs, out),
            Curvature::Dense(h) => self.solve_dense(m, *h, &g, rhs, out),
            Curvature::Factored(f) => self.solve_factored(m, *f, &g, rhs, out),
        }
    }

    fn solve_diagonal(
        &self,
        m: usize,
        h: ArrayView2<'_, f64>,
        g: &Array2<f64>,
        rhs: ArrayView1<'_, f64>,
        mut out: ArrayViewMut1<'_, f64>,
    ) -> Result<(), SteinError> {
        let system = self.system;
        let (n, d) = system.shape();
        let mut diagonal = Array1::<f64>::zeros(d);
        for p in 0..n {
            let weight = system.kernel.kernel[(p, m)].powi(2) / n as f64;
            diagonal.zip_mut_with(&h.row(p), |o, &h| *o += weight * (h + system.damping));
        }
        let singular = |reason: String| SteinError::Singular {
            coupling: COUPLING,
            size: g.nrows(),
            reason,
        };
        if let Some(i) = diagonal.iter().position(|&x| x <= 0.0) {
            return Err(singular(format!(
                "coordinate {i} of particle {m} has no curvature and no damping"
            )));
        }
        let base = &rhs / &diagonal;
        out.assign(&base);
        if g.nrows() > 0 {
            let scaled = g / &diagonal;
            let mut small = scaled.dot(&g.t());
            small.diag_mut().mapv_inplace(|x| x + 1.0);
            let cholesky = Cholesky::factorize(small.view(), &CholeskyParams::default())
                .map_err(|e| singular(e.to_string()))?;
            let z = solve_vector(&cholesky, g.dot(&base).view(), COUPLING)?;
            ndarray::linalg::general_mat_vec_mul(-1.0, &scaled.t(), &z, 1.0, &mut out);
        }
        Ok(())
    }

    /// `h_mm ≈ σ (H_m + λ I) + Σ G Gᵀ / N` with `σ = Σ_p K_pm² / N`: exact without interaction, else the
    /// preconditioner.
    fn solve_factored(
        &self,
        m: usize,
        f: &dyn FactoredCurvature,
        g: &Array2<f64>,
        rhs: ArrayView1<'_, f64>,
        mut out: ArrayViewMut1<'_, f64>,
    ) -> Result<(), SteinError> {
        let system = self.system;
        let singular = |reason: String| SteinError::Singular {
            coupling: COUPLING,
            size: f.dim(),
            reason,
        };
        let squares: f64 = system.kernel.kernel.column(m).iter().map(|k| k * k).sum();
        let sigma = squares / system.shape().0 as f64;
        let factor = f
            .factor(m, system.damping)
            .map_err(|e| singular(format!("particle {m}: {e}")))?;
        let base = factor.solve_vec(rhs).map_err(|e| singular(e.to_string()))? / sigma;
        out.assign(&base);
        if g.nrows() > 0 {
            let solved = factor.solve(g.t()).map_err(|e| singular(e.to_string()))? / sigma;
            let mut small = g.dot(&solved);
            symmetrise(&mut small);
            small.diag_mut().mapv_inplace(|x| x + 1.0);
            let cholesky = Cholesky::factorize(small.view(), &CholeskyParams::default())
                .map_err(|e| singular(e.to_string()))?;
            let z = solve_vector(&cholesky, g.dot(&base).view(), COUPLING)?;
            ndarray::linalg::general_mat_vec_mul(-1.0, &solved, &z, 1.0, &mut out);
        }
        Ok(())
    }

    fn solve_dense(
        &self,
        m: usize,
        h: ArrayView3<'_, f64>,
        g: &Array2<f64>,
        rhs: ArrayView1<'_, f64>,
        mut out: ArrayViewMut1<'_, f64>,
    ) -> Result<(), SteinError> {
        let system = self.system;
        let (n, d) = system.shape();
        let mut matrix = g.t().dot(g);
        for (p, h) in h.outer_iter().enumerate() {
            let weight = system.kernel.kernel[(p, m)].powi(2) / n as f64;
            if weight > 0.0 {
                matrix.scaled_add(weight, &h);
                let damping = weight * system.damping;
                matrix.diag_mut().mapv_inplace(|x| x + damping);
            }
        }
        let cholesky =
            Cholesky::factorize(matrix.view(), &CholeskyParams::default()).map_err(|e| {
                SteinError::Singular {
                    coupling: COUPLING,
                    size: d,
                    reason: e.to_string(),
                }
            })?;
        out.assign(&solve_vector(&cholesky, rhs, COUPLING)?);
        Ok(())
    }
}

impl Inverse for PerParticle<'_, '_> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        _scratch: &mut Scratch,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        if let Some(low_rank) = &self.low_rank {
            return low_rank.solve_into(rhs, out);
        }
        out.axis_iter_mut(Axis(0))
            .into_par_iter()
            .enumerate()
            .map(|(m, out)| self.solve_one(m, rhs.row(m), out))
            .collect()
    }

    fn size(&self) -> usize {
        let (n, d) = self.system.shape();
        match (&self.low_rank, &self.system.curvature) {
            (Some(low_rank), _) => low_rank.size(),
            (None, Curvature::Diagonal(_)) => n,
            _ => d,
        }
    }
}
