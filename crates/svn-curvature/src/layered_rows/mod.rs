//! Rows `S_iᵀ J_i` of many samples kept as what they are made of: layer inputs and cotangents.
//!
//! ```text
//! row i       = ⊕_l ( vec(δ_l,i a_l,iᵀ), δ_l,i )                       the last part with a bias
//! row i·row j = Σ_l (a_l,i·a_l,j + 1) (δ_l,i·δ_l,j)
//! row i·v     = Σ_l δ_l,i·(V_l a_l,i + v_l)                            V_l, v_l: the layer's parts of v
//! Σ_i z_i row i: V_l = Σ_i z_i δ_l,i a_l,iᵀ,  v_l = Σ_i z_i δ_l,i
//! ```
//!
//! Memory and inner products cost the layers' widths instead of their products: for 6-50-50-1, 208 numbers a row
//! instead of 2951. Products with vectors cost as many multiplications as with the rows written out, from far less memory.

mod particle;
mod products;

use std::ops::Range;

use ndarray::{Array3, ArrayD, ArrayView2, ArrayView4, ArrayViewMut2, Axis, s};
use svn_linalg::{KeptFactors, LowRank, ParticleOperators, ParticleRows, Rows, parallel};

use crate::block::AffineBlock;
use crate::linearized::{Values, by_particle, visitors};
use crate::slots::{BatchSlots, check_shapes, fixed, rows_of_slot};
use crate::{CurvatureError, Linearized, Result};
use particle::LayeredParticle;
use products::{TILE, Tile, inner_products};

/// Up to `R` rows for each of `N` particles, with the Gram matrix of each particle's rows. Unwritten rows are zero.
#[derive(Debug, Clone)]
pub struct LayeredRows {
    layers: Vec<LayerRows>,
    gram: Array3<f64>,
    /// Of the rows as they are, if they are kept.
    factors: Option<KeptFactors>,
    slot_rows: usize,
    dim: usize,
}

/// One layer's inputs (`N × R × K`) and cotangents (`N × R × O`).
#[derive(Debug, Clone)]
struct LayerRows {
    inputs: Array3<f64>,
    cotangents: Array3<f64>,
    weight: Range<usize>,
    bias: Option<Range<usize>>,
}

impl LayeredRows {
    /// Whether every layer of `linear` has one position a sample.
    pub fn fits(linear: &dyn Linearized) -> bool {
        let blocks = linear.subject().blocks();
        blocks.iter().all(|block| block.positions() == 1)
    }

    /// Room for `slots` batches of up to `slot_rows` rows of what `linear` has, or none if a layer has several positions per
    /// sample (convolutions): there a row is a sum of products and has no such form.
    pub fn new(linear: &dyn Linearized, slots: usize, slot_rows: usize) -> Option<Self> {
        let rows = slots * slot_rows;
        let particles = linear.particles();
        let start = linear.subject().start();
        let layer = |block: &AffineBlock| {
            let range = block.range().start - start..block.range().end - start;
            let (outputs, fan_in) = (block.outputs, block.fan_in);
            let end = range.start + outputs * fan_in;
            LayerRows {
                inputs: Array3::zeros((particles, rows, fan_in)),
                cotangents: Array3::zeros((particles, rows, outputs)),
                weight: range.start..end,
                bias: block.has_bias().then_some(end..range.end),
            }
        };
        let blocks = linear.subject().blocks();
        Self::fits(linear).then(|| Self {
            layers: blocks.iter().map(layer).collect(),
            gram: Array3::zeros((particles, rows, rows)),
            factors: None,
            slot_rows,
            dim: linear.dim(),
        })
    }

    /// Products of the slot's rows with all rows; those within the slot once, and mirrored.
    fn update_gram(&mut self, slot: Range<usize>) {
        self.forget_factors();
        let rows = self.count();
        let layers = &self.layers;
        let grams: Vec<_> = self.gram.outer_iter_mut().collect();
        let work = grams.len() * slot.len() * rows * (layers.len() + 1);
        parallel::for_each(grams, work, |p, mut gram| {
            let mut tile = Tile::new(rows);
            for first in slot.clone().step_by(TILE) {
                let left = first..(first + TILE).min(slot.end);
                for right in [0..slot.start, first..rows] {
                    let pair = [(p, left.clone()), (p, right.clone())];
                    let products = inner_products(layers, pair, &mut tile);
                    gram.slice_mut(s![right.clone(), left.clone()])
                        .assign(&products.t());
                    gram.slice_mut(s![left.clone(), right]).assign(&products);
                }
            }
        });
    }

