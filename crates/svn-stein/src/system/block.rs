//! Block-diagonal coupling: `N` independent systems, solved in parallel.
//!
//! ```text
//! h_mm = (1/N) Σ_p [ K_pm² (H_p + λ I) + G_pm G_pmᵀ ] + ρ I
//! low rank  h_mm = c_m I + U Uᵀ,  c_m = (μ/N) Σ_p K_pm² + ρ,  columns of U: √(w/N) K_pm J_p[i] and G_pm/√N
//! diagonal  h_mm = D_m + Z Zᵀ,    D_m = (1/N) Σ_p K_pm² (h_p + λ) + ρ,  columns of Z: G_pm/√N
//! ```
//!
//! Particles whose `K_pm² w ‖J_p‖²` is below rounding against `N c_m` are left out, so without interaction each
//! system has `R` rows. The Gram matrix is made of blocks of the one that the coupled solve uses.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, Zip, s};
use rayon::prelude::*;
use svn_linalg::{Cholesky, CholeskyParams, Factor as _};

use super::SvnSystem;
use super::direct::Inverse;
use super::rows::RowGram;
use super::woodbury::solve_vector;
use crate::error::SteinError;
use crate::target::{Curvature, FactoredCurvature, LowRank};

const COUPLING: &str = "block-diagonal";

/// Entries of all factors together up to which they are kept from one solve to the next.
const KEPT: usize = 1 << 26;

/// The `N` systems.
pub(super) struct PerParticle<'s, 'a> {
    system: &'s SvnSystem<'a>,
    rows: &'s RowGram,
    /// Interacting particles of each system (low rank only).
    active: Vec<Vec<usize>>,
    /// Factors (low rank only), if there is room for all; else each is made, used and dropped.
    factors: Vec<Cholesky>,
}

