//! The rows of one particle, multiplied layer by layer.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use svn_linalg::{Rows, dense};

use super::products::{add_row_products, multiply, weigh_rows_into};
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

    /// All vectors at once, so that a layer's inputs or cotangents are read by one product.
    fn project_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let x = x.as_standard_layout();
        let k = x.nrows();
        out.fill(0.0);
        for layer in &self.rows.layers {
            let (a, d) = layer.factors(self.particle);
            let (outputs, inputs) = (d.ncols(), a.ncols());
            let narrow = layer.narrow_side(self.particle);
            let width = narrow.values.ncols();
            let mut image = Array2::zeros((d.nrows(), k * width));
            if narrow.is_inputs {
                // Vectors side by side.
                let mut weights = Array2::zeros((outputs, k * inputs));
                for (v, x) in x.rows().into_iter().enumerate() {
                    let source = x.slice_move(s![layer.weight.clone()]);
                    let columns = v * inputs..(v + 1) * inputs;
                    let mut target = weights.slice_mut(s![.., columns]);
                    target.iter_mut().zip(source).for_each(|(o, x)| *o = *x);
                }
                dense::multiply(1.0, d, weights.view(), 0.0, image.view_mut());
            } else {
                // Vectors one below the other.
                let mut weights = Array2::zeros((k * outputs, inputs));
                for (v, x) in x.rows().into_iter().enumerate() {
                    let source = x.slice_move(s![layer.weight.clone()]);
                    let rows = v * outputs..(v + 1) * outputs;
                    let mut target = weights.slice_mut(s![rows, ..]);
                    target.iter_mut().zip(source).for_each(|(o, x)| *o = *x);
                }
                dense::multiply(1.0, a, weights.t(), 0.0, image.view_mut());
            }
            add_row_products(image.view(), narrow.values, out.view_mut());
            if let Some(bias) = &layer.bias {
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
        for layer in &self.rows.layers {
            let (a, d) = layer.factors(self.particle);
            let narrow = layer.narrow_side(self.particle);
            let mut weighted = Array2::zeros(narrow.values.dim());
            for (z, mut out) in z.rows().into_iter().zip(out.rows_mut()) {
                if let Some(bias) = &layer.bias {
                    let mut target = out.slice_mut(s![bias.clone()]);
                    dense::multiply_vector(scale, d.t(), z.view(), beta, target.view_mut());
                }
                let target = out.slice_move(s![layer.weight.clone()]);
                let Ok(mut target) = target.into_shape_with_order((d.ncols(), a.ncols())) else {
                    continue;
                };
                weigh_rows_into(scale, z, narrow.values, weighted.view_mut());
                if narrow.is_inputs {
                    dense::multiply(1.0, d.t(), weighted.view(), beta, target.view_mut());
                } else {
                    multiply(weighted.t(), a, beta, target);
                }
            }
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
