//! A network, a likelihood and synthetic rows, from a seed.
//!
//! ```text
//! x_ij uniform on ±√3 (variance 1),   y_i = sin(Σ_j x_ij w_j) + 0.1 u_i,   w_j = 1/√p
//! ```

use ndarray::{Array1, Array2};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use svn_models::curvature::{Activation, Sequential};
use svn_models::fit::{NoiseModel, Task};
use svn_models::network::{NetworkSettings, initial_particles};
use svn_models::posterior::{CurvatureSettings, Posterior, PosteriorSettings};
use svn_models::{ModelError, Rows};
use tch::Device;

/// Seed of data, starting weights and batches.
pub(super) const SEED: u64 = 20_241_101;

/// A posterior to step on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Width of the input `p`.
    pub features: usize,
    /// Network between inputs and outputs.
    pub network: NetworkSettings,
    /// What is predicted.
    pub task: Task,
    /// Rows of a minibatch `b`.
    pub batch: usize,
    /// Number of training rows `n`.
    pub rows: usize,
    /// Number of particles `N`.
    pub particles: usize,
}

/// An affine layer: inputs and outputs of its matrix, and places that the matrix is applied at.
type Affine = (usize, usize, usize);

impl Problem {
    /// A multilayer perceptron with one output and one noise level, for 5 particles and batches of 16.
    pub fn mlp(features: usize, hidden: &[usize]) -> Self {
        Self {
            features,
            network: NetworkSettings::Mlp {
                hidden: hidden.to_vec(),
                activation: Activation::Relu,
            },
            task: Task::Regression(NoiseModel::Homoscedastic),
            batch: 16,
            rows: 320,
            particles: 5,
        }
    }

    /// LeNet with ten classes for 5 particles and batches of 128.
    pub fn lenet() -> Self {
        Self {
            features: 784,
            network: NetworkSettings::LeNet {
                activation: Activation::Relu,
            },
            task: Task::Classes(10),
            batch: 128,
            rows: 1024,
            particles: 5,
        }
    }

    /// Number of outputs `c`.
    pub fn outputs(&self) -> usize {
        match self.task {
            Task::Classes(classes) => classes,
            Task::Regression(NoiseModel::Heteroscedastic) => 2,
            _ => 1,
        }
    }

    /// Number of weights and biases `d`.
    pub fn dim(&self) -> usize {
        let layers = self.layers();
        layers.iter().map(|(i, o, _)| (i + 1) * o).sum()
    }

    /// Multiplications of weights with inputs for one row.
    pub fn products(&self) -> usize {
        self.layers().iter().map(|(i, o, at)| i * o * at).sum()
    }

    /// Length of a curvature row kept as inputs, bias and cotangents of the layers.
    pub(super) fn kept(&self) -> usize {
        self.layers().iter().map(|(i, o, _)| i + 1 + o).sum()
    }

    fn layers(&self) -> Vec<Affine> {
        let hidden = match &self.network {
            NetworkSettings::Mlp { hidden, .. } => hidden.as_slice(),
            // LeNet: two convolutions, then 400 features.
            _ => &[120, 84],
        };
        let (mut layers, inputs) = match &self.network {
            NetworkSettings::Mlp { .. } => (Vec::new(), self.features),
            _ => (vec![(25, 6, 28 * 28), (150, 16, 10 * 10)], 400),
        };
        let widths: Vec<usize> = std::iter::once(inputs)
            .chain(hidden.iter().copied())
            .chain([self.outputs()])
            .collect();
        layers.extend(widths.windows(2).map(|pair| (pair[0], pair[1], 1)));
        layers
    }

    /// The network.
    ///
    /// # Errors
    /// [`ModelError`] if a width is zero or fits no image.
    pub(super) fn network(&self) -> Result<Sequential, ModelError> {
        self.network.build(self.features, self.outputs())
    }

    /// Synthetic rows; the same for the same problem. Classes are cut from the numbers a regression would have.
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
        let targets = match self.task {
            Task::Classes(classes) => {
                let last = classes as f64 - 1.0;
                targets.mapv(|y| (0.5 * (y + 1.0) * classes as f64).floor().clamp(0.0, last))
            }
            _ => targets,
        };
        Rows::new(features, targets)
    }

    /// The posterior with its curvature, and starting particles.
    ///
    /// # Errors
    /// [`ModelError`] if a width is zero or the task does not fit.
    pub(super) fn build(
        &self,
        curvature: CurvatureSettings,
    ) -> Result<(Posterior, Array2<f64>), ModelError> {
        let network = self.network()?;
        let particles = initial_particles(&network, self.particles, SEED);
        let settings = PosteriorSettings {
            batch_size: self.batch,
            prior_precision: 2.0,
            curvature,
            learn_noise: true,
            precision: self.network.default_precision(),
            seed: SEED,
            device: Device::Cpu,
        };
        let posterior = Posterior::new(network, self.task.likelihood()?, &self.data()?, settings)?;
        Ok((posterior, particles))
    }
}
