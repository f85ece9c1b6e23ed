//! Gram matrix of all curvature rows and of `Y`, kept from step to step.
//!
//! ```text
//! E_(p,i),(q,j) = J_p[i]·J_q[j]     N R × N R      the dearest part of a step: (N R)² d / 2
//! C_(p,i),a     = J_p[i]·y_a        N R × N
//! y_a·y_b                           N × N
//! ```
//!
//! Targets that accumulate curvature replace a few rows a step. Each row is recognised by a 128-bit fingerprint of its
//! bits, and only tiles that touch a changed row are multiplied again. Tiles always have the same shape, so that a
//! kept tile and a fresh one are equal bit for bit.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayView3, Axis, s};

/// Rows of a tile.
const TILE: usize = 32;

/// Inner products of the curvature rows.
#[derive(Debug, Clone, Default)]
pub struct RowGram {
    /// Blocks `E_p,q`, row-major; empty until one is needed.
    blocks: Vec<Array2<f64>>,
    cross: Array2<f64>,
    transformed: Array2<f64>,
    fingerprints: Vec<[u64; 2]>,
    /// Whether block `(p, q)` holds the products of the fingerprinted rows.
    valid: Vec<bool>,
    particles: usize,
    count: usize,
    dim: usize,
}

impl RowGram {
    /// Bring the blocks `(p, q)` that are `needed` up to date with `rows` (`N × R × d`) and `Y` (`N × d`).
    ///
    /// `needed` must be symmetric.
    pub(super) fn update(
        &mut self,
        rows: ArrayView3<'_, f64>,
        transformed: ArrayView2<'_, f64>,
        needed: impl Fn(usize, usize) -> bool,
    ) {
        let (n, r, d) = rows.dim();
        if (self.particles, self.count, self.dim) != (n, r, d) {
            *self = Self {
                blocks: vec![Array2::zeros((0, 0)); n * n],
                cross: Array2::zeros((n * r, n)),
                transformed: Array2::zeros((n, n)),
                fingerprints: vec![[0; 2]; n * r],
                valid: vec![false; n * n],
                particles: n,
                count: r,
                dim: d,
            };
        }
        let changed = self.fingerprint(rows);
        let tiles = r.div_ceil(TILE);
        for p in 0..n {
            let jp = rows.index_axis(Axis(0), p);
            for q in 0..=p {
                let (at, mirror) = (p * n + q, q * n + p);
                if !needed(p, q) {
                    let stale =
                        (0..tiles).any(|t| changed[p * tiles + t] || changed[q * tiles + t]);
                    self.valid[at] &= !stale;
                    self.valid[mirror] = self.valid[at];
                    continue;
                }
                for block in [at, mirror] {
                    if self.blocks[block].nrows() != r {
                        self.blocks[block] = Array2::zeros((r, r));
                    }
                }
                let jq = rows.index_axis(Axis(0), q);
                for i in 0..tiles {
                    for j in 0..tiles {
                        // Within a diagonal block the upper tiles are mirrors of the lower ones.
                        let mirrored = p == q && j > i;
                        if mirrored
                            || (self.valid[at]
                                && !changed[p * tiles + i]
                                && !changed[q * tiles + j])
                        {
                            continue;
                        }
                        self.multiply(p, q, i, j, jp, jq);
                    }
                }
                self.valid[at] = true;
                self.valid[mirror] = true;
            }
            let mut cross = self.cross.slice_mut(s![p * r..(p + 1) * r, ..]);
            general_mat_mul(1.0, &jp, &transformed.t(), 0.0, &mut cross);
        }
        general_mat_mul(
            1.0,
            &transformed,
            &transformed.t(),
            0.0,
            &mut self.transformed,
        );
    }

    /// One tile and its mirror image.
    fn multiply(
        &mut self,
        p: usize,
        q: usize,
        i: usize,
        j: usize,
        jp: ArrayView2<'_, f64>,
        jq: ArrayView2<'_, f64>,
    ) {
        let r = self.count;
        let (a, b) = (
            i * TILE..((i + 1) * TILE).min(r),
            j * TILE..((j + 1) * TILE).min(r),
        );
        let product = jp
            .slice(s![a.clone(), ..])
            .dot(&jq.slice(s![b.clone(), ..]).t());
        let n = self.particles;
        self.blocks[q * n + p]
            .slice_mut(s![b.clone(), a.clone()])
            .assign(&product.t());
        self.blocks[p * n + q].slice_mut(s![a, b]).assign(&product);
    }

