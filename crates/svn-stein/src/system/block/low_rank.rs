//! Block-diagonal systems of low-rank curvature, through the Gram matrix of what each is made of.
//!
//! ```text
//! h_mm  = c_m I + Uᵀ U,   c_m = (μ/N) Σ_p K_pm²,   rows of U: √(w/N) K_pm J_p and E_m Y
//! h⁻¹ v = (1/c_m) [ v − Uᵀ (c_m I + U Uᵀ)⁻¹ U v ]
//! E_m   rows g_pm (e_p − e_m) / √N, so that (E_m Y)_p = G_pm / √N                    r × N
//! ```
//!
//! Particles whose `K_pm² w ‖J_p‖²` is below rounding against `N c_m` are left out: without interaction a system has `R`
//! rows. `J_p J_qᵀ` and `J_p Yᵀ` are computed once for all systems.

use std::collections::BTreeMap;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, s};
use svn_linalg::{Cholesky, CholeskyParams};

use super::COUPLING;
use crate::error::SteinError;
use crate::system::{SvnSystem, for_each_particle, solve_vector};
use crate::target::LowRank;

/// Entries of all factors together up to which they are kept from one solve to the next.
const KEPT: usize = 1 << 26;

/// The `N` systems.
pub(super) struct LowRankBlocks<'s> {
    low: LowRank<'s>,
    y: ArrayView2<'s, f64>,
    blocks: Vec<Block>,
    /// `J_p J_qᵀ` for the pairs `p ≥ q` that some system needs.
    gram: BTreeMap<(usize, usize), Array2<f64>>,
    /// `Y J_pᵀ`, `N × R`, for the particles that some system with repulsion needs.
    cross: BTreeMap<usize, Array2<f64>>,
    /// `Y Yᵀ`.
    outer: Array2<f64>,
}

/// One system.
struct Block {
    /// Particles whose curvature counts, with `√(w/N) K_pm`.
    active: Vec<(usize, f64)>,
    /// `E_m`.
    repulsion: Array2<f64>,
    /// `c_m`.
    shift: f64,
    /// Factor of `c_m I + U Uᵀ`, if there is room for all; else it is made, used and dropped.
    factor: Option<Cholesky>,
}

impl Block {
    fn size(&self, rows: usize) -> usize {
        self.active.len() * rows + self.repulsion.nrows()
    }
}

impl<'s> LowRankBlocks<'s> {
    pub fn new(system: &'s SvnSystem<'_>, low: LowRank<'s>) -> Result<Self, SteinError> {
        let n = system.shape().0;
        let r = low.rows.count();
        let y = system.kernel.transformed.view();
        let (k, slope) = (system.kernel.kernel, system.kernel.slope);
        let root = (n as f64).sqrt().recip();
        let mut gram = BTreeMap::new();
        let mut norms = Vec::with_capacity(n);
        for p in 0..n {
            let mut own = Array2::zeros((r, r));
            low.rows.gram_into(p, p, own.view_mut());
            norms.push(low.weight * own.diag().sum());
            gram.insert((p, p), own);
        }
        let blocks: Vec<_> = (0..n)
            .map(|m| {
                let squares: f64 = k.column(m).iter().map(|k| k * k).sum();
                let shift = (low.shift + system.damping) / n as f64 * squares;
                let floor = f64::EPSILON * n as f64 * shift;
                let repelling: Vec<_> = (0..n).filter(|&p| slope[(p, m)] != 0.0).collect();
                let mut repulsion = Array2::zeros((repelling.len(), n));
                for (mut row, &p) in repulsion.rows_mut().into_iter().zip(&repelling) {
                    row[p] += root * slope[(p, m)];
                    row[m] -= root * slope[(p, m)];
                }
                Block {
                    active: (0..n)
                        .filter(|&p| k[(p, m)].powi(2) * norms[p] > floor)
                        .map(|p| (p, root * low.weight.sqrt() * k[(p, m)]))
                        .collect(),
                    repulsion,
                    shift,
                    factor: None,
                }
            })
            .collect();
        let mut cross = BTreeMap::new();
        for block in &blocks {
            for &(p, _) in &block.active {
                for &(q, _) in block.active.iter().filter(|(q, _)| *q < p) {
                    gram.entry((p, q)).or_insert_with(|| {
                        let mut out = Array2::zeros((r, r));
                        low.rows.gram_into(p, q, out.view_mut());
                        out
                    });
                }
                if block.repulsion.nrows() > 0 {
                    cross.entry(p).or_insert_with(|| {
                        let mut out = Array2::zeros((n, r));
                        low.rows.project_into(p, y, out.view_mut());
                        out
                    });
                }
            }
        }
        let mut all = Self {
            low,
            y,
            blocks,
            gram,
            cross,
            outer: y.dot(&y.t()),
        };
        let power = |k| all.blocks.iter().map(|b| b.size(r).pow(k)).sum::<usize>();
        if power(2) <= KEPT && all.blocks.iter().all(|block| block.size(r) > 0) {
            let factors = for_each_particle(n, power(3) / 6, |m| all.factorize(&all.blocks[m]))?;
            for (block, factor) in all.blocks.iter_mut().zip(factors) {
                block.factor = Some(factor);
            }
        }
        Ok(all)
    }

