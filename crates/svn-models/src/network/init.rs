//! Starting weights, one random stream a particle.
//!
//! ```text
//! last layer, fan-in m                          W ~ N(0, 1/m)
//! before a sigmoid, fan-in m and fan-out k      W ~ N(0, 16 · 2/(m + k))
//! any other layer                               W ~ N(0, 2/m)
//! biases                                        uniform on ±1/√m, behind a sigmoid minus ½ Σ_inputs W
//! ```
//!
//! Since `σ(z) = ½ + ½ tanh(z/2)`, weights four times Glorot's and biases that take the mean ½ out make a sigmoid layer
//! start as a tanh layer; with smaller weights, or with the ½ left in, deep sigmoid networks stay long where all inputs
//! give the same output. A layer with a scaling behind it starts with weight and bias divided by its factor, as the same function.
//!
//! Particle `p` draws from stream `p` of the seed, so that the first particles of a larger ensemble are those of a
//! smaller one.
//!
//! # References
//! - X. Glorot, Y. Bengio, *Understanding the difficulty of training deep feedforward neural networks* (2010).
//! - K. He et al., *Delving deep into rectifiers* (2015).

use ndarray::{Array2, ArrayView1, Axis, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};
use svn_curvature::{Activation, Layer, Sequential};

/// `N × d` starting weights for `network`.
pub fn initial_particles(network: &Sequential, particles: usize, seed: u64) -> Array2<f64> {
    let layout = network.layout();
    let mut weights = Array2::zeros((particles, layout.dim()));
    for (p, mut particle) in weights.rows_mut().into_iter().enumerate() {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        rng.set_stream(p as u64);
        let mut followers = followers(network).into_iter();
        let mut scale = 1.0;
        let mut fan_in = 1.0f64;
        let mut behind_sigmoid = false;
        let mut offsets = Vec::new();
        for block in layout.blocks() {
            if let [outputs, inputs @ ..] = block.shape()
                && !inputs.is_empty()
            {
                fan_in = inputs.iter().product::<usize>().max(1) as f64;
                let window: usize = inputs[1..].iter().product();
                let fan_out = (outputs * window) as f64;
                let behind = followers.next().unwrap_or_default();
                scale = behind.scale;
                let follower = behind.activation;
                let variance = match follower {
                    Some(Activation::Sigmoid) => 32.0 / (fan_in + fan_out),
                    Some(_) => 2.0 / fan_in,
                    None => 1.0 / fan_in,
                };
                for index in block.range() {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    particle[index] = variance.sqrt() * z;
                }
                let mut weight = particle.slice_mut(s![block.range()]);
                offsets = match behind_sigmoid {
                    true => half_sums(weight.view(), *outputs),
                    false => vec![0.0; *outputs],
                };
                weight /= scale;
                behind_sigmoid = follower == Some(Activation::Sigmoid);
            } else {
                let bound = fan_in.recip().sqrt();
                for (index, offset) in block.range().zip(&offsets) {
                    let u =
                        Uniform::new_inclusive(-bound, bound).map_or(0.0, |u| u.sample(&mut rng));
                    particle[index] = (u - offset) / scale;
                }
            }
        }
    }
    weights
}

/// `½ Σ_k W_ok` of each output.
fn half_sums(weights: ArrayView1<'_, f64>, outputs: usize) -> Vec<f64> {
    let fan_in = weights.len() / outputs;
    weights
        .axis_chunks_iter(Axis(0), fan_in)
        .map(|row| 0.5 * row.sum())
        .collect()
}

/// What is behind an affine layer, before the next one.
#[derive(Debug, Clone, Copy)]
struct Behind {
    /// None behind the last.
    activation: Option<Activation>,
    /// Before the activation.
    scale: f64,
}

impl Default for Behind {
    fn default() -> Self {
        Self {
            activation: None,
            scale: 1.0,
        }
    }
}

fn followers(network: &Sequential) -> Vec<Behind> {
    let mut followers: Vec<Behind> = Vec::new();
    for layer in network.layers() {
        if layer.is_affine() {
            followers.push(Behind::default());
        }
        match (layer, followers.last_mut()) {
            (Layer::Activation(activation), Some(last)) => last.activation = Some(*activation),
            (Layer::Scale(factor), Some(last)) if last.activation.is_none() => {
                last.scale *= factor;
            }
            _ => {}
        }
    }
    followers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::LeNetSettings;
    use approx::assert_relative_eq;

    /// Mean squares of 2400 to 48 000 normal numbers: relative standard error √(2/2400) = 2.9 % at most.
    #[test]
    fn variances_follow_fan_in_and_fan_out() {
        for (activation, conv, hidden) in [
            (Activation::Sigmoid, 32.0 / (150.0 + 400.0), 32.0 / 520.0),
            (Activation::Relu, 2.0 / 150.0, 2.0 / 400.0),
        ] {
            let settings = LeNetSettings {
                outputs: 10,
                activation,
            };
            let network = settings.build().unwrap();
            let particles = initial_particles(&network, 1, 7);
            let variance = |name: &str| {
                let range = network.layout().block(name).unwrap().range();
                let weights = particles.slice(s![0, range]);
                weights.mapv(|w| w * w).mean().unwrap()
            };
            assert_relative_eq!(variance("3.weight"), conv, max_relative = 0.12);
            assert_relative_eq!(variance("7.weight"), hidden, max_relative = 0.03);
            assert_relative_eq!(variance("11.weight"), 1.0 / 84.0, max_relative = 0.2);
        }
    }

    /// The mean activation ½ of a sigmoid layer is taken out by the next layer's biases.
    #[test]
    fn biases_behind_a_sigmoid_centre_its_outputs() {
        let settings = LeNetSettings {
            outputs: 10,
            activation: Activation::Sigmoid,
        };
        let network = settings.build().unwrap();
        let particles = initial_particles(&network, 1, 7);
        let part = |name: &str| {
            let range = network.layout().block(name).unwrap().range();
            particles.slice(s![0, range]).to_vec()
        };
        for (layer, fan_in, centred) in [(0, 25, false), (3, 150, true), (11, 84, true)] {
            let (weights, biases) = (
                part(&format!("{layer}.weight")),
                part(&format!("{layer}.bias")),
            );
            for (row, bias) in weights.chunks(fan_in).zip(biases) {
                let half: f64 = row.iter().sum::<f64>() / 2.0;
                let left = if centred { bias + half } else { bias };
                assert!(left.abs() <= (fan_in as f64).sqrt().recip() + 1e-12);
            }
        }
    }
}