    /// Take the fingerprints of all rows; true for every tile (particle-major) with a row that changed.
    fn fingerprint(&mut self, rows: ArrayView3<'_, f64>) -> Vec<bool> {
        let r = self.count;
        let tiles = r.div_ceil(TILE);
        let mut changed = vec![false; self.particles * tiles];
        for (p, block) in rows.outer_iter().enumerate() {
            for (i, row) in block.rows().into_iter().enumerate() {
                let print = fingerprint(row);
                let kept = &mut self.fingerprints[p * r + i];
                if *kept != print {
                    *kept = print;
                    changed[p * tiles + i / TILE] = true;
                }
            }
        }
        changed
    }

    /// Block `E_p,q`, `R × R`; it must have been needed in the last update.
    pub(super) fn block(&self, p: usize, q: usize) -> ArrayView2<'_, f64> {
        self.blocks[p * self.particles + q].view()
    }

    /// `J_p Yᵀ`, `R × N`.
    pub(super) fn cross(&self, p: usize) -> ArrayView2<'_, f64> {
        self.cross
            .slice(s![p * self.count..(p + 1) * self.count, ..])
    }

    /// `Y Yᵀ`, `N × N`.
    pub(super) fn transformed(&self) -> ArrayView2<'_, f64> {
        self.transformed.view()
    }
}

/// Four interleaved multiplicative hashes of the bits of a row, folded into 128 bits; a row of zeros is not zero.
fn fingerprint(row: ArrayView1<'_, f64>) -> [u64; 2] {
    const SEEDS: [u64; 4] = [
        0x9e37_79b9_7f4a_7c15,
        0xd1b5_4a32_d192_ed03,
        0x8cb9_2ba7_2f3d_8dd7,
        0xaef1_7502_108e_f2d9,
    ];
    const FACTORS: [u64; 4] = [
        0xff51_afd7_ed55_8ccd,
        0xc4ce_b9fe_1a85_ec53,
        0xbf58_476d_1ce4_e5b9,
        0x94d0_49bb_1331_11eb,
    ];
    let mut lanes = SEEDS;
    let mix = |lanes: &mut [u64; 4], chunk: &[f64]| {
        for (lane, (x, factor)) in lanes.iter_mut().zip(chunk.iter().zip(FACTORS)) {
            *lane = (lane.rotate_left(23) ^ x.to_bits()).wrapping_mul(factor);
        }
    };
    match row.as_slice() {
        Some(slice) => slice.chunks(4).for_each(|chunk| mix(&mut lanes, chunk)),
        None => row
            .to_vec()
            .chunks(4)
            .for_each(|chunk| mix(&mut lanes, chunk)),
    }
    let [a, b, c, d] = lanes;
    [a ^ b.rotate_left(31), c ^ d.rotate_left(31)]
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3};

    use super::*;

    fn pseudo(seed: u64, len: usize) -> Vec<f64> {
        let mut x = seed
            .wrapping_mul(2_862_933_555_777_941_757)
            .wrapping_add(3_037_000_493);
        (0..len)
            .map(|_| {
                x = x
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (x >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
            })
            .collect()
    }

    /// Rows replaced in a ring, blocks needed now and then: always the very bits of a fresh Gram matrix.
    #[test]
    fn kept_tiles_equal_fresh_ones_bit_for_bit() {
        let (n, r, d) = (3, 70, 17);
        let mut rows = Array3::from_shape_vec((n, r, d), pseudo(1, n * r * d)).unwrap();
        let y = Array2::from_shape_vec((n, d), pseudo(2, n * d)).unwrap();
        let mut kept = RowGram::default();
        for step in 0..8_usize {
            let start = step * 16 % 64;
            for p in 0..n {
                let fresh =
                    Array2::from_shape_vec((5, d), pseudo(10 + (step * n + p) as u64, 5 * d))
                        .unwrap();
                rows.slice_mut(s![p, start..start + 5, ..]).assign(&fresh);
            }
            let diagonal_only = step % 3 == 1;
            let needed = |p: usize, q: usize| !diagonal_only || p == q;
            kept.update(rows.view(), y.view(), needed);
            let mut fresh = RowGram::default();
            fresh.update(rows.view(), y.view(), |_, _| true);
            for p in 0..n {
                assert_eq!(kept.cross(p), fresh.cross(p));
                for q in (0..n).filter(|&q| needed(p, q)) {
                    assert_eq!(
                        kept.block(p, q),
                        fresh.block(p, q),
                        "step {step} block {p},{q}"
                    );
                    let direct = rows
                        .index_axis(Axis(0), p)
                        .dot(&rows.index_axis(Axis(0), q).t());
                    // d products of numbers below one half.
                    assert!(
                        (&direct - &kept.block(p, q))
                            .iter()
                            .all(|e| e.abs() < 17.0 * f64::EPSILON)
                    );
                }
            }
        }
    }
}