    /// Rows of the largest system.
    pub fn size(&self) -> usize {
        let rows = self.low.rows.count();
        self.blocks
            .iter()
            .map(|block| block.size(rows))
            .max()
            .unwrap_or(0)
    }

    /// Cholesky factor of `c_m I + U Uᵀ`.
    fn factorize(&self, block: &Block) -> Result<Cholesky, SteinError> {
        let size = block.size(self.low.rows.count());
        if block.shift <= 0.0 {
            let reason = "neither damping nor prior precision is positive".into();
            return Err(SteinError::Singular {
                coupling: COUPLING,
                size,
                reason,
            });
        }
        // Only rounding can make it singular, and then a jitter is tried.
        Cholesky::factorize_owned(self.matrix(block))
            .or_else(|_| Cholesky::factorize(self.matrix(block).view(), &CholeskyParams::default()))
            .map_err(|e| SteinError::Singular {
                coupling: COUPLING,
                size,
                reason: e.to_string(),
            })
    }

    /// `c_m I + U Uᵀ`.
    fn matrix(&self, block: &Block) -> Array2<f64> {
        let r = self.low.rows.count();
        let size = block.size(r);
        let data = block.active.len() * r;
        let mut matrix = Array2::<f64>::zeros((size, size));
        for (i, &(p, a)) in block.active.iter().enumerate() {
            let at = i * r..(i + 1) * r;
            for (j, &(q, b)) in block.active.iter().enumerate().take(i + 1) {
                let to = j * r..(j + 1) * r;
                let Some(gram) = self.gram.get(&(p, q)) else {
                    continue;
                };
                matrix
                    .slice_mut(s![at.clone(), to.clone()])
                    .zip_mut_with(gram, |w, &e| *w = a * b * e);
                if i != j {
                    matrix
                        .slice_mut(s![to, at.clone()])
                        .zip_mut_with(&gram.t(), |w, &e| *w = a * b * e);
                }
            }
            if let Some(cross) = self.cross.get(&p) {
                let cross = block.repulsion.dot(cross) * a;
                matrix.slice_mut(s![at.clone(), data..]).assign(&cross.t());
                matrix.slice_mut(s![data.., at]).assign(&cross);
            }
        }
        let mut repulsion = block.repulsion.dot(&self.outer).dot(&block.repulsion.t());
        crate::system::symmetrise(&mut repulsion);
        matrix.slice_mut(s![data.., data..]).assign(&repulsion);
        matrix.diag_mut().mapv_inplace(|x| x + block.shift);
        matrix
    }

    /// `(c_m I + U Uᵀ)⁻¹ z`.
    fn solve_small(
        &self,
        block: &Block,
        z: ArrayView1<'_, f64>,
    ) -> Result<Array1<f64>, SteinError> {
        if z.is_empty() {
            return Ok(z.to_owned());
        }
        match &block.factor {
            Some(factor) => solve_vector(factor, z, COUPLING),
            None => solve_vector(&self.factorize(block)?, z, COUPLING),
        }
    }

    /// `out_m = h_mm⁻¹ v_m` for all systems.
    pub fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        let r = self.low.rows.count();
        let rows = |m: usize| s![m..=m, ..];
        let mut images: Vec<_> = self
            .blocks
            .iter()
            .map(|block| Array1::<f64>::zeros(block.size(r)))
            .collect();
        let inner = rhs.dot(&self.y.t());
        let mut projected = Array2::zeros((1, r));
        for (m, (block, z)) in self.blocks.iter().zip(&mut images).enumerate() {
            for (i, &(p, a)) in block.active.iter().enumerate() {
                self.low
                    .rows
                    .project_into(p, rhs.slice(rows(m)), projected.view_mut());
                z.slice_mut(s![i * r..(i + 1) * r])
                    .zip_mut_with(&projected.row(0), |z, &x| *z = a * x);
            }
            z.slice_mut(s![block.active.len() * r..])
                .assign(&block.repulsion.dot(&inner.row(m)));
        }
        // Factors that were not kept are made here.
        let n = self.blocks.len();
        let images = for_each_particle(n, n * self.size().pow(2), |m| {
            self.solve_small(&self.blocks[m], images[m].view())
        })?;
        out.assign(&rhs);
        for (m, (block, z)) in self.blocks.iter().zip(&images).enumerate() {
            let (data, repulsion) = z.view().split_at(ndarray::Axis(0), block.active.len() * r);
            let mut row = out.slice_mut(rows(m));
            if !repulsion.is_empty() {
                let coefficients = repulsion.dot(&block.repulsion);
                ndarray::linalg::general_mat_mul(
                    -1.0,
                    &coefficients.insert_axis(ndarray::Axis(0)),
                    &self.y,
                    1.0,
                    &mut row,
                );
            }
            for (i, &(p, a)) in block.active.iter().enumerate() {
                let z = data.slice(s![i * r..(i + 1) * r]);
                let z = z.insert_axis(ndarray::Axis(0));
                self.low.rows.combine_into(p, -a, z, 1.0, row.view_mut());
            }
            row /= block.shift;
        }
        Ok(())
    }
}
