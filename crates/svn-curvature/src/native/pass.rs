//! One particle's way through the layers and back.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use svn_linalg::dense;

use super::number::Number;
use crate::block::AffineBlock;
use crate::{Activation, Layer, Result, Sequential};

/// What a layer leaves for the way back.
#[derive(Debug, Clone)]
pub(super) enum Record<T> {
    /// The inputs of the affine layer with this index among the affine ones, `b × K`; none where these are the samples.
    Affine {
        block: usize,
        input: Option<Array2<T>>,
    },
    /// The derivative of an elementwise function, `width × b`.
    Pointwise { derivative: Array2<T> },
}

/// The weight of a layer, `O × K`, in the flat parameters.
pub(super) fn weight<'a, T>(block: &AffineBlock, params: ArrayView1<'a, T>) -> ArrayView2<'a, T> {
    let (rows, columns) = (block.outputs, block.fan_in);
    let flat = params.slice_move(s![block.weight.clone()]);
    // A slice of one dimension with unit stride has this shape.
    match flat.into_shape_with_order((rows, columns)) {
        Ok(weight) => weight,
        Err(error) => unreachable!("parameters lie side by side: {error}"),
    }
}

/// Outputs `c × b` of one particle at samples `p × b`.
///
/// `tape` collects what the way back needs; `inspect` sees the values behind each layer.
pub(super) fn forward<T: Number>(
    network: &Sequential,
    params: ArrayView1<'_, T>,
    samples: ArrayView2<'_, T>,
    mut tape: Option<&mut Vec<Record<T>>>,
    mut inspect: impl FnMut(usize, ArrayView2<'_, T>) -> Result<()>,
) -> Result<Array2<T>> {
    let mut blocks = network.blocks().iter().enumerate();
    // None while these are the samples.
    let mut values: Option<Array2<T>> = None;
    for (index, layer) in network.layers().iter().enumerate() {
        match layer {
            Layer::Linear { .. } => {
                let Some((index, block)) = blocks.next() else {
                    unreachable!("one block per affine layer")
                };
                let input = values.as_ref().map_or(samples, |values| values.view());
                let output = affine(block, params, input);
                if let Some(tape) = tape.as_deref_mut() {
                    let rows = |values: Array2<T>| values.t().as_standard_layout().into_owned();
                    tape.push(Record::Affine {
                        block: index,
                        input: values.take().map(rows),
                    });
                }
                values = Some(output);
            }
            Layer::Activation(function) => {
                let values = values.get_or_insert_with(|| samples.to_owned());
                match tape.as_deref_mut() {
                    Some(tape) => {
                        let mut derivative = Array2::zeros(values.raw_dim());
                        activate(*function, values, Some(&mut derivative));
                        tape.push(Record::Pointwise { derivative });
                    }
                    None => activate(*function, values, None),
                }
            }
            // Vectors are flat.
            _ => {}
        }
        inspect(
            index,
            values.as_ref().map_or(samples, |values| values.view()),
        )?;
    }
    Ok(values.unwrap_or_else(|| samples.to_owned()))
}

/// `W aᵀ + β`, `O × b`.
fn affine<T: Number>(
    block: &AffineBlock,
    params: ArrayView1<'_, T>,
    input: ArrayView2<'_, T>,
) -> Array2<T> {
    let mut output = Array2::zeros((block.outputs, input.ncols()));
    if block.has_bias() {
        let bias = params.slice(s![block.bias.clone()]);
        for (mut row, bias) in output.outer_iter_mut().zip(bias) {
            row.fill(*bias);
        }
    }
    dense::multiply(
        T::one(),
        weight(block, params),
        input,
        T::one(),
        output.view_mut(),
    );
    output
}

/// Replaces `z` by the function's values, and gives its derivatives.
fn activate<T: Number>(
    function: Activation,
    values: &mut Array2<T>,
    derivative: Option<&mut Array2<T>>,
) {
    let Some(z) = values.as_slice_memory_order_mut() else {
        unreachable!("an owned array is in one piece")
    };
    let mut none = [];
    let slopes = match derivative.and_then(|d| d.as_slice_memory_order_mut()) {
        Some(slopes) => slopes,
        None => &mut none[..],
    };
    if function == Activation::Relu {
        dense::vectorized(
            #[inline(always)]
            || {
                for (z, slope) in z.iter().zip(slopes.iter_mut()) {
                    *slope = if *z > T::zero() { T::one() } else { T::zero() };
                }
                for z in z.iter_mut() {
                    *z = if *z < T::zero() { T::zero() } else { *z };
                }
            },
        );
        return;
    }
    for (i, z) in z.iter_mut().enumerate() {
        let (value, slope) = function.value_and_slope(z.to_f64());
        *z = T::from_f64(value);
        if let Some(out) = slopes.get_mut(i) {
            *out = T::from_f64(slope);
        }
    }
}

/// Pulls cotangents `c × bk` back through the records, and shows each affine layer from `first` on, last first, with its
/// inputs `b × K` (none where these are the samples) and its cotangents `O × bk`.
pub(super) fn pull_back<T: Number>(
    records: &[Record<T>],
    blocks: &[AffineBlock],
    first: usize,
    params: ArrayView1<'_, T>,
    mut cotangents: Array2<T>,
    mut visit: impl FnMut(usize, Option<ArrayView2<'_, T>>, ArrayView2<'_, T>) -> Result<()>,
) -> Result<()> {
    for record in records.iter().rev() {
        match record {
            Record::Pointwise { derivative } => scale(&mut cotangents, derivative),
            Record::Affine { block, input } => {
                let input = input.as_ref().map(|input| input.view());
                visit(*block, input, cotangents.view())?;
                if *block == first {
                    return Ok(());
                }
                cotangents = dense::product(weight(&blocks[*block], params).t(), cotangents.view());
            }
        }
    }
    Ok(())
}

/// `cotangents[o, i k + j] *= derivative[o, i]`.
fn scale<T: Number>(cotangents: &mut Array2<T>, derivative: &Array2<T>) {
    let (samples, columns) = (derivative.ncols(), cotangents.ncols());
    let repeat = columns / samples.max(1);
    let rows = cotangents.axis_iter_mut(Axis(0)).zip(derivative.rows());
    for (mut cotangents, derivative) in rows {
        let (Some(c), Some(d)) = (cotangents.as_slice_mut(), derivative.to_slice()) else {
            unreachable!("owned arrays have rows in one piece")
        };
        if repeat == 1 {
            for (c, d) in c.iter_mut().zip(d) {
                *c = *c * *d;
            }
        } else {
            for (c, d) in c.chunks_exact_mut(repeat.max(1)).zip(d) {
                for c in c {
                    *c = *c * *d;
                }
            }
        }
    }
}
