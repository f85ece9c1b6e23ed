//! Starting weights, one random stream a particle.
//!
//! ```text
//! last layer, fan-in m                          W ~ N(0, 1/m)
//! before a sigmoid, fan-in m and fan-out k      W ~ N(0, 2/(m + k))
//! any other layer                               W ~ N(0, 2/m)
//! biases                                        uniform on ±1/√m
//! ```
//!
//! Particle `p` draws from stream `p` of the seed, so that the first particles of a larger ensemble are those of a
//! smaller one.
//!
//! # References
//! - X. Glorot, Y. Bengio, *Understanding the difficulty of training deep feedforward neural networks* (2010).
//! - K. He et al., *Delving deep into rectifiers* (2015).

use ndarray::Array2;
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
        let mut fan_in = 1.0f64;
        for block in layout.blocks() {
            if let [outputs, inputs @ ..] = block.shape()
                && !inputs.is_empty()
            {
                fan_in = inputs.iter().product::<usize>().max(1) as f64;
                let window: usize = inputs[1..].iter().product();
                let fan_out = (outputs * window) as f64;
                let variance = match followers.next().flatten() {
                    Some(Activation::Sigmoid) => 2.0 / (fan_in + fan_out),
                    Some(_) => 2.0 / fan_in,
                    None => 1.0 / fan_in,
                };
                for index in block.range() {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    particle[index] = variance.sqrt() * z;
                }
            } else {
                let bound = fan_in.recip().sqrt();
                for index in block.range() {
                    particle[index] =
                        Uniform::new_inclusive(-bound, bound).map_or(0.0, |u| u.sample(&mut rng));
                }
            }
        }
    }
    weights
}

/// The activation behind each affine layer, before the next one; none behind the last.
fn followers(network: &Sequential) -> Vec<Option<Activation>> {
    let mut followers = Vec::new();
    for layer in network.layers() {
        match layer {
            Layer::Linear { .. } | Layer::Conv2d(_) => followers.push(None),
            Layer::Activation(activation) => {
                if let Some(last) = followers.last_mut() {
                    *last = Some(*activation);
                }
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
            (Activation::Sigmoid, 2.0 / (150.0 + 400.0), 2.0 / 520.0),
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
                let weights = particles.slice(ndarray::s![0, range]);
                weights.mapv(|w| w * w).mean().unwrap()
            };
            assert_relative_eq!(variance("3.weight"), conv, max_relative = 0.12);
            assert_relative_eq!(variance("7.weight"), hidden, max_relative = 0.03);
            assert_relative_eq!(variance("11.weight"), 1.0 / 84.0, max_relative = 0.2);
        }
    }
}
