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

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayViewMut2, Axis, Zip, s};
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

/// One layer's inputs (`N × R × K`) and cotangents (`N × R × O`).
#[derive(Debug, Clone)]
struct LayerRows {
    inputs: Array3<f64>,
    cotangents: Array3<f64>,
    weight: Range<usize>,
    bias: Option<Range<usize>>,
}

impl LayerRows {
    fn inner_products(&self, p: usize, left: Range<usize>) -> Array2<f64> {
        let (a, d) = (
            self.inputs.index_axis(Axis(0), p),
            self.cotangents.index_axis(Axis(0), p),
        );
        let mut inputs = a.slice(s![left.clone(), ..]).dot(&a.t());
        if self.bias.is_some() {
            inputs += 1.0;
        }
        inputs *= &d.slice(s![left, ..]).dot(&d.t());
        inputs
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
                block += &layer.inner_products(p, slot.clone());
            }
            gram.slice_mut(s![.., slot.clone()]).assign(&block.t());
            gram.slice_mut(s![slot.clone(), ..]).assign(&block);
        }
    }

    /// `J_p J_pᵀ`, `R × R`.
    pub fn gram(&self, particle: usize) -> ArrayView2<'_, f64> {
        self.gram.index_axis(Axis(0), particle)
    }

    /// `J_p x`, `R × k`, for `x` of `d × k`.
    pub fn multiply(&self, particle: usize, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut out = Array2::zeros((self.rows(), x.ncols()));
        for (x, mut out) in x.columns().into_iter().zip(out.columns_mut()) {
            let x = x.as_standard_layout();
            for layer in &self.layers {
                let (a, d) = layer.factors(particle);
                let weight = x.slice(s![layer.weight.clone()]);
                let Ok(weight) = weight.into_shape_with_order((d.ncols(), a.ncols())) else {
                    continue;
                };
                let mut image = a.dot(&weight.t());
                if let Some(bias) = &layer.bias {
                    image += &x.slice(s![bias.clone()]);
                }
                for ((o, image), d) in out.iter_mut().zip(image.rows()).zip(d.rows()) {
                    *o += image.dot(&d);
                }
            }
        }
        out
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

    /// `out = scale · J_pᵀ z + beta · out`, `d × k`, for `z` of `R × k`.
    pub fn multiply_transposed_into(
        &self,
        particle: usize,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let mut column = Array1::zeros(self.dim);
        for (z, mut out) in z.columns().into_iter().zip(out.columns_mut()) {
            for layer in &self.layers {
                let (a, d) = layer.factors(particle);
                let mut weighted = d.to_owned();
                Zip::from(weighted.rows_mut())
                    .and(&z)
                    .for_each(|mut row, &z| row *= scale * z);
                if let Some(bias) = &layer.bias {
                    column
                        .slice_mut(s![bias.clone()])
                        .assign(&weighted.sum_axis(Axis(0)));
                }
                let target = column.slice_mut(s![layer.weight.clone()]);
                if let Ok(mut target) = target.into_shape_with_order((d.ncols(), a.ncols())) {
                    general_mat_mul(1.0, &weighted.t(), &a, 0.0, &mut target);
                }
            }
            Zip::from(&mut out)
                .and(&column)
                .for_each(|o, c| *o = beta * *o + c);
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
