//! A trained ensemble and what it predicts.

mod laplace;
mod noise;
mod prediction;

pub use laplace::LAPLACE_DIM;
pub use noise::best_noise_variance;
pub use prediction::Prediction;

use crate::{Likelihood, ModelError};
use ndarray::{Array2, ArrayView2, Axis, s};
use svn_curvature::{Sequential, convert};
use tch::{Device, Kind};

/// Rows that go through the network at once; results do not depend on it.
const CHUNK: usize = 2048;

/// `N` sets of weights of one network, with their likelihood, on one device.
#[derive(Debug)]
pub struct Ensemble {
    network: Sequential,
    likelihood: Likelihood,
    particles: Array2<f64>,
    device: Device,
}

impl Ensemble {
    /// Join a network, a likelihood and particles (`N × d`).
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the particles are not of the network's dimension, or there is none.
    pub fn new(
        network: Sequential,
        likelihood: Likelihood,
        particles: Array2<f64>,
        device: Device,
    ) -> Result<Self, ModelError> {
        let dim = network.layout().dim();
        if particles.ncols() != dim || particles.nrows() == 0 {
            return Err(ModelError::Shape {
                what: "particles".into(),
                found: particles.shape().to_vec(),
                expected: vec![particles.nrows().max(1), dim],
            });
        }
        Ok(Self {
            network,
            likelihood,
            particles,
            device,
        })
    }

    /// The weights, `N × d`.
    pub fn particles(&self) -> ArrayView2<'_, f64> {
        self.particles.view()
    }

    /// The likelihood with its noise.
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    /// Mean and noise variance of every member at every row of `features` (`n × p`).
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the width is not the network's.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Result<Prediction, ModelError> {
        let (members, rows) = (self.particles.nrows(), features.nrows());
        let parameters = convert::tensor_on(self.particles.view(), Kind::Double, self.device)?;
        let mut means = Array2::zeros((members, rows));
        let mut noise_variances = Array2::zeros((members, rows));
        for (chunk, start) in features
            .axis_chunks_iter(Axis(0), CHUNK)
            .zip((0..).step_by(CHUNK))
        {
            let end = start + chunk.nrows();
            let outputs = tch::no_grad(|| {
                self.network.forward(
                    &parameters,
                    &convert::tensor_on(chunk, Kind::Double, self.device)?,
                )
            })?;
            convert::copy_into(
                &outputs.f_select(2, 0)?,
                means.slice_mut(s![.., start..end]),
            )?;
            let mut noise = noise_variances.slice_mut(s![.., start..end]);
            match &self.likelihood {
                Likelihood::Gaussian(gaussian) => noise.fill(gaussian.noise_variance()),
                Likelihood::Heteroscedastic(head) => {
                    convert::copy_into(&head.noise_variance(&outputs)?, noise)?;
                }
            }
        }
        Ok(Prediction {
            means,
            noise_variances,
        })
    }
}
