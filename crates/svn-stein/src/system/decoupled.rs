//! One factor of `H_p + λ I` a particle, whatever the curvature.
//!
//! ```text
//! low rank  (H_p + λ I)⁻¹ = (1/μ) [ I − (w/μ) J_pᵀ C_p⁻¹ J_p ],   C_p = I + (w/μ) J_p J_pᵀ,   μ = δ + λ
//! Θ_p       = Y (H_p + λ I)⁻¹ Yᵀ                                      N × N
//!           = (1/μ) [ Y Yᵀ − (w/μ) P_p C_p⁻¹ P_pᵀ ],   P_p = Y J_pᵀ    nothing of size d but P_p
//! ```

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Axis, Zip, s};
use svn_linalg::{Cholesky, CholeskyParams, Factor};

use super::{SvnSystem, for_each_particle, symmetrise};
use crate::error::SteinError;
use crate::target::{Curvature, LowRank};

/// `(H_p + λ I)⁻¹` of every particle.
pub(super) enum Factors<'s> {
    LowRank(LowRankFactors<'s>),
    Diagonal(Array2<f64>),
    Boxed(Vec<Box<dyn Factor + 's>>),
}

/// Woodbury through the `R × R` matrices `C_p`.
pub(super) struct LowRankFactors<'s> {
    low: LowRank<'s>,
    mu: f64,
    /// Factors of `C_p`; none where the rows weigh nothing.
    cholesky: Vec<Option<Cholesky>>,
}

