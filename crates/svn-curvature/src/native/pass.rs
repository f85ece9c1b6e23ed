//! One particle's way through the layers and back.

use ndarray::{Array2, ArrayView1, ArrayView2, s};
use svn_linalg::dense;

use super::activation::activate;
use super::number::Number;
use crate::block::AffineBlock;
use crate::{Layer, Result, Sequential};

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
    /// The factor of a scaling.
    Scale { factor: T },
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
                    tape.push(Record::Affine {
                        block: index,
                        input: values.take().as_ref().map(transposed),
                    });
                }
                values = Some(output);
            }
            Layer::Activation(function) => {
                let values =
                    values.get_or_insert_with(|| samples.as_standard_layout().into_owned());
                match tape.as_deref_mut() {
                    Some(tape) => {
                        let mut derivative = Array2::zeros(values.raw_dim());
                        activate(*function, elements(values), elements(&mut derivative));
                        tape.push(Record::Pointwise { derivative });
                    }
                    None => activate(*function, elements(values), &mut []),
                }
            }
            Layer::Scale(factor) => {
                let factor = T::from_f64(*factor);
                let values =
                    values.get_or_insert_with(|| samples.as_standard_layout().into_owned());
                values.mapv_inplace(|value| (factor * value).flushed());
                if let Some(tape) = tape.as_deref_mut() {
                    tape.push(Record::Scale { factor });
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

/// All elements, in row-major order.
fn elements<T>(values: &mut Array2<T>) -> &mut [T] {
    match values.as_slice_mut() {
        Some(elements) => elements,
        None => unreachable!("made in standard layout"),
    }
}

/// Rows become columns, eight rows at a time, which fill what is read and written at once.
fn transposed<T: Number>(values: &Array2<T>) -> Array2<T> {
    let (rows, columns) = values.dim();
    let mut out = Array2::from_elem((columns, rows), T::zero());
    let (from, to) = (values.as_slice(), out.as_slice_mut());
    let (Some(from), Some(to)) = (from, to) else {
        unreachable!("made in standard layout")
    };
    for first in (0..rows).step_by(8) {
        let count = (rows - first).min(8);
        for column in 0..columns {
            let to = &mut to[column * rows + first..][..count];
            for (i, to) in to.iter_mut().enumerate() {
                *to = from[(first + i) * columns + column];
            }
        }
    }
    out
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
            Record::Scale { factor } => cotangents.mapv_inplace(|c| (*factor * c).flushed()),
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
    let repeat = cotangents.ncols() / derivative.ncols().max(1);
    let (Some(cotangents), Some(derivative)) = (cotangents.as_slice_mut(), derivative.as_slice())
    else {
        unreachable!("made in standard layout")
    };
    dense::vectorized(
        #[inline(always)]
        || {
            if repeat == 1 {
                for (c, d) in cotangents.iter_mut().zip(derivative) {
                    *c = (*c * *d).flushed();
                }
                return;
            }
            for (c, d) in cotangents.chunks_exact_mut(repeat.max(1)).zip(derivative) {
                for c in c {
                    *c = (*c * *d).flushed();
                }
            }
        },
    );
}
