//! Block-diagonal systems of low-rank curvature, through the Gram matrix of what each is made of.
//!
//! ```text
//! h_mm  = c_m I + Uᵀ U,   c_m = (μ/N) Σ_p K_pm²,   rows of U: √(w/N) K_pm J_p and E_m Y
//! h⁻¹ v = (1/c_m) [ v − Uᵀ (I + T)⁻¹ U v / c_m ],   T = U Uᵀ / c_m
//! E_m   rows g_pm (e_p − e_m) / √N, so that (E_m Y)_p = G_pm / √N                    r × N
//! ```
//!
//! Particles whose `K_pm² w ‖J_p‖²` is below rounding against `N c_m` are left out: without interaction a system has `R`
//! rows. `J_p J_qᵀ` and `J_p Yᵀ` are computed once for all systems.

use std::collections::{BTreeMap, BTreeSet};

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use svn_linalg::{FactorError, LowRankView, MixedMemory, Rows, dense, parallel};

use super::small::Small;
use crate::error::SteinError;
use crate::repulsion::Coupling;
use crate::system::inverse::Inverse;
use crate::system::{Scratch, SvnSystem, vector_product};

/// The `N` systems.
pub(super) struct LowRankBlocks<'s> {
    rows: Vec<Box<dyn Rows + 's>>,
    y: ArrayView2<'s, f64>,
    blocks: Vec<Block>,
}

/// One system.
struct Block {
    /// Particles whose curvature counts, with `√(w/N) K_pm`.
    active: Vec<(usize, f64)>,
    /// `E_m`.
    repulsion: Array2<f64>,
    /// `c_m`.
    shift: f64,
    /// The trace of `T` at most.
    trace: f64,
    small: Small,
}

/// What the systems are made of.
struct Products {
    /// `J_p J_qᵀ` for the pairs `p ≤ q` that some system needs.
    gram: BTreeMap<(usize, usize), Array2<f64>>,
    /// `Y J_pᵀ`, `N × R`, for the particles that some system with repulsion needs.
    cross: BTreeMap<usize, Array2<f64>>,
    /// `Y Yᵀ`.
    outer: Array2<f64>,
}

impl<'s> LowRankBlocks<'s> {
    /// `memory` of matrices of the last step is used where it fits.
    pub(super) fn new(
        system: &SvnSystem<'s>,
        low: LowRankView<'s>,
        memory: Vec<MixedMemory>,
    ) -> Result<Self, SteinError> {
        let (n, d) = system.shape();
        let r = low.rows.count();
        let y = system.kernel.transformed;
        let rows: Vec<_> = (0..n).map(|p| low.rows.rows(p)).collect();
        let mut products = Products {
            gram: BTreeMap::new(),
            cross: BTreeMap::new(),
            outer: dense::product(y, y.t()),
        };
        let mut norms = Vec::with_capacity(n);
        for (p, rows) in rows.iter().enumerate() {
            let mut own = Array2::zeros((r, r));
            rows.gram_into(own.view_mut());
            norms.push(low.weight * own.diag().sum());
            products.gram.insert((p, p), own);
        }
        let mut blocks: Vec<_> = (0..n).map(|m| Block::new(system, low, &norms, m)).collect();
        let mut pairs = BTreeSet::new();
        let mut crossing = BTreeSet::new();
        for block in &blocks {
            for (i, &(p, _)) in block.active.iter().enumerate() {
                pairs.extend(block.active[i + 1..].iter().map(|&(q, _)| (p, q)));
                if block.repulsion.nrows() > 0 {
                    crossing.insert(p);
                }
            }
        }
        let (pairs, crossing) = (Vec::from_iter(pairs), Vec::from_iter(crossing));
        let grams = parallel::map(pairs.len(), pairs.len() * r * r * d.isqrt(), |i| {
            let (p, q) = pairs[i];
            let mut out = Array2::zeros((r, r));
            low.rows.cross_gram_into(p, q, out.view_mut());
            out
        });
        products.gram.extend(pairs.into_iter().zip(grams));
        let crosses = parallel::map(crossing.len(), crossing.len() * n * r * d, |i| {
            rows[crossing[i]].project(y)
        });
        products.cross.extend(crossing.into_iter().zip(crosses));
        let work = blocks.iter().map(|block| block.size(r).pow(3) / 6).sum();
        let mut memory = memory.into_iter();
        let tasks = blocks.iter().map(|block| (block, memory.next())).collect();
        let small = parallel::map_items(tasks, work, |_, (block, memory)| {
            if block.shift <= 0.0 {
                let reason = "neither damping nor prior precision is positive";
                return Err(system.singular(d, reason));
            }
            let size = block.size(r);
            let fill = |out: ArrayViewMut2<'_, f64>| block.scaled_gram(&products, r, out);
            Small::new(size, block.trace, memory, fill).map_err(|e| system.singular(size, e))
        });
        let small = small.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (block, small) in blocks.iter_mut().zip(small) {
            block.small = small;
        }
        Ok(Self { rows, y, blocks })
    }
}

