use approx::assert_relative_eq;
use ndarray::{Array2, s};
use svn_curvature::{Activation, Backend};

use super::*;
use crate::network::{LeNetSettings, MlpSettings, initial_particles, last_layer};

fn perceptron(activation: Activation) -> Sequential {
    let settings = MlpSettings {
        inputs: 3,
        hidden: vec![8, 7],
        outputs: 2,
        activation,
    };
    settings.build().unwrap()
}

#[test]
fn layers_lie_side_by_side_and_the_last_is_the_last() {
    let network = perceptron(Activation::Relu);
    assert_eq!(affine_layers(&network), [0..32, 32..95, 95..111]);
    let lenet = LeNetSettings {
        outputs: 10,
        activation: Activation::Relu,
    };
    let lenet = lenet.build().unwrap();
    let layers = affine_layers(&lenet);
    assert_eq!((layers.len(), layers[0].clone()), (5, 0..156));
    let indices = last_layer(&lenet).indices();
    assert_eq!(indices, layers[4].clone().collect::<Vec<_>>());
    // A bias alone does not begin a layer, nor does its absence end one.
    let bare = |inputs, outputs| Layer::Linear {
        inputs,
        outputs,
        bias: false,
    };
    let network = Sequential::new(&[4], vec![bare(4, 3), bare(3, 1)]).unwrap();
    assert_eq!(affine_layers(&network), [0..12, 12..15]);
}

#[test]
fn scaled_layers_start_as_the_same_functions() {
    for activation in [Activation::Relu, Activation::Sigmoid] {
        let plain = perceptron(activation);
        let factors = [0.25, 1.0, 9.0];
        let scaled = with_layer_precisions(&plain, &factors).unwrap();
        // Behind the first and the last layer.
        assert_eq!(scaled.layers().len(), plain.layers().len() + 2);
        assert_eq!(affine_layers(&scaled), affine_layers(&plain));
        let x = Array2::from_shape_fn((6, 3), |(i, j)| (i as f64 - 2.0) * 0.4 + j as f64);
        let outputs = |network: &Sequential| {
            let particles = initial_particles(network, 2, 3);
            let samples = Backend::default().samples(network, x.view()).unwrap();
            let outputs = samples.forward(network, particles.view()).unwrap();
            (particles, outputs)
        };
        let (before, after) = (outputs(&plain), outputs(&scaled));
        assert_relative_eq!(before.1, after.1, max_relative = 1e-12);
        for (layer, factor) in affine_layers(&plain).into_iter().zip(factors) {
            let weights = before.0.slice(s![.., layer.clone()]).to_owned() * factor.sqrt();
            assert_relative_eq!(weights, after.0.slice(s![.., layer]), max_relative = 1e-12);
        }
    }
}

#[test]
fn what_is_no_prior_of_the_layers_is_refused() {
    let network = perceptron(Activation::Tanh);
    let message = |factors: &[f64]| {
        let error = with_layer_precisions(&network, factors).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        message(&[1.0, 2.0]),
        "layer_precisions is [1.0, 2.0]; expected one for each of 3 affine layers"
    );
    assert_eq!(
        message(&[1.0, 2.0, f64::NAN]),
        "layer_precisions is [1.0, 2.0, NaN]; expected positive finite numbers"
    );
}
