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

use std::ops::Range;

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{
    Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, Zip, s,
};
use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use crate::affine::AffineBlock;
use crate::linearization::Linearization;
use crate::{CurvatureError, Result, convert};

/// Up to `R` rows for each of `N` particles, with the Gram matrix of each particle's rows. Unwritten rows are zero.
#[derive(Debug, Clone)]
pub struct LayeredRows {
    layers: Vec<LayerRows>,
    gram: Array3<f64>,
    dim: usize,
}

/// Inputs and cotangents of the layers of a [`LayeredRows`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayeredRowsParts(Vec<(Array3<f64>, Array3<f64>)>);

/// One layer's inputs (`N × R × K`) and cotangents (`N × R × O`).
#[derive(Debug, Clone)]
struct LayerRows {
    inputs: Array3<f64>,
    cotangents: Array3<f64>,
    weight: Range<usize>,
    bias: Option<Range<usize>>,
}

impl LayerRows {
    /// Adds the layer's part of the products of rows `left` of particle `p` with all rows of particle `q` to `out`.
    fn add_inner_products(
        &self,
        (p, q): (usize, usize),
        left: Range<usize>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let ((a, d), (b, e)) = (self.factors(p), self.factors(q));
        let inputs = a.slice(s![left.clone(), ..]).dot(&b.t());
        let one = if self.bias.is_some() { 1.0 } else { 0.0 };
        if d.ncols() == 1 {
            let (d, e) = (d.slice(s![left, 0]), e.column(0));
            for ((mut out, inputs), d) in out.rows_mut().into_iter().zip(inputs.rows()).zip(d) {
                Zip::from(&mut out)
                    .and(&inputs)
                    .and(&e)
                    .for_each(|o, a, e| *o += (a + one) * d * e);
            }
            return;
        }
        let cotangents = d.slice(s![left, ..]).dot(&e.t());
        Zip::from(&mut out)
            .and(&inputs)
            .and(&cotangents)
            .for_each(|o, a, d| *o += (a + one) * d);
    }
}

impl LayeredRows {
    /// Room for `rows` rows of what `linear` has, or none if a layer has several positions per sample (convolutions):
    /// there a row is a sum of products and has no such form.
    pub fn new(linear: &Linearization, rows: usize) -> Option<Self> {
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
        blocks
            .iter()
            .all(|block| block.positions() == 1)
            .then(|| Self {
                layers: blocks.iter().map(layer).collect(),
                gram: Array3::zeros((particles, rows, rows)),
                dim: linear.dim(),
            })
    }

    /// `N`.
    pub fn particles(&self) -> usize {
        self.gram.dim().0
    }

    /// `R`.
    pub fn rows(&self) -> usize {
        self.gram.dim().1
    }

