//! Block-diagonal coupling: `N` independent systems, each factored once.
//!
//! ```text
//! h_mm = Σ_p w_pm (H_p + λ I) + Z Zᵀ,    w_pm = K_pm² / N,    columns of Z: G_pm/√N
//! ```
//!
//! | where | way |
//! |---|---|
//! | rows of all particles together fewer than coordinates | their Gram matrix, see `low_rank` |
//! | more particles than coordinates | each block as a small matrix |
//! | else, no interaction | the factor of each particle's own `H_m + λ I` |
//! | else, if the family can factor the sum | that factor, the repulsion on top by Woodbury |
//! | else (Kronecker factors have no common eigenbasis) | the same with `(Σ_p w_pm)(H_m + λ I)` for the sum, as a preconditioner |

mod low_rank;
mod small;

use ndarray::{Array2, Array3, ArrayView2, ArrayViewMut2, Zip, s};
use svn_linalg::{
    Cholesky, CholeskyParams, Factor, LowRankView, MixedMemory, ScaledFactor, Woodbury, dense,
};

use super::inverse::Inverse;
use super::{Scratch, SvnSystem, for_each_particle, symmetrise};
use crate::error::SteinError;
use low_rank::LowRankBlocks;

/// The `N` systems, or something near them.
pub(super) struct Blocks<'s> {
    pub inverse: Box<dyn Inverse + 's>,
    /// Whether it is the inverse of the systems themselves and no preconditioner.
    pub exact: bool,
}

/// In the memory of matrices of the last step, where that fits.
pub(super) fn blocks<'s>(
    system: &'s SvnSystem<'_>,
    memory: Vec<MixedMemory>,
) -> Result<Blocks<'s>, SteinError> {
    let (n, d) = system.shape();
    let others = if system.is_decoupled() { 1 } else { n };
    // A factor that may be there already is that of a particle's own rows.
    let kept = |low: LowRankView<'_>| others == 1 && low.rows.kept_factors().is_some();
    if let Some(low) = system.curvature.low_rank()
        && others * low.rows.count() <= d
        && !kept(low)
    {
        return Ok(Blocks {
            inverse: Box::new(LowRankBlocks::new(system, low, memory)?),
            exact: true,
        });
    }
    if d < n {
        return few_coordinates(system);
    }
    let size = system.curvature.factor_size();
    let blocks = for_each_particle(n, n.saturating_mul(size.saturating_pow(3)) / 3, |m| {
        Block::new(system, m)
    })?;
    Ok(Blocks {
        exact: blocks.iter().all(|block| block.exact),
        inverse: Box::new(PerParticle { blocks, size }),
    })
}

/// More particles than coordinates: `Z Zᵀ` is `d × d`, and so is the whole of each block.
fn few_coordinates<'s>(system: &SvnSystem<'_>) -> Result<Blocks<'s>, SteinError> {
    let (n, d) = system.shape();
    let eye = Array2::eye(d);
    let mut damped = Array3::zeros((n, d, d));
    for (p, h) in damped.outer_iter_mut().enumerate() {
        let damping = system.damping;
        system.curvature.multiply_into(p, damping, eye.view(), h);
    }
    let weights = system.kernel.kernel.mapv(|k| k * k / n as f64);
    let blocks = for_each_particle(n, n * n * d * d, |m| {
        let repulsion = repulsion(system, m);
        let mut matrix = dense::product(repulsion.t(), repulsion.view());
        for (h, &weight) in damped.outer_iter().zip(weights.column(m)) {
            matrix.scaled_add(weight, &h);
        }
        let factor = Cholesky::factorize(matrix.view(), &CholeskyParams::default());
        Ok(Block {
            base: Box::new(factor.map_err(|e| system.singular(d, format!("particle {m}: {e}")))?),
            exact: true,
            repulsion: Array2::zeros((0, d)),
            solved: Array2::zeros((0, d)),
            small: Woodbury::none(),
        })
    })?;
    let inverse = Box::new(PerParticle { blocks, size: d });
    Ok(Blocks {
        inverse,
        exact: true,
    })
}

struct PerParticle<'s> {
    blocks: Vec<Block<'s>>,
    size: usize,
}

/// One system: `h_mm = B + Z Zᵀ`.
struct Block<'s> {
    base: Box<dyn Factor + 's>,
    exact: bool,
    /// `Zᵀ`, one row per particle that repels this one, and `Zᵀ B⁻¹`.
    repulsion: Array2<f64>,
    solved: Array2<f64>,
    small: Woodbury,
}

impl<'s> Block<'s> {
    fn new(system: &'s SvnSystem<'_>, m: usize) -> Result<Self, SteinError> {
        let d = system.shape().1;
        let singular =
            |error: svn_linalg::FactorError| system.singular(d, format!("particle {m}: {error}"));
        let weights = system.kernel.kernel.column(m).mapv(|k| k * k) / system.shape().0 as f64;
        let apart = system.is_decoupled();
        let sum = if apart {
            None
        } else {
            system.curvature.factor_sum(weights.view(), system.damping)
        };
        let exact = apart || sum.is_some();
        let base = match sum {
            Some(factor) => factor.map_err(singular)?,
            None => {
                let own = system.curvature.factor(m, system.damping);
                let factor = own.and_then(|own| Ok(ScaledFactor::new(weights.sum(), own)?));
                Box::new(factor.map_err(singular)?)
            }
        };
        let repulsion = repulsion(system, m);
        let mut solved = Array2::zeros(repulsion.raw_dim());
        let mut t = Array2::zeros((repulsion.nrows(), repulsion.nrows()));
        if !repulsion.is_empty() {
            base.solve_into(repulsion.t(), solved.view_mut().reversed_axes());
            t.assign(&dense::product(repulsion.view(), solved.t()));
            symmetrise(&mut t);
        }
        Ok(Self {
            base,
            exact,
            repulsion,
            solved,
            small: Woodbury::new(t.view()).map_err(singular)?,
        })
    }
}

/// `G_pm / √N`, one row for each particle `p ≠ m` that repels `m`.
fn repulsion(system: &SvnSystem<'_>, m: usize) -> Array2<f64> {
    let (n, d) = system.shape();
    let y = system.kernel.transformed;
    let slope = system.kernel.slope.column(m);
    let repelling: Vec<_> = (0..n).filter(|&p| p != m && slope[p] != 0.0).collect();
    let mut out = Array2::zeros((repelling.len(), d));
    for (mut row, &p) in out.rows_mut().into_iter().zip(&repelling) {
        let g = slope[p] / (n as f64).sqrt();
        Zip::from(&mut row)
            .and(&y.row(p))
            .and(&y.row(m))
            .for_each(|o, &a, &b| *o = g * (a - b));
    }
    out
}

impl Inverse for PerParticle<'_> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        _scratch: &mut Scratch,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        for (m, block) in self.blocks.iter().enumerate() {
            let row = s![m..=m, ..];
            let mut out = out.slice_mut(row);
            block
                .base
                .solve_into(rhs.slice(row).t(), out.view_mut().reversed_axes());
            if !block.repulsion.is_empty() {
                let image = dense::product(out.view(), block.repulsion.t());
                let z = block.small.solve_rows(image.view());
                dense::multiply(-1.0, z.view(), block.solved.view(), 1.0, out.view_mut());
            }
        }
        Ok(())
    }

    fn size(&self) -> usize {
        self.size
    }
}