impl<'s> Factors<'s> {
    pub fn new(system: &'s SvnSystem<'_>) -> Result<Self, SteinError> {
        let n = system.shape().0;
        let damping = system.damping;
        let singular = |size: usize, reason: String| SteinError::Singular {
            coupling: system.coupling.name(),
            size,
            reason,
        };
        let params = CholeskyParams::default();
        Ok(match &system.curvature {
            Curvature::LowRank(low) => {
                let mu = low.shift + damping;
                if mu <= 0.0 {
                    let reason = "neither damping nor prior precision is positive".into();
                    return Err(singular(n, reason));
                }
                let r = low.rows.count();
                let matrix = |p: usize| {
                    let mut matrix = Array2::zeros((r, r));
                    low.rows.gram_into(p, p, matrix.view_mut());
                    matrix *= low.weight / mu;
                    matrix.diag_mut().mapv_inplace(|x| x + 1.0);
                    matrix
                };
                let factor = |p: usize| {
                    if r == 0 || low.weight == 0.0 {
                        return Ok(None);
                    }
                    // Only rounding can make it singular, and then a jitter is tried.
                    Cholesky::factorize_owned(matrix(p))
                        .or_else(|_| Cholesky::factorize(matrix(p).view(), &params))
                        .map(Some)
                        .map_err(|e| singular(r, e.to_string()))
                };
                Self::LowRank(LowRankFactors {
                    low: *low,
                    mu,
                    cholesky: for_each_particle(n, n * r * r * r / 6, factor)?,
                })
            }
            Curvature::Diagonal(h) => {
                let damped = h.mapv(|h| h + damping);
                if damped.iter().any(|&x| x <= 0.0) {
                    let reason = "a coordinate has neither curvature nor damping".into();
                    return Err(singular(n, reason));
                }
                Self::Diagonal(damped)
            }
            Curvature::Dense(h) => Self::Boxed(
                h.outer_iter()
                    .map(|h| {
                        Cholesky::factorize_with_damping(h, damping, &params)
                            .map(|c| Box::new(c) as Box<dyn Factor>)
                            .map_err(|e| singular(h.nrows(), e.to_string()))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            Curvature::Factored(f) => Self::Boxed(
                (0..n)
                    .map(|p| {
                        f.factor(p, damping)
                            .map_err(|e| singular(f.dim(), format!("particle {p}: {e}")))
                    })
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    /// Size of the largest matrix factorised.
    pub fn size(&self) -> usize {
        match self {
            Self::LowRank(factors) => factors.low.rows.count(),
            Self::Diagonal(_) => 1,
            Self::Boxed(factors) => factors.first().map_or(0, |f| f.dim()),
        }
    }

    /// `out_p = (H_p + λ I)⁻¹ x_p`, row by row.
    pub fn solve_rows_into(&self, x: ArrayView2<'_, f64>, out: &mut Array2<f64>) {
        match self {
            Self::LowRank(factors) => {
                out.assign(&x);
                for p in 0..x.nrows() {
                    let z = factors.project(p, x.slice(s![p..=p, ..]));
                    factors.finish(p, z, out);
                }
            }
            Self::Diagonal(h) => {
                Zip::from(out)
                    .and(x)
                    .and(h)
                    .for_each(|o, &x, &h| *o = x / h);
            }
            Self::Boxed(factors) => {
                for (p, factor) in factors.iter().enumerate() {
                    let rows = x.slice(s![p..=p, ..]);
                    factor.solve_into(rows.t(), out.slice_mut(s![p..=p, ..]).reversed_axes());
                }
            }
        }
    }

    /// `Θ_p`.
    pub fn theta(&self, p: usize, y: &Spanned<'_>) -> Result<Array2<f64>, SteinError> {
        let mut theta = match self {
            Self::LowRank(factors) => factors.theta(p, y),
            Self::Diagonal(h) => (&y.rows / &h.row(p)).dot(&y.rows.t()),
            Self::Boxed(factors) => {
                let mut solved = Array2::zeros(y.rows.dim());
                factors[p].solve_into(y.rows.t(), solved.view_mut().reversed_axes());
                y.rows.dot(&solved.t())
            }
        };
        symmetrise(&mut theta);
        Ok(theta)
    }
}

impl LowRankFactors<'_> {
    /// `x J_pᵀ`, `k × R`.
    pub fn project(&self, p: usize, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut out = Array2::zeros((x.nrows(), self.low.rows.count()));
        self.low.rows.project_into(p, x, out.view_mut());
        out
    }

    /// `C_p⁻¹ z` for the rows of `z` (`k × R`).
    pub fn solve_small(&self, p: usize, z: &Array2<f64>) -> Array2<f64> {
        match &self.cholesky[p] {
            Some(cholesky) => {
                let mut out = Array2::zeros((z.ncols(), z.nrows()));
                cholesky.solve_into(z.t(), out.view_mut());
                out.reversed_axes()
            }
            None => Array2::zeros(z.dim()),
        }
    }

    /// Row `p` of `out`, which holds `x`, becomes `(H_p + λ I)⁻¹ x`; `z = x J_pᵀ`.
    pub fn finish(&self, p: usize, z: Array2<f64>, out: &mut Array2<f64>) {
        let z = self.solve_small(p, &z);
        let scale = -self.low.weight / (self.mu * self.mu);
        let row = out.slice_mut(s![p..=p, ..]);
        self.low
            .rows
            .combine_into(p, scale, z.view(), self.mu.recip(), row);
    }

    /// `x (H_p + λ I)⁻¹ Yᵀ` for one row `x` with `x Yᵀ = inner` and `x J_pᵀ = z`.
    pub fn inner(
        &self,
        p: usize,
        inner: ArrayView2<'_, f64>,
        z: &Array2<f64>,
        y: &Spanned<'_>,
    ) -> Array2<f64> {
        let mut out = inner.to_owned();
        let solved = self.solve_small(p, z);
        let factor = -self.low.weight / self.mu;
        general_mat_mul(factor, &solved, &y.projected[p].t(), 1.0, &mut out);
        out / self.mu
    }

    fn theta(&self, p: usize, y: &Spanned<'_>) -> Array2<f64> {
        let mut theta = y.outer.clone();
        if let Some(cholesky) = &self.cholesky[p] {
            // Half a solve: P C⁻¹ Pᵀ = (L⁻¹ Pᵀ)ᵀ (L⁻¹ Pᵀ).
            let mut whitened = y.projected[p].t().as_standard_layout().into_owned();
            let shape = cholesky.solve_lower_inplace(whitened.view_mut());
            debug_assert!(shape.is_ok(), "one row of P for each row of J");
            let factor = -self.low.weight / self.mu;
            general_mat_mul(factor, &whitened.t(), &whitened, 1.0, &mut theta);
        }
        theta / self.mu
    }
}

/// `Y` with what the factors need of it.
pub(super) struct Spanned<'s> {
    pub rows: ArrayView2<'s, f64>,
    /// `Y Yᵀ`.
    outer: Array2<f64>,
    /// `P_p = Y J_pᵀ`, `N × R`; low rank only.
    pub projected: Vec<Array2<f64>>,
}

impl<'s> Spanned<'s> {
    pub fn new(y: ArrayView2<'s, f64>, factors: &Factors<'_>) -> Self {
        let projected = match factors {
            Factors::LowRank(low) => (0..y.len_of(Axis(0))).map(|p| low.project(p, y)).collect(),
            _ => Vec::new(),
        };
        Self {
            rows: y,
            outer: y.dot(&y.t()),
            projected,
        }
    }
}
