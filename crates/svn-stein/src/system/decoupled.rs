//! The data part with particles decoupled: one factor of `H_p + λ I` a particle, whatever the curvature.
//!
//! ```text
//! A₀ = (1/N) K blockdiag(H_p + λ I) K + ρ I  ≈  (1/N) K̃ blockdiag(H_p + λ I) K̃,   K̃ = (K² + ridge I)^½
//! inverse  N K̃⁻¹ blockdiag(H_p + λ I)⁻¹ K̃⁻¹
//! T = N Σ_p W_pᵀ Θ_p W_p,   Θ_p = Y (H_p + λ I)⁻¹ Yᵀ,   W_p[a, f] = Σ_m K̃⁻¹_pm F_(m,a),f
//! ```
//!
//! The coupled system factors this way because `k_p k_pᵀ` couples the blocks only through `K`. The two sides agree
//! on the multiple of the identity and differ elsewhere by `ridge / (2 λ_min(K)²)`, so this is an excellent
//! preconditioner, and for a well-conditioned `K` nearly the inverse: `N` factors of size `R` instead of one of `N R`.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;
use svn_linalg::{Cholesky, CholeskyParams, Factor, SymmetricEigen};

use super::SvnSystem;
use super::reduced::symmetrise;
use super::rows::RowGram;
use super::woodbury::{Base, solve_vector};
use crate::error::SteinError;
use crate::repulsion::RepulsionFactor;
use crate::target::{Curvature, LowRank};

/// `(H_p + λ I)⁻¹` of every particle.
enum Factors<'s> {
    LowRank {
        low: LowRank<'s>,
        mu: f64,
        cholesky: Vec<Option<Cholesky>>,
    },
    Diagonal(Array2<f64>),
    Boxed(Vec<Box<dyn Factor + 's>>),
}

pub(super) struct Decoupled<'s> {
    factors: Factors<'s>,
    /// `K̃⁻¹`.
    root: Array2<f64>,
    transformed: ArrayView2<'s, f64>,
    coupling: &'static str,
}

impl<'s> Decoupled<'s> {
    /// `ridge / (2 λ_min(K)²)` relative to `μ`: how far the approximation is from the system.
    pub fn defect(system: &SvnSystem<'_>, mu: f64) -> Result<f64, SteinError> {
        let eigen = eigen_of(system)?;
        let smallest = eigen
            .values()
            .iter()
            .fold(f64::INFINITY, |m, x| m.min(x.abs()));
        let n = system.shape().0 as f64;
        Ok(system.ridge * n / mu / (2.0 * smallest * smallest))
    }