    /// `d`.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Write the rows of `linear` and `root` (`N × b × c × k`) to `slot`; what they leave of it becomes zero.
    ///
    /// # Errors
    /// As for [`Linearization::rows`].
    pub fn write(
        &mut self,
        linear: &Linearization,
        root: &Tensor,
        slot: Range<usize>,
    ) -> Result<()> {
        let columns = root.size().last().copied().unwrap_or(0).max(1) as usize;
        let filled = (linear.batch() * columns).min(slot.len());
        for layer in &mut self.layers {
            layer
                .cotangents
                .slice_mut(s![.., slot.start + filled..slot.end, ..])
                .fill(0.0);
        }
        let layers = &mut self.layers;
        tch::no_grad(|| {
            linear.pull_back(root, |index, block, inputs, delta| {
                let layer = &mut layers[index];
                let outputs = block.outputs as i64;
                let delta = delta.f_reshape([linear.particles() as i64, -1, outputs])?;
                let target = slot.start..slot.start + filled;
                convert::copy_into(&delta, layer.cotangents.slice_mut(s![.., target, ..]))?;
                let shared: Array3<f64> = convert::array(&inputs.f_to_kind(Kind::Double)?)?;
                for (p, mut particle) in layer.inputs.outer_iter_mut().enumerate() {
                    let source = shared.index_axis(Axis(0), p.min(shared.dim().0 - 1));
                    for row in 0..filled {
                        particle
                            .row_mut(slot.start + row)
                            .assign(&source.row(row / columns));
                    }
                }
                Ok(())
            })
        })?;
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

    fn update_gram(&mut self, slot: Range<usize>) {
        for (p, mut gram) in self.gram.outer_iter_mut().enumerate() {
            let mut block = Array2::zeros((slot.len(), gram.ncols()));
            for layer in &self.layers {
                layer.add_inner_products((p, p), slot.clone(), block.view_mut());
            }
            gram.slice_mut(s![.., slot.clone()]).assign(&block.t());
            gram.slice_mut(s![slot.clone(), ..]).assign(&block);
        }
    }

    /// Copies of what the rows are made of, for a checkpoint.
    pub fn parts(&self) -> LayeredRowsParts {
        let layers = self.layers.iter();
        LayeredRowsParts(
            layers
                .map(|layer| (layer.inputs.clone(), layer.cotangents.clone()))
                .collect(),
        )
    }

    /// Put back what [`Self::parts`] gave. `slots` are those that were written, in the order of writing: the inner products
    /// are then computed as they were, to the last bit.
    ///
    /// # Errors
    /// [`CurvatureError::Shape`] for rows of another number or other layers.
    pub fn set_parts(
        &mut self,
        parts: LayeredRowsParts,
        slots: impl IntoIterator<Item = Range<usize>>,
    ) -> Result<()> {
        let shapes: Vec<_> = self
            .layers
            .iter()
            .map(|layer| (layer.inputs.dim(), layer.cotangents.dim()))
            .collect();
        let found = parts.0.iter().map(|(a, d)| (a.dim(), d.dim()));
        if !found.eq(shapes.iter().copied()) {
            return Err(CurvatureError::Shape {
                what: "parts of curvature rows",
                expected: format!("inputs and cotangents of the layers = {shapes:?}"),
                found: vec![parts.0.len() as i64],
            });
        }
        for (layer, (inputs, cotangents)) in self.layers.iter_mut().zip(parts.0) {
            layer.inputs = inputs;
            layer.cotangents = cotangents;
        }
        self.gram.fill(0.0);
        for slot in slots {
            self.update_gram(slot);
        }
        Ok(())
    }

    /// `J_p J_pᵀ`, `R × R`, kept up to date as rows are written.
    pub fn gram(&self, particle: usize) -> ArrayView2<'_, f64> {
        self.gram.index_axis(Axis(0), particle)
    }

    /// `J_p J_qᵀ`, `R × R`.
    pub fn cross_gram(&self, p: usize, q: usize) -> Array2<f64> {
        let mut out = Array2::zeros((self.rows(), self.rows()));
        for layer in &self.layers {
            layer.add_inner_products((p, q), 0..self.rows(), out.view_mut());
        }
        out
    }

    /// `out = x J_pᵀ`: the rows times each row of `x`.
    ///
    /// # Shapes
    /// `x`: `k × d`, `out`: `k × R`.
    pub fn project_into(
        &self,
        particle: usize,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let x = x.as_standard_layout();
        out.fill(0.0);
        for layer in &self.layers {
            let (a, d) = layer.factors(particle);
            let narrow = layer.narrow_side(particle);
            let mut image = Array2::zeros(narrow.values.dim());
            let mut shift = Array1::zeros(out.ncols());
            let mut weight = Array2::zeros((d.ncols(), a.ncols()));
            for (x, mut out) in x.rows().into_iter().zip(out.rows_mut()) {
                let source = x.slice(s![layer.weight.clone()]);
                let Ok(source) = source.into_shape_with_order(weight.dim()) else {
                    continue;
                };
                // Rows of odd length are not aligned, which costs a product more than this copy.
                weight.assign(&source);
                if narrow.is_inputs {
                    general_mat_mul(1.0, &d, &weight, 0.0, &mut image);
                } else {
                    multiply(a, weight.t(), 0.0, image.view_mut());
                }
                add_row_products(image.view(), narrow.values, out.view_mut());
                if let Some(bias) = &layer.bias {
                    general_mat_vec_mul(1.0, &d, &x.slice(s![bias.clone()]), 0.0, &mut shift);
                    out += &shift;
                }
            }
        }
    }

    /// `Σ_i (row i)²`, coordinate by coordinate: the diagonal of `J_pᵀ J_p`.
    pub fn squared_columns(&self, particle: usize) -> Array1<f64> {
        let mut out = Array1::zeros(self.dim);
        let square = |view: ArrayView2<'_, f64>| view.mapv(|v| v * v);
        for layer in &self.layers {
            let (a, d) = layer.factors(particle);
            let (a, d) = (square(a), square(d));
            let weight = d.t().dot(&a);
            out.slice_mut(s![layer.weight.clone()])
                .iter_mut()
                .zip(&weight)
                .for_each(|(o, w)| *o = *w);
            if let Some(bias) = &layer.bias {
                out.slice_mut(s![bias.clone()]).assign(&d.sum_axis(Axis(0)));
            }
        }
        out
    }

