//! The rows of one particle, multiplied layer by layer.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use svn_linalg::{Rows, dense};

use super::products::{add_row_products, weigh_rows_into};
use super::{LayerRows, LayeredRows};

/// `J_p` of [`LayeredRows`].
#[derive(Debug)]
pub(super) struct LayeredParticle<'a> {
    pub rows: &'a LayeredRows,
    pub particle: usize,
}

impl Rows for LayeredParticle<'_> {
    fn count(&self) -> usize {
        self.rows.count()
    }

    fn dim(&self) -> usize {
        self.rows.dim
    }

    /// Layer by layer: a product with the weights of as many vectors as make a wide matrix, then one with the narrow side.
    fn project_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let x = x.as_standard_layout();
        out.fill(0.0);
        let mut image = Vec::new();
        for layer in &self.rows.layers {
            layer.add_projections(self.particle, x.view(), out.view_mut(), &mut image);
            if let Some(bias) = &layer.bias {
                let (_, d) = layer.factors(self.particle);
                let x = x.slice(s![.., bias.clone()]);
                dense::multiply(1.0, x, d.t(), 1.0, out.view_mut());
            }
        }
    }

    fn gram_into(&self, mut out: ArrayViewMut2<'_, f64>) {
        // Kept up to date as rows are written.
        out.assign(&self.rows.gram.index_axis(Axis(0), self.particle));
    }

    fn squared_columns(&self) -> Array1<f64> {
        let mut out = Array1::zeros(self.dim());
        let square = |view: ArrayView2<'_, f64>| view.mapv(|v| v * v);
        for layer in &self.rows.layers {
            let (a, d) = layer.factors(self.particle);
            let (a, d) = (square(a), square(d));
            let weight = dense::product(d.t(), a.view());
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

    /// Row by row, which costs no more than writing them.
    fn written_out(&self) -> Array2<f64> {
        let mut out = Array2::zeros((self.count(), self.dim()));
        for layer in &self.rows.layers {
            let (a, d) = layer.factors(self.particle);
            for (mut out, (a, d)) in out
                .rows_mut()
                .into_iter()
                .zip(a.rows().into_iter().zip(d.rows()))
            {
                let mut weight = out.slice_mut(s![layer.weight.clone()]).into_iter();
                for d in d {
                    for (a, to) in a.iter().zip(&mut weight) {
                        *to = d * a;
                    }
                }
                if let Some(bias) = &layer.bias {
                    out.slice_mut(s![bias.clone()]).assign(&d);
                }
            }
        }
        out
    }

    fn combine_into(
        &self,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        if !out.is_standard_layout() {
            let mut copy = out.as_standard_layout().into_owned();
            self.combine_into(scale, z, beta, copy.view_mut());
            out.assign(&copy);
            return;
        }
        let mut weighted = Vec::new();
        for layer in &self.rows.layers {
            let (_, d) = layer.factors(self.particle);
            if let Some(bias) = &layer.bias {
                let out = out.slice_mut(s![.., bias.clone()]);
                dense::multiply(scale, z.view(), d, beta, out);
            }
            layer.combine(
                self.particle,
                (scale, z.view()),
                beta,
                out.view_mut(),
                &mut weighted,
            );
        }
    }
}

/// Columns from which on a product is as fast as a wider one.
const WIDE: usize = 48;

/// Rows at a time, so that what is made of them stays in the first two caches.
const BLOCK: usize = 64;

/// The narrower of inputs and cotangents, over which elementwise work runs, and the other, which is multiplied by matrices.
struct Sides<'a> {
    narrow: ArrayView2<'a, f64>,
    wide: ArrayView2<'a, f64>,
    /// Whether the narrow side are the inputs.
    is_inputs: bool,
}

