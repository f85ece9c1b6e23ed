//! Dense kernels of rows that are products: inner products in tiles, and products with the narrower side.

use std::ops::Range;

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Zip, s};
use svn_linalg::dense;

use super::LayerRows;

/// Rows whose inner products with all others are made at a time, so that the three tables of it stay in the cache.
pub(super) const TILE: usize = 32;

/// Room for the inner products of up to [`TILE`] rows with all rows: inputs, cotangents, and the sum over layers.
pub(super) struct Tile([Array2<f64>; 3]);

impl Tile {
    pub(super) fn new(rows: usize) -> Self {
        Self([(); 3].map(|()| Array2::zeros((TILE.min(rows), rows))))
    }
}

impl LayerRows {
    /// Adds the layer's part of the products of rows `left` of particle `p` with rows `right` of particle `q` to `out`.
    fn add_inner_products(
        &self,
        [(p, left), (q, right)]: [(usize, Range<usize>); 2],
        [mut inputs, mut cotangents]: [ArrayViewMut2<'_, f64>; 2],
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let ((a, d), (b, e)) = (self.factors(p), self.factors(q));
        let (a, d) = (a.slice(s![left.clone(), ..]), d.slice(s![left, ..]));
        let (b, e) = (b.slice(s![right.clone(), ..]), e.slice(s![right, ..]));
        dense::multiply(1.0, a.view(), b.t(), 0.0, inputs.view_mut());
        let one = if self.bias.is_some() { 1.0 } else { 0.0 };
        if d.ncols() == 1 {
            let (d, e) = (d.column(0), e.column(0));
            for ((mut out, inputs), d) in out.rows_mut().into_iter().zip(inputs.rows()).zip(d) {
                Zip::from(&mut out)
                    .and(&inputs)
                    .and(&e)
                    .for_each(|o, a, e| *o += (a + one) * d * e);
            }
            return;
        }
        dense::multiply(1.0, d.view(), e.t(), 0.0, cotangents.view_mut());
        for ((mut out, inputs), cotangents) in out
            .rows_mut()
            .into_iter()
            .zip(inputs.rows())
            .zip(cotangents.rows())
        {
            Zip::from(&mut out)
                .and(&inputs)
                .and(&cotangents)
                .for_each(|o, a, d| *o += (a + one) * d);
        }
    }
}

/// Products of up to [`TILE`] rows of one particle with rows of another, over all layers.
pub(super) fn inner_products<'t>(
    layers: &[LayerRows],
    pair: [(usize, Range<usize>); 2],
    Tile(tables): &'t mut Tile,
) -> ArrayViewMut2<'t, f64> {
    let [inputs, cotangents, sum] = tables;
    let (height, width) = (pair[0].1.len(), pair[1].1.len());
    let mut out = sum.slice_mut(s![..height, ..width]);
    out.fill(0.0);
    for layer in layers {
        let scratch =
            [&mut *inputs, &mut *cotangents].map(|table| table.slice_mut(s![..height, ..width]));
        layer.add_inner_products(pair.clone(), scratch, out.view_mut());
    }
    out
}

/// `out_vi += a_vi · b_i` for the rows `b_i` of one matrix and those of another of which `a_vi` are parts, one for each row of
/// `out`; `a` and `b` row by row.
pub(super) fn add_row_products(a: &[f64], b: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
    let width = b.ncols().max(1);
    let wide = width * out.nrows();
    let Some(b) = b.as_slice() else {
        unreachable!("rows are stored one after the other")
    };
    for (v, mut out) in out.rows_mut().into_iter().enumerate() {
        dense::vectorized(
            #[inline(always)]
            || {
                let rows = a.chunks_exact(wide).zip(b.chunks_exact(width));
                for (o, (a, b)) in out.iter_mut().zip(rows) {
                    let a = &a[v * width..(v + 1) * width];
                    let mut sums = [0.0; LANES];
                    let (whole, others) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
                    let mut rest = 0.0;
                    for (a, b) in whole.remainder().iter().zip(others.remainder()) {
                        rest += a * b;
                    }
                    for (a, b) in whole.zip(others) {
                        for l in 0..LANES {
                            sums[l] += a[l] * b[l];
                        }
                    }
                    let [a, b, c, d, e, f, g, h] = sums;
                    *o += (((a + e) + (c + g)) + ((b + f) + (d + h))) + rest;
                }
            },
        );
    }
}

/// Sums at a time in [`add_row_products`].
const LANES: usize = 8;

/// `out_i = scale z_i values_i` for the rows of two matrices, one after the other.
pub(super) fn weigh_rows_into(
    scale: f64,
    z: ArrayView1<'_, f64>,
    values: ArrayView2<'_, f64>,
    out: &mut [f64],
) {
    let width = values.ncols().max(1);
    let Some(values) = values.as_slice() else {
        unreachable!("rows are stored one after the other")
    };
    dense::vectorized(
        #[inline(always)]
        || {
            let rows = out.chunks_exact_mut(width).zip(values.chunks_exact(width));
            for (z, (out, values)) in z.iter().zip(rows) {
                let z = scale * z;
                for (o, v) in out.iter_mut().zip(values) {
                    *o = z * v;
                }
            }
        },
    );
}