    fn count(&self) -> usize {
        self.gram.dim().1
    }

    fn forget_factors(&mut self) {
        if let Some(factors) = &mut self.factors {
            factors.clear();
        }
    }
}

impl LayerRows {
    /// Inputs and cotangents of one particle, `R × K` and `R × O`.
    fn factors(&self, particle: usize) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
        (
            self.inputs.index_axis(Axis(0), particle),
            self.cotangents.index_axis(Axis(0), particle),
        )
    }
}

impl BatchSlots for LayeredRows {
    fn write(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        slot: usize,
    ) -> Result<()> {
        let columns = linear.check_root(root)?;
        let filled = linear.batch() * columns;
        let slot = rows_of_slot(slot, self.slot_rows, self.gram.dim().1, filled)?;
        let (used, unused) = (
            slot.start..slot.start + filled,
            slot.start + filled..slot.end,
        );
        for layer in &mut self.layers {
            let mut cotangents = layer.cotangents.slice_mut(s![.., unused.clone(), ..]);
            cotangents.fill(0.0);
        }
        let particles = self.gram.dim().0;
        let arrays = self.layers.iter_mut();
        let arrays = arrays.flat_map(|layer| [&mut layer.inputs, &mut layer.cotangents]);
        let parts = by_particle(arrays, particles);
        let visit = |_,
                     parts: &mut Vec<ArrayViewMut2<'_, f64>>,
                     layer: usize,
                     a: Values<'_>,
                     delta: Values<'_>| {
            let mut cotangents = parts[2 * layer + 1].slice_mut(s![used.clone(), ..]);
            cotangents.assign(&delta);
            let mut inputs = parts[2 * layer].slice_mut(s![used.clone(), ..]);
            for (row, mut input) in inputs.outer_iter_mut().enumerate() {
                input.assign(&a.row(row / columns));
            }
            Ok(())
        };
        linear.visit_layers(root, visitors(parts, &visit))?;
        self.update_gram(slot.clone());
        let finite =
            |gram: ArrayView2<'_, f64>| slot.clone().all(|row| gram[[row, row]].is_finite());
        match self.gram.outer_iter().position(|gram| !finite(gram)) {
            Some(particle) => Err(CurvatureError::NonFinite {
                quantity: "squared length of a curvature row",
                particle,
                layer: "(all layers)".into(),
            }),
            None => Ok(()),
        }
    }

    fn curvature(&self, weight: f64, shift: f64) -> Box<dyn ParticleOperators + '_> {
        let rows: &dyn ParticleRows = self;
        Box::new(LowRank {
            rows,
            weight,
            shift,
        })
    }

    fn keep_factors(&mut self) {
        self.factors = Some(KeptFactors::new(self.gram.dim().0));
    }

    fn arrays(&self) -> Vec<ArrayD<f64>> {
        let layers = self.layers.iter();
        let parts = layers.flat_map(|layer| [&layer.inputs, &layer.cotangents]);
        parts.map(|part| part.clone().into_dyn()).collect()
    }

    /// The inner products are computed anew in the order of writing.
    fn set_arrays(&mut self, arrays: Vec<ArrayD<f64>>, written: &[usize]) -> Result<()> {
        let layers = self.layers.iter();
        check_shapes(
            &arrays,
            layers.flat_map(|layer| [layer.inputs.shape(), layer.cotangents.shape()]),
        )?;
        let mut parts = arrays.into_iter();
        for layer in &mut self.layers {
            for part in [&mut layer.inputs, &mut layer.cotangents] {
                if let Some(array) = parts.next() {
                    *part = fixed(array)?;
                }
            }
        }
        self.gram.fill(0.0);
        for &slot in written {
            let rows = rows_of_slot(slot, self.slot_rows, self.count(), 0)?;
            self.update_gram(rows);
        }
        Ok(())
    }
}

impl ParticleRows for LayeredRows {
    fn particles(&self) -> usize {
        self.gram.dim().0
    }

