//! One factor of `H_p + λ I` a particle, and `Θ_p = Y (H_p + λ I)⁻¹ Yᵀ` (`N × N`) from it.
//!
//! Curvature with fewer rows than coordinates gives `Θ_p` and all inner products from `P_p = Y J_pᵀ` (`N × R`), without
//! leaving the span of the rows and of `Y`.

use ndarray::{Array2, ArrayView2, s};
use svn_linalg::{Factor, FactorError, LowRankFactor, Rows, dense, parallel};

use super::{SvnSystem, for_each_particle, for_each_row, symmetrise};
use crate::error::SteinError;

/// `(H_p + λ I)⁻¹` of every particle.
pub(super) enum Factors<'s> {
    /// On the side of the rows.
    Rows(Vec<RowFactor<'s>>),
    Any(Vec<Box<dyn Factor + 's>>),
}

pub(super) type RowFactor<'s> = LowRankFactor<Box<dyn Rows + 's>>;

impl<'s> Factors<'s> {
    pub(super) fn new(system: &SvnSystem<'s>) -> Result<Self, SteinError> {
        let n = system.shape().0;
        let (curvature, damping) = (system.curvature, system.damping);
        let size = curvature.factor_size();
        let work = n.saturating_mul(size.saturating_pow(3)) / 6;
        let singular =
            |p: usize, error: FactorError| system.singular(size, format!("particle {p}: {error}"));
        if let Some(low) = curvature.low_rank().filter(|low| low.is_flat()) {
            let factor = |p| low.factor_rows(p, damping).map_err(|e| singular(p, e));
            return Ok(Self::Rows(for_each_particle(n, work, factor)?));
        }
        let factor = |p| curvature.factor(p, damping).map_err(|e| singular(p, e));
        Ok(Self::Any(for_each_particle(n, work, factor)?))
    }

    /// `out_p = (H_p + λ I)⁻¹ x_p`, row by row.
    pub(super) fn solve_rows_into(
        &self,
        x: ArrayView2<'_, f64>,
        work: usize,
        out: &mut Array2<f64>,
    ) {
        for_each_row(out.view_mut(), work, |p, mut out| {
            let x = x.slice(s![p..=p, ..]);
            match self {
                Self::Rows(factors) => {
                    out.assign(&x);
                    factors[p].finish(factors[p].project(x).view(), out);
                }
                Self::Any(factors) => factors[p].solve_into(x.t(), out.reversed_axes()),
            }
        });
    }

    /// `Θ_p`.
    pub(super) fn theta(&self, p: usize, y: &Spanned<'_>) -> Array2<f64> {
        let mut theta = match self {
            Self::Rows(factors) => factors[p].quadratic_form(y.outer.view(), y.projected[p].view()),
            Self::Any(factors) => {
                let mut solved = Array2::zeros(y.rows.dim());
                factors[p].solve_into(y.rows.t(), solved.view_mut().reversed_axes());
                dense::product(y.rows, solved.t())
            }
        };
        symmetrise(&mut theta);
        theta
    }
}

/// `Y` with what the factors need of it.
pub(super) struct Spanned<'s> {
    pub rows: ArrayView2<'s, f64>,
    /// `Y Yᵀ`.
    outer: Array2<f64>,
    /// `P_p = Y J_pᵀ`, `N × R`; for factors on the side of the rows only.
    pub projected: Vec<Array2<f64>>,
}

impl<'s> Spanned<'s> {
    pub(super) fn new(y: ArrayView2<'s, f64>, work: usize, factors: &Factors<'_>) -> Self {
        let projected = match factors {
            Factors::Rows(factors) => parallel::map(factors.len(), work, |p| factors[p].project(y)),
            Factors::Any(_) => Vec::new(),
        };
        Self {
            rows: y,
            outer: dense::product(y, y.t()),
            projected,
        }
    }
}
