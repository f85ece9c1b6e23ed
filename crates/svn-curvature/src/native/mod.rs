//! Multilayer perceptrons in plain Rust: every product of a particle is one of small dense matrices.
//!
//! ```text
//! forward   zᵀ = W aᵀ + β          pull back   δ'ᵀ = (Wᵀ δᵀ) ∘ f'(z)ᵀ          gradient   ∂W = δᵀ a,  ∂β = Σ δ
//! ```
//!
//! Values stand with samples as columns, so that the products run along samples whatever the widths are; the weights are
//! read where they lie in the flat vector.

mod activation;
mod elementary;
mod linearization;
mod number;
mod pass;
mod samples;

use ndarray::{ArrayView2, Axis};

use crate::{Layer, Precision, Samples, Sequential};
use number::Number;
use samples::NativeSamples;

/// The first layer that this backend does not have, and its index.
pub(crate) fn first_unsupported(network: &Sequential) -> Option<(usize, &Layer)> {
    let is_vector = |layer: &Layer| {
        matches!(
            layer,
            Layer::Linear { .. } | Layer::Activation(_) | Layer::Scale(_) | Layer::Flatten
        )
    };
    let mut layers = network.layers().iter().enumerate();
    layers.find(|(_, layer)| !is_vector(layer))
}

/// Takes in samples, checked, for networks without unsupported layers.
pub(crate) fn samples(precision: Precision, x: ArrayView2<'_, f64>) -> Box<dyn Samples> {
    fn typed<T: Number>(x: ArrayView2<'_, f64>) -> Box<dyn Samples> {
        Box::new(NativeSamples::<T>::new(T::converted(
            x.insert_axis(Axis(0)),
        )))
    }
    match precision {
        Precision::Double => typed::<f64>(x),
        Precision::Single => typed::<f32>(x),
    }
}
