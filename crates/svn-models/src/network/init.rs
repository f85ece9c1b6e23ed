//! Starting weights, one random stream a particle.
//!
//! Weights of a layer with fan-in `m` are `N(0, g/m)` with gain `g = 2` before a ReLU-like activation and 1 elsewhere;
//! biases are uniform on `±1/√m`. Particle `p` draws from stream `p` of the seed, so that the first particles of a
//! larger ensemble are those of a smaller one.
//!
//! Reference: He et al., *Delving deep into rectifiers* (2015).

use ndarray::Array2;
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};
use svn_curvature::Sequential;

/// `N × d` starting weights for `network`.
pub fn initial_particles(network: &Sequential, particles: usize, seed: u64) -> Array2<f64> {
    let layout = network.layout();
    let mut weights = Array2::zeros((particles, layout.dim()));
    let blocks: Vec<_> = layout.blocks().iter().collect();
    for (p, mut particle) in weights.rows_mut().into_iter().enumerate() {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        rng.set_stream(p as u64);
        let mut fan_in = 1;
        for (index, block) in blocks.iter().enumerate() {
            let is_matrix = block.shape().len() > 1;
            let is_last = !blocks[index + 1..]
                .iter()
                .any(|later| later.shape().len() > 1);
            if is_matrix {
                fan_in = block.shape()[1..].iter().product::<usize>().max(1);
            }
            let scale = if is_matrix && !is_last {
                (2.0 / fan_in as f64).sqrt()
            } else {
                (1.0 / fan_in as f64).sqrt()
            };
            for index in block.range() {
                particle[index] = if is_matrix {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    scale * z
                } else {
                    Uniform::new_inclusive(-scale, scale).map_or(0.0, |u| u.sample(&mut rng))
                };
            }
        }
    }
    weights
}