    pub fn new(system: &'s SvnSystem<'_>, rows: &mut RowGram) -> Result<Self, SteinError> {
        let n = system.shape().0;
        let damping = system.damping;
        let singular = |size: usize, reason: String| SteinError::Singular {
            coupling: system.coupling.name(),
            size,
            reason,
        };
        let scale = damping + system.curvature.scale();
        let eigen = eigen_of(system)?;
        let relative = if scale > 0.0 {
            system.ridge * n as f64 / scale
        } else {
            0.0
        };
        let inverse = eigen.values().mapv(|x| (x * x + relative).sqrt().recip());
        if !inverse.iter().all(|x| x.is_finite()) {
            return Err(singular(
                n,
                "the kernel matrix is singular and the ridge is zero".into(),
            ));
        }
        let root = (&eigen.vectors() * &inverse).dot(&eigen.vectors().t());
        let factors = match &system.curvature {
            Curvature::LowRank(low) => {
                let low = LowRank {
                    rows: low.rows.view(),
                    weight: low.weight,
                    shift: low.shift,
                };
                let mu = low.shift + damping;
                if mu <= 0.0 {
                    return Err(singular(
                        n,
                        "neither damping nor prior precision is positive".into(),
                    ));
                }
                rows.update(low.rows, system.kernel.transformed, |p, q| p == q);
                let r = low.rows.dim().1;
                let rows = &*rows;
                let cholesky = (0..n)
                    .into_par_iter()
                    .map(|p| {
                        if r == 0 || low.weight == 0.0 {
                            return Ok(None);
                        }
                        let mut matrix = rows.block(p, p).mapv(|e| e * low.weight / mu);
                        matrix.diag_mut().mapv_inplace(|x| x + 1.0);
                        Cholesky::factorize(matrix.view(), &CholeskyParams::default())
                            .map(Some)
                            .map_err(|e| singular(r, e.to_string()))
                    })
                    .collect::<Result<_, _>>()?;
                Factors::LowRank { low, mu, cholesky }
            }
            Curvature::Diagonal(h) => {
                let damped = h.mapv(|h| h + damping);
                if damped.iter().any(|&x| x <= 0.0) {
                    return Err(singular(
                        n,
                        "a coordinate has neither curvature nor damping".into(),
                    ));
                }
                Factors::Diagonal(damped)
            }
            Curvature::Dense(h) => Factors::Boxed(
                h.outer_iter()
                    .map(|h| {
                        Cholesky::factorize_with_damping(h, damping, &CholeskyParams::default())
                            .map(|c| Box::new(c) as Box<dyn Factor>)
                            .map_err(|e| singular(h.nrows(), e.to_string()))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            Curvature::Factored(f) => Factors::Boxed(
                (0..n)
                    .map(|p| {
                        f.factor(p, damping)
                            .map_err(|e| singular(f.dim(), format!("particle {p}: {e}")))
                    })
                    .collect::<Result<_, _>>()?,
            ),
        };
        let transformed = system.kernel.transformed.view();
        Ok(Self {
            factors,
            root,
            transformed,
            coupling: system.coupling.name(),
        })
    }

    /// `out_k = (H_p + λ I)⁻¹ u_k` for the rows of `u`.
    fn solve_one(
        &self,
        p: usize,
        u: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        match &self.factors {
            Factors::LowRank { low, mu, cholesky } => {
                out.zip_mut_with(&u, |o, &u| *o = u / mu);
                let Some(cholesky) = cholesky.get(p).and_then(Option::as_ref) else {
                    return Ok(());
                };
                let rows = low.rows.index_axis(Axis(0), p);
                for (u, mut out) in u.rows().into_iter().zip(out.rows_mut()) {
                    let z = solve_vector(cholesky, rows.dot(&u).view(), self.coupling)?;
                    let factor = -low.weight / (mu * mu);
                    ndarray::linalg::general_mat_vec_mul(factor, &rows.t(), &z, 1.0, &mut out);
                }
            }
            Factors::Diagonal(h) => {
                for (u, mut out) in u.rows().into_iter().zip(out.rows_mut()) {
                    ndarray::Zip::from(&mut out)
                        .and(&u)
                        .and(&h.row(p))
                        .for_each(|o, &u, &h| *o = u / h);
                }
            }
            Factors::Boxed(factors) => factors[p].solve_into(u.t(), out.reversed_axes()),
        }
        Ok(())
    }
}

impl Base for Decoupled<'_> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        let n = rhs.nrows();
        let mixed = self.root.dot(&rhs);
        let mut solved = Array2::zeros(rhs.dim());
        for p in 0..n {
            self.solve_one(
                p,
                mixed.slice(s![p..=p, ..]),
                solved.slice_mut(s![p..=p, ..]),
            )?;
        }
        ndarray::linalg::general_mat_mul(n as f64, &self.root, &solved, 0.0, &mut out);
        Ok(())
    }

    fn project(&self, factor: &RepulsionFactor) -> Result<Array2<f64>, SteinError> {
        let (f, n, _) = factor.columns.dim();
        let mut t = Array2::zeros((f, f));
        let mut solved = Array2::zeros(self.transformed.dim());
        let mut w = Array2::zeros((f, n));
        for p in 0..n {
            self.solve_one(p, self.transformed, solved.view_mut())?;
            let mut theta = self.transformed.dot(&solved.t());
            symmetrise(&mut theta);
            for (mut w, b) in w.rows_mut().into_iter().zip(factor.columns.outer_iter()) {
                ndarray::linalg::general_mat_vec_mul(1.0, &b.t(), &self.root.row(p), 0.0, &mut w);
            }
            ndarray::linalg::general_mat_mul(n as f64, &w.dot(&theta), &w.t(), 1.0, &mut t);
        }
        symmetrise(&mut t);
        Ok(t)
    }

    fn size(&self) -> usize {
        match &self.factors {
            Factors::LowRank { low, .. } => low.rows.dim().1,
            Factors::Diagonal(_) => 1,
            Factors::Boxed(factors) => factors.first().map_or(0, |f| f.dim()),
        }
    }
}

fn eigen_of(system: &SvnSystem<'_>) -> Result<SymmetricEigen, SteinError> {
    SymmetricEigen::factorize(system.kernel.kernel).map_err(|e| SteinError::Singular {
        coupling: system.coupling.name(),
        size: system.shape().0,
        reason: e.to_string(),
    })
}