impl LayerRows {
    fn sides(&self, particle: usize) -> Sides<'_> {
        let (a, d) = self.factors(particle);
        let is_inputs = a.ncols() <= d.ncols();
        let (narrow, wide) = if is_inputs { (a, d) } else { (d, a) };
        Sides {
            narrow,
            wide,
            is_inputs,
        }
    }

    /// Weights of one of the rows of `x`, standing so that the wide side can be multiplied by them.
    fn weights<'x>(&self, x: ArrayView1<'x, f64>, sides: &Sides<'_>) -> ArrayView2<'x, f64> {
        let (narrow, wide) = (sides.narrow.ncols(), sides.wide.ncols());
        let weights = x.slice_move(s![self.weight.clone()]);
        let shape = match sides.is_inputs {
            true => (wide, narrow).strides((narrow, 1)),
            false => (wide, narrow).strides((1, wide)),
        };
        match weights.to_slice().map(|w| ArrayView2::from_shape(shape, w)) {
            Some(Ok(weights)) => weights,
            _ => unreachable!("vectors are stored one after the other"),
        }
    }

    /// `out_vi += narrow_i · (W_vᵀ wide_i)` for the weights `W_v` in the rows of `x`, which is in standard layout; `image` is
    /// memory.
    fn add_projections(
        &self,
        particle: usize,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
        image: &mut Vec<f64>,
    ) {
        let sides = self.sides(particle);
        let (rows, width) = sides.narrow.dim();
        if rows == 0 || width == 0 {
            return;
        }
        let group = (WIDE / width).clamp(1, x.nrows().max(1));
        let room = BLOCK.min(rows) * group * width;
        image.resize(room.max(image.len()), 0.0);
        let mut beside = Array2::zeros((
            sides.wide.ncols(),
            if group > 1 { group * width } else { 0 },
        ));
        for (x, mut out) in x
            .axis_chunks_iter(Axis(0), group)
            .zip(out.axis_chunks_iter_mut(Axis(0), group))
        {
            let columns = x.nrows() * width;
            let weights = if x.nrows() == 1 {
                self.weights(x.row(0), &sides)
            } else {
                for (v, x) in x.rows().into_iter().enumerate() {
                    let to = s![.., v * width..(v + 1) * width];
                    beside.slice_mut(to).assign(&self.weights(x, &sides));
                }
                beside.slice(s![.., ..columns])
            };
            for (block, wide) in sides.wide.axis_chunks_iter(Axis(0), BLOCK).enumerate() {
                let rows = block * BLOCK..block * BLOCK + wide.nrows();
                let image = &mut image[..rows.len() * columns];
                if let Ok(image) = ArrayViewMut2::from_shape((rows.len(), columns), image) {
                    dense::multiply(1.0, wide, weights, 0.0, image);
                }
                let narrow = sides.narrow.slice(s![rows.clone(), ..]);
                add_row_products(image, narrow, out.slice_mut(s![.., rows]));
            }
        }
    }

    /// `W_v = scale Σ_i z_vi δ_i a_iᵀ + beta W_v` for the weights in the rows of `out`, which is in standard layout;
    /// `weighted` is memory.
    fn combine(
        &self,
        particle: usize,
        (scale, z): (f64, ArrayView2<'_, f64>),
        beta: f64,
        mut out: ArrayViewMut2<'_, f64>,
        weighted: &mut Vec<f64>,
    ) {
        let sides = self.sides(particle);
        let (narrow, wide) = (sides.narrow.ncols(), sides.wide.ncols());
        let room = BLOCK.min(z.ncols()) * narrow;
        weighted.resize(room.max(weighted.len()), 0.0);
        for (z, mut out) in z.rows().into_iter().zip(out.rows_mut()) {
            let target = out.slice_mut(s![self.weight.clone()]);
            let shape = if sides.is_inputs {
                (wide, narrow)
            } else {
                (narrow, wide)
            };
            let Ok(mut target) = target.into_shape_with_order(shape) else {
                unreachable!("vectors are stored one after the other")
            };
            // Once also without rows, for `beta`.
            for first in (0..z.len().max(1)).step_by(BLOCK) {
                let rows = first..z.len().min(first + BLOCK);
                let beta = if first == 0 { beta } else { 1.0 };
                let wide = sides.wide.slice(s![rows.clone(), ..]);
                let narrow = sides.narrow.slice(s![rows.clone(), ..]);
                let weighted = &mut weighted[..narrow.len()];
                weigh_rows_into(scale, z.slice(s![rows]), narrow, weighted);
                let Ok(weighted) = ArrayView2::from_shape(narrow.dim(), &*weighted) else {
                    unreachable!("as many numbers as the narrow side has")
                };
                let (left, right) = match sides.is_inputs {
                    true => (wide, weighted),
                    false => (weighted, wide),
                };
                dense::multiply(1.0, left.t(), right, beta, target.view_mut());
            }
        }
    }
}