    fn count(&self) -> usize {
        self.gram.dim().1
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn rows(&self, particle: usize) -> Box<dyn Rows + '_> {
        Box::new(LayeredParticle {
            rows: self,
            particle,
        })
    }

    fn cross_gram_into(&self, p: usize, q: usize, mut out: ArrayViewMut2<'_, f64>) {
        let rows = self.count();
        let mut tile = Tile::new(rows);
        for first in (0..rows).step_by(TILE) {
            let left = first..(first + TILE).min(rows);
            let pair = [(p, left.clone()), (q, 0..rows)];
            let products = inner_products(&self.layers, pair, &mut tile);
            out.slice_mut(s![left, ..]).assign(&products);
        }
    }

    fn keeps_gram(&self) -> bool {
        true
    }

    fn kept_factors(&self) -> Option<&KeptFactors> {
        self.factors.as_ref()
    }

    /// Rows that are not finite are refused when they are written.
    fn non_finite(&self) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3, ArrayView2, s};
    use svn_linalg::ParticleRows;

    use super::{LayerRows, LayeredRows};

    /// Numbers without a pattern.
    fn numbers(phase: f64, shape: (usize, usize)) -> Array2<f64> {
        Array2::from_shape_fn(shape, |(i, j)| {
            (phase + 12.9898 * (i * 97 + j) as f64).sin()
        })
    }

    /// Two particles of two layers, one with narrow inputs and one with narrow cotangents.
    fn rows(count: usize) -> LayeredRows {
        let (mut layers, mut start) = (Vec::new(), 0);
        for (inputs, outputs, bias) in [(3, 6, true), (6, 1, false), (5, 4, true)] {
            let array = |phase: f64, width: usize| {
                let numbers = numbers(phase, (2 * count, width));
                Array3::from_shape_fn((2, count, width), |(p, i, j)| numbers[(p * count + i, j)])
            };
            let end = start + inputs * outputs;
            let last = end + if bias { outputs } else { 0 };
            layers.push(LayerRows {
                inputs: array(0.1 + start as f64, inputs),
                cotangents: array(0.7 + start as f64, outputs),
                weight: start..end,
                bias: bias.then_some(end..last),
            });
            start = last;
        }
        LayeredRows {
            layers,
            gram: Array3::zeros((2, count, count)),
            factors: None,
            slot_rows: count,
            dim: start,
        }
    }

    /// Row by row, number by number.
    fn written_out(rows: &LayeredRows, particle: usize) -> Array2<f64> {
        let mut out = Array2::zeros((rows.count(), rows.dim));
        for layer in &rows.layers {
            let (a, d) = layer.factors(particle);
            for i in 0..rows.count() {
                for o in 0..d.ncols() {
                    for k in 0..a.ncols() {
                        let at = layer.weight.start + o * a.ncols() + k;
                        out[(i, at)] = d[(i, o)] * a[(i, k)];
                    }
                    if let Some(bias) = &layer.bias {
                        out[(i, bias.start + o)] = d[(i, o)];
                    }
                }
            }
        }
        out
    }

    fn assert_close(found: ArrayView2<'_, f64>, expected: ArrayView2<'_, f64>) {
        assert_eq!(found.dim(), expected.dim());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{a} and {b}");
        }
    }

    #[test]
    fn products_of_all_vectors_are_those_of_the_rows_written_out() {
        for (count, vectors) in [(1, 1), (5, 1), (9, 4)] {
            let rows = rows(count);
            for particle in 0..2 {
                let j = written_out(&rows, particle);
                let own = rows.rows(particle);
                assert_close(own.written_out().view(), j.view());
                let x = numbers(0.3, (vectors, rows.dim));
                assert_close(own.project(x.view()).view(), x.dot(&j.t()).view());
                // Some of the rows of a wider matrix.
                let mut wide = Array2::from_elem((vectors, count + 3), 7.0);
                own.project_into(x.view(), wide.slice_mut(s![.., 1..=count]));
                assert_close(wide.slice(s![.., 1..=count]), x.dot(&j.t()).view());
                let z = numbers(0.9, (vectors, count));
                let mut out = x.clone();
                own.combine_into(-0.4, z.view(), 0.5, out.view_mut());
                assert_close(out.view(), (&x * 0.5 - z.dot(&j) * 0.4).view());
            }
        }
    }
}
