//! A network, a likelihood and synthetic rows, from a seed.
//!
//! ```text
//! x_ij uniform on ±√3 (variance 1),   y_i = sin(Σ_j x_ij w_j) + 0.1 u_i,   w_j = 1/√p
//! ```

use ndarray::{Array1, Array2};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use svn_models::curvature::Activation;
use svn_models::likelihood::{Gaussian, HeteroscedasticGaussian};
use svn_models::network::{MlpSettings, initial_particles};
use svn_models::posterior::{Posterior, PosteriorSettings, RowStorage};
use svn_models::{Likelihood, ModelError, Rows};
use tch::Device;

/// Seed of data, starting weights and batches.
pub(super) const SEED: u64 = 20_241_101;

/// Likelihood of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// One output, one noise level that follows the residuals.
    Homoscedastic,
    /// Two outputs: mean and log variance.
    Heteroscedastic,
}

/// A posterior to step on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Width of the input.
    pub features: usize,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// Likelihood.
    pub noise: Noise,
    /// Rows of a minibatch `b`.
    pub batch: usize,
    /// Number of training rows `n`.
    pub rows: usize,
    /// Number of particles `N`.
    pub particles: usize,
}

impl Problem {
    /// A multilayer perceptron with one output for 5 particles and batches of 16.
    pub fn mlp(features: usize, hidden: &[usize]) -> Self {
        Self {
            features,
            hidden: hidden.to_vec(),
            noise: Noise::Homoscedastic,
            batch: 16,
            rows: 320,
            particles: 5,
        }
    }

    /// Number of outputs `c`.
    pub fn outputs(&self) -> usize {
        match self.noise {
            Noise::Homoscedastic => 1,
            Noise::Heteroscedastic => 2,
        }
    }

    /// Number of weights and biases `d`.
    pub fn dim(&self) -> usize {
        self.layers()
            .map(|(inputs, outputs)| (inputs + 1) * outputs)
            .sum()
    }

    /// Inputs and outputs of each linear layer.
    pub fn layers(&self) -> impl Iterator<Item = (usize, usize)> {
        let widths: Vec<usize> = std::iter::once(self.features)
            .chain(self.hidden.iter().copied())
            .chain([self.outputs()])
            .collect();
        (1..widths.len()).map(move |layer| (widths[layer - 1], widths[layer]))
    }

    /// Synthetic rows; the same for the same problem.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if there is no row or feature.
    pub fn data(&self) -> Result<Rows, ModelError> {
        let mut rng = ChaCha12Rng::seed_from_u64(SEED);
        let side = 3f64.sqrt();
        let features = Array2::from_shape_simple_fn((self.rows, self.features), || {
            rng.random_range(-side..side)
        });
        let weight = 1.0 / (self.features as f64).sqrt();
        let targets: Array1<f64> = features
            .rows()
            .into_iter()
            .map(|row| (weight * row.sum()).sin() + 0.1 * rng.random_range(-side..side))
            .collect();
        Rows::new(features, targets)
    }

    /// The posterior, with curvature rows of `ring` batches, and starting particles.
    ///
    /// # Errors
    /// [`ModelError`] if a width is zero.
    pub(super) fn build(
        &self,
        ring: usize,
        storage: RowStorage,
    ) -> Result<(Posterior, Array2<f64>), ModelError> {
        let network = MlpSettings {
            inputs: self.features,
            hidden: self.hidden.clone(),
            outputs: self.outputs(),
            activation: Activation::Relu,
        }
        .build()?;
        let likelihood = match self.noise {
            Noise::Homoscedastic => Likelihood::Gaussian(Gaussian::new(1.0)?),
            Noise::Heteroscedastic => {
                Likelihood::Heteroscedastic(HeteroscedasticGaussian::default())
            }
        };
        let particles = initial_particles(&network, self.particles, SEED);
        let settings = PosteriorSettings {
            batch_size: self.batch,
            prior_precision: 2.0,
            accumulated_batches: ring,
            learn_noise: true,
            storage,
            seed: SEED,
            device: Device::Cpu,
        };
        let posterior = Posterior::new(network, likelihood, &self.data()?, settings)?;
        Ok((posterior, particles))
    }
}