impl<'s, 'a> PerParticle<'s, 'a> {
    pub fn new(system: &'s SvnSystem<'a>, rows: &'s mut RowGram) -> Result<Self, SteinError> {
        let n = system.shape().0;
        let mut active = vec![Vec::new(); n];
        let Curvature::LowRank(low) = &system.curvature else {
            return Ok(Self {
                system,
                rows,
                active,
                factors: Vec::new(),
            });
        };
        let size: Vec<f64> = low
            .rows
            .outer_iter()
            .map(|j| low.weight * j.iter().map(|x| x * x).sum::<f64>())
            .collect();
        for (m, active) in active.iter_mut().enumerate() {
            let floor = f64::EPSILON * n as f64 * system.shift(m, low);
            active
                .extend((0..n).filter(|&p| system.kernel.kernel[(p, m)].powi(2) * size[p] > floor));
        }
        let needed = |p: usize, q: usize| active.iter().any(|a| a.contains(&p) && a.contains(&q));
        rows.update(low.rows, system.kernel.transformed, needed);
        let mut all = Self {
            system,
            rows,
            active,
            factors: Vec::new(),
        };
        let sizes: Vec<usize> = (0..n)
            .map(|m| all.active[m].len() * low.rows.dim().1 + all.repelling(m).len())
            .collect();
        if sizes.iter().all(|&s| s > 0) && sizes.iter().map(|s| s * s).sum::<usize>() <= KEPT {
            all.factors = (0..n)
                .into_par_iter()
                .map(|m| all.factorize_low_rank(m, low, &all.repulsion(m, &all.repelling(m))))
                .collect::<Result<_, _>>()?;
        }
        Ok(all)
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
            Curvature::LowRank(low) => self.solve_low_rank(m, low, &g, rhs, out),
            Curvature::Diagonal(h) => self.solve_diagonal(m, *h, &g, rhs, out),
            Curvature::Dense(_) => self.solve_dense(m, &g, rhs, out),
            Curvature::Factored(f) => self.solve_factored(m, *f, &g, rhs, out),
        }
    }

    /// `√(w/N) K_pm` of the active particles.
    fn weights(&self, m: usize, low: &LowRank<'_>) -> Vec<f64> {
        let n = self.system.shape().0 as f64;
        let root = (low.weight / n).sqrt();
        self.active[m]
            .iter()
            .map(|&p| self.system.kernel.kernel[(p, m)] * root)
            .collect()
    }

    /// Cholesky factor of `c_m I + Uᵀ U`.
    fn factorize_low_rank(
        &self,
        m: usize,
        low: &LowRank<'_>,
        g: &Array2<f64>,
    ) -> Result<Cholesky, SteinError> {
        let r = low.rows.dim().1;
        let active = &self.active[m];
        let weights = self.weights(m, low);
        let data = active.len() * r;
        let size = data + g.nrows();
        let mut gram = Array2::<f64>::zeros((size, size));
        for (i, (&p, &a)) in active.iter().zip(&weights).enumerate() {
            for (j, (&q, &b)) in active.iter().zip(&weights).enumerate() {
                gram.slice_mut(s![i * r..(i + 1) * r, j * r..(j + 1) * r])
                    .zip_mut_with(&self.rows.block(p, q), |w, &e| *w = a * b * e);
            }
            let cross = low.rows.index_axis(Axis(0), p).dot(&g.t()) * a;
            gram.slice_mut(s![i * r..(i + 1) * r, data..])
                .assign(&cross);
            gram.slice_mut(s![data.., i * r..(i + 1) * r])
                .assign(&cross.t());
        }
        gram.slice_mut(s![data.., data..]).assign(&g.dot(&g.t()));
        Cholesky::factorize_with_damping(
            gram.view(),
            self.system.shift(m, low),
            &CholeskyParams::default(),
        )
        .map_err(|e| SteinError::Singular {
            coupling: COUPLING,
            size,
            reason: e.to_string(),
        })
    }

    fn solve_low_rank(
        &self,
        m: usize,
        low: &LowRank<'_>,
        g: &Array2<f64>,
        rhs: ArrayView1<'_, f64>,
        mut out: ArrayViewMut1<'_, f64>,
    ) -> Result<(), SteinError> {
        let r = low.rows.dim().1;
        let c = self.system.shift(m, low);
        let active = &self.active[m];
        let weights = self.weights(m, low);
        let data = active.len() * r;
        let size = data + g.nrows();
        if c <= 0.0 {
            let reason = "neither damping, prior precision nor ridge is positive".into();
            return Err(SteinError::Singular {
                coupling: COUPLING,
                size,
                reason,
            });
        }
        // Uᵀ v, then v − U (c I + Uᵀ U)⁻¹ Uᵀ v.
        let mut z = Array1::zeros(size);
        for (i, (&p, &a)) in active.iter().zip(&weights).enumerate() {
            z.slice_mut(s![i * r..(i + 1) * r])
                .assign(&(low.rows.index_axis(Axis(0), p).dot(&rhs) * a));
        }
        z.slice_mut(s![data..]).assign(&g.dot(&rhs));
        out.assign(&rhs);
        if size > 0 {
            let z = match self.factors.get(m) {
                Some(kept) => solve_vector(kept, z.view(), COUPLING)?,
                None => solve_vector(&self.factorize_low_rank(m, low, g)?, z.view(), COUPLING)?,
            };
            for (i, (&p, &a)) in active.iter().zip(&weights).enumerate() {
                let rows = low.rows.index_axis(Axis(0), p);
                let part = z.slice(s![i * r..(i + 1) * r]);
                ndarray::linalg::general_mat_vec_mul(-a, &rows.t(), &part, 1.0, &mut out);
            }
            ndarray::linalg::general_mat_vec_mul(-1.0, &g.t(), &z.slice(s![data..]), 1.0, &mut out);
        }
        out /= c;
        Ok(())
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
        let mut diagonal = Array1::from_elem(d, system.ridge);
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

    /// `h_mm ≈ σ (H_m + λ I) + ρ I + Σ G Gᵀ / N` with `σ = Σ_p K_pm² / N`: exact without interaction, else the
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
            .factor(m, system.damping + system.ridge / sigma)
            .map_err(|e| singular(format!("particle {m}: {e}")))?;
        let base = factor.solve_vec(rhs).map_err(|e| singular(e.to_string()))? / sigma;
        out.assign(&base);
        if g.nrows() > 0 {
            let solved = factor.solve(g.t()).map_err(|e| singular(e.to_string()))? / sigma;
            let mut small = g.dot(&solved);
            super::reduced::symmetrise(&mut small);
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
        g: &Array2<f64>,
        rhs: ArrayView1<'_, f64>,
        mut out: ArrayViewMut1<'_, f64>,
    ) -> Result<(), SteinError> {
        let system = self.system;
        let (n, d) = system.shape();
        let mut matrix = g.t().dot(g);
        let mut h = Array2::zeros((d, d));
        let eye = Array2::eye(d);
        for p in 0..n {
            let weight = system.kernel.kernel[(p, m)].powi(2) / n as f64;
            if weight > 0.0 {
                system
                    .curvature
                    .apply_one_into(p, eye.view(), system.damping, h.view_mut());
                matrix.scaled_add(weight, &h);
            }
        }
        matrix.diag_mut().mapv_inplace(|x| x + system.ridge);
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
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        out.axis_iter_mut(Axis(0))
            .into_par_iter()
            .enumerate()
            .map(|(m, out)| self.solve_one(m, rhs.row(m), out))
            .collect()
    }

    fn size(&self) -> usize {
        let d = self.system.shape().1;
        match &self.system.curvature {
            Curvature::LowRank(low) => {
                let active = self.active.iter().map(Vec::len).max().unwrap_or(0);
                active * low.rows.dim().1
            }
            Curvature::Diagonal(_) => self.system.shape().0,
            Curvature::Dense(_) | Curvature::Factored(_) => d,
        }
    }
}

impl SvnSystem<'_> {
    /// `c_m`: the multiple of the identity in block `m`.
    fn shift(&self, m: usize, low: &LowRank<'_>) -> f64 {
        let sum: f64 = self.kernel.kernel.column(m).iter().map(|k| k * k).sum();
        (low.shift + self.damping) / self.shape().0 as f64 * sum + self.ridge
    }
}