impl Block {
    fn new(system: &SvnSystem<'_>, low: LowRankView<'_>, norms: &[f64], m: usize) -> Self {
        let n = system.shape().0;
        let (k, slope) = (system.kernel.kernel, system.kernel.slope);
        let root = (n as f64).sqrt().recip();
        let squares: f64 = k.column(m).iter().map(|k| k * k).sum();
        let shift = (low.shift + system.damping) / n as f64 * squares;
        let floor = f64::EPSILON * n as f64 * shift;
        let repelling: Vec<_> = (0..n).filter(|&p| slope[(p, m)] != 0.0).collect();
        let mut repulsion = Array2::zeros((repelling.len(), n));
        for (mut row, &p) in repulsion.rows_mut().into_iter().zip(&repelling) {
            row[p] += root * slope[(p, m)];
            row[m] -= root * slope[(p, m)];
        }
        let active: Vec<_> = (0..n)
            .filter(|&p| k[(p, m)].powi(2) * norms[p] > floor)
            .map(|p| (p, root * low.weight.sqrt() * k[(p, m)]))
            .collect();
        // Without what repels: where that matters, refinement shows it.
        let data = |&(p, _): &(usize, f64)| k[(p, m)].powi(2) * norms[p] / n as f64;
        Self {
            trace: active.iter().map(data).sum::<f64>() / shift,
            active,
            repulsion,
            shift,
            small: Small::none(),
        }
    }

    /// Rows of `U` for `rows` curvature rows a particle.
    fn size(&self, rows: usize) -> usize {
        self.active.len() * rows + self.repulsion.nrows()
    }

    /// The upper triangle of `T`.
    fn scaled_gram(&self, products: &Products, r: usize, mut out: ArrayViewMut2<'_, f64>) {
        let data = self.active.len() * r;
        for (i, &(p, a)) in self.active.iter().enumerate() {
            let at = i * r..(i + 1) * r;
            for (j, &(q, b)) in self.active.iter().enumerate().skip(i) {
                let Some(gram) = products.gram.get(&(p, q)) else {
                    continue;
                };
                let scale = a * b / self.shift;
                out.slice_mut(s![at.clone(), j * r..(j + 1) * r])
                    .zip_mut_with(gram, |out, &gram| *out = scale * gram);
            }
            if let Some(cross) = products.cross.get(&p) {
                let (scale, repulsion) = (a / self.shift, self.repulsion.t());
                let out = out.slice_mut(s![at, data..]);
                dense::multiply(scale, cross.t(), repulsion, 0.0, out);
            }
        }
        let images = dense::product(self.repulsion.view(), products.outer.view());
        dense::multiply(
            self.shift.recip(),
            images.view(),
            self.repulsion.t(),
            0.0,
            out.slice_mut(s![data.., data..]),
        );
    }
}

impl Inverse for LowRankBlocks<'_> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        _scratch: &mut Scratch,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        let r = self.rows.first().map_or(0, |rows| rows.count());
        let inner = dense::product(rhs, self.y.t());
        out.assign(&rhs);
        let rows = self.blocks.iter().map(|block| block.size(r)).sum::<usize>();
        let tasks: Vec<_> = out.axis_chunks_iter_mut(Axis(0), 1).collect();
        parallel::try_for_each(tasks, 2 * rows * rhs.ncols(), |m, mut row| {
            let block = &self.blocks[m];
            let data = block.active.len() * r;
            // U v.
            let mut image = Array2::zeros((1, block.size(r)));
            for (i, &(p, a)) in block.active.iter().enumerate() {
                let mut part = image.slice_mut(s![.., i * r..(i + 1) * r]);
                self.rows[p].project_into(rhs.slice(s![m..=m, ..]), part.view_mut());
                part *= a;
            }
            image
                .slice_mut(s![0, data..])
                .assign(&vector_product(block.repulsion.view(), inner.row(m)));
            let solved = block.small.solve_rows(image.view());
            let singular = |error: FactorError| SteinError::Singular {
                coupling: Coupling::BlockDiagonal.name(),
                size: block.small.dim(),
                reason: error.to_string(),
            };
            let z = solved.map_err(singular)? / block.shift;
            // − Uᵀ z.
            if block.repulsion.nrows() > 0 {
                let coefficients = dense::product(z.slice(s![.., data..]), block.repulsion.view());
                dense::multiply(
                    -1.0,
                    coefficients.view(),
                    self.y.view(),
                    1.0,
                    row.view_mut(),
                );
            }
            for (i, &(p, a)) in block.active.iter().enumerate() {
                let z = z.slice(s![.., i * r..(i + 1) * r]);
                self.rows[p].combine_into(-a, z, 1.0, row.view_mut());
            }
            row /= block.shift;
            Ok(())
        })
    }

    fn into_memory(self: Box<Self>) -> Vec<MixedMemory> {
        let blocks = self.blocks.into_iter();
        blocks
            .filter_map(|block| block.small.into_memory())
            .collect()
    }

    fn size(&self) -> usize {
        let sizes = self.blocks.iter().map(|block| block.small.dim());
        sizes.max().unwrap_or(0)
    }
}