    /// `out = scale · z J_p + beta · out`: sums of the rows.
    ///
    /// # Shapes
    /// `z`: `k × R`, `out`: `k × d`.
    pub fn combine_into(
        &self,
        particle: usize,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        if !out.is_standard_layout() {
            let mut copy = out.as_standard_layout().into_owned();
            self.combine_into(particle, scale, z, beta, copy.view_mut());
            out.assign(&copy);
            return;
        }
        for layer in &self.layers {
            let (a, d) = layer.factors(particle);
            let narrow = layer.narrow_side(particle);
            let mut weighted = Array2::zeros(narrow.values.dim());
            for (z, mut out) in z.rows().into_iter().zip(out.rows_mut()) {
                if let Some(bias) = &layer.bias {
                    let mut target = out.slice_mut(s![bias.clone()]);
                    general_mat_vec_mul(scale, &d.t(), &z, beta, &mut target);
                }
                let target = out.slice_move(s![layer.weight.clone()]);
                let Ok(mut target) = target.into_shape_with_order((d.ncols(), a.ncols())) else {
                    continue;
                };
                weigh_rows_into(scale, z, narrow.values, weighted.view_mut());
                if narrow.is_inputs {
                    general_mat_mul(1.0, &d.t(), &weighted, beta, &mut target);
                } else {
                    multiply(weighted.t(), a, beta, target);
                }
            }
        }
    }
}

/// `out = A B + beta · out`, with the vector routine where one side is a vector: the matrix one has no fast path for it.
fn multiply(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    beta: f64,
    mut out: ArrayViewMut2<'_, f64>,
) {
    if b.ncols() == 1 {
        general_mat_vec_mul(1.0, &a, &b.column(0), beta, &mut out.column_mut(0));
    } else if a.nrows() == 1 {
        general_mat_vec_mul(1.0, &b.t(), &a.row(0), beta, &mut out.row_mut(0));
    } else {
        general_mat_mul(1.0, &a, &b, beta, &mut out);
    }
}

/// `out_i += a_i · b_i` for the rows of two matrices in standard layout.
fn add_row_products(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
) {
    let width = a.ncols().max(1);
    let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) else {
        unreachable!("both sides are stored row by row")
    };
    let rows = a.chunks_exact(width).zip(b.chunks_exact(width));
    for (o, (a, b)) in out.iter_mut().zip(rows) {
        // Four sums at a time, which vectorises.
        let mut sums = [0.0; 4];
        let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
        let rest = a4.remainder().iter().zip(b4.remainder());
        let rest: f64 = rest.map(|(a, b)| a * b).sum();
        for (a, b) in a4.zip(b4) {
            for i in 0..4 {
                sums[i] += a[i] * b[i];
            }
        }
        *o += (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
    }
}

/// `out_i = scale z_i values_i` for the rows of two matrices in standard layout.
fn weigh_rows_into(
    scale: f64,
    z: ArrayView1<'_, f64>,
    values: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) {
    let width = values.ncols().max(1);
    let (Some(values), Some(out)) = (values.as_slice(), out.as_slice_mut()) else {
        unreachable!("both sides are stored row by row")
    };
    let rows = out.chunks_exact_mut(width).zip(values.chunks_exact(width));
    for (z, (out, values)) in z.iter().zip(rows) {
        let z = scale * z;
        for (o, v) in out.iter_mut().zip(values) {
            *o = z * v;
        }
    }
}

/// The narrower of inputs and cotangents: what elementwise work runs over, while matrix products run over the other.
struct NarrowSide<'a> {
    values: ArrayView2<'a, f64>,
    is_inputs: bool,
}

impl LayerRows {
    fn narrow_side(&self, particle: usize) -> NarrowSide<'_> {
        let (a, d) = self.factors(particle);
        let is_inputs = a.ncols() < d.ncols();
        NarrowSide {
            values: if is_inputs { a } else { d },
            is_inputs,
        }
    }
}

impl LayerRows {
    fn factors(&self, particle: usize) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
        (
            self.inputs.index_axis(Axis(0), particle),
            self.cotangents.index_axis(Axis(0), particle),
        )
    }
}
