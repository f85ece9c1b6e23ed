//! The layers that have weights: where these lie, and priors of their own.

use std::ops::Range;

use svn_curvature::{Layer, Sequential};

use crate::ModelError;

/// Where weight and bias of each affine layer lie in the flat vector, first layer first.
pub fn affine_layers(network: &Sequential) -> Vec<Range<usize>> {
    let mut layers: Vec<Range<usize>> = Vec::new();
    for block in network.layout().blocks() {
        match layers.last_mut() {
            Some(layer) if block.shape().len() == 1 => layer.end = block.range().end,
            _ => layers.push(block.range()),
        }
    }
    layers
}

/// The same network with a prior of precision `r_l δ` on its `l`-th affine layer wherever all weights are given one of precision `δ`: a
/// [scaling](Layer::Scale) by `1/√r_l` behind the layer. Its weights are those of before times `√r_l`.
///
/// # Errors
/// [`ModelError::Setting`] for another number of factors than there are affine layers, or one that is not positive.
pub(crate) fn with_layer_precisions(
    network: &Sequential,
    factors: &[f64],
) -> Result<Sequential, ModelError> {
    let affine = affine_layers(network).len();
    let given = || format!("{factors:?}");
    if factors.len() != affine {
        let expected = format!("one for each of {affine} affine layers");
        return Err(ModelError::setting("layer_precisions", given(), &expected));
    }
    if !factors
        .iter()
        .all(|factor| factor.is_finite() && *factor > 0.0)
    {
        let expected = "positive finite numbers";
        return Err(ModelError::setting("layer_precisions", given(), expected));
    }
    let mut factors = factors.iter();
    let mut layers = Vec::new();
    for layer in network.layers() {
        layers.push(layer.clone());
        if layer.is_affine()
            && let Some(factor) = factors.next()
            && *factor != 1.0
        {
            layers.push(Layer::Scale(factor.sqrt().recip()));
        }
    }
    Ok(Sequential::new(network.input_shape(), layers)?)
}

#[cfg(test)]
#[path = "affine_layers_tests.rs"]
mod tests;
