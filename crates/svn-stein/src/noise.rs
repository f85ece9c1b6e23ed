//! Random numbers as a function of seed, step and stream, so that nothing but the seed has to be kept.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Standard normal numbers of one stream (a particle, or the repulsion) of one step.
pub(crate) struct Normals(ChaCha8Rng);

impl Normals {
    /// Streams of different `(step, stream)` are independent for `stream < 2²⁴`.
    pub(crate) fn new(seed: u64, step: u64, stream: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream((step << 24) ^ stream as u64);
        Self(rng)
    }

    pub(crate) fn draw(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }
}
