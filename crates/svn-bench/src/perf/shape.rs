//! The shapes: a network, a likelihood and synthetic rows, from a seed.
//!
//! ```text
//! x_ij uniform on ±√3 (variance 1),   y_i = sin(Σ_j x_ij w_j) + 0.1 u_i,   w_j = 1/√p
//! ```

use clap::ValueEnum;
use ndarray::{Array1, Array2};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use svn_models::curvature::{Activation, Sequential};
use svn_models::fit::LikelihoodKind;
use svn_models::network::{NetworkSettings, initial_particles};
use svn_models::posterior::{CurvatureSettings, Posterior, PosteriorSettings};
use svn_models::{Backend, ModelError, Rows};

/// Seed of data, starting weights and batches.
pub const SEED: u64 = 20_241_101;

/// Particles of a shape.
pub(super) const PARTICLES: usize = 5;

/// A size of network and batch that results are published for; 5 particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shape {
    /// 6-50-50-1, batch 16.
    Yacht,
    /// 9-50-50-1, batch 16.
    Protein,
    /// 50-200-200-1, batch 16.
    Wide,
    /// 14-50-50-2, softmax, batch 16.
    Classification,
    /// 4-50-50-1, batch 384: more rows in a ring than parameters.
    Power,
    /// LeNet on 28 × 28 pixels, 10 classes, batch 128, f32.
    Lenet,
}

/// A network, what it learns, and by how many particles: what a shape stands for, or of any other size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    features: usize,
    outputs: usize,
    network: NetworkSettings,
    task: LikelihoodKind,
    batch: usize,
    rows: usize,
    particles: usize,
}

impl Shape {
    /// Its name in tables and on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Yacht => "yacht",
            Self::Protein => "protein",
            Self::Wide => "wide",
            Self::Classification => "classification",
            Self::Power => "power",
            Self::Lenet => "lenet",
        }
    }

    /// What it stands for.
    pub(super) fn problem(self) -> Problem {
        let mlp = Problem::perceptron;
        match self {
            Self::Yacht => mlp(6, 50, PARTICLES),
            Self::Protein => mlp(9, 50, PARTICLES),
            Self::Wide => mlp(50, 200, PARTICLES),
            Self::Classification => Problem {
                outputs: 2,
                task: LikelihoodKind::Softmax(2),
                ..mlp(14, 50, PARTICLES)
            },
            Self::Power => Problem {
                batch: 384,
                rows: 7680,
                ..mlp(4, 50, PARTICLES)
            },
            Self::Lenet => Problem {
                outputs: 10,
                network: NetworkSettings::LeNet {
                    activation: Activation::Relu,
                },
                task: LikelihoodKind::Softmax(10),
                batch: 128,
                rows: 1024,
                ..mlp(784, 0, PARTICLES)
            },
        }
    }
}

impl Problem {
    /// A regression by two hidden layers of this width on 320 rows, batch 16.
    pub(super) fn perceptron(features: usize, width: usize, particles: usize) -> Self {
        Self {
            features,
            outputs: 1,
            network: NetworkSettings::Mlp {
                hidden: vec![width; 2],
                activation: Activation::Relu,
            },
            task: LikelihoodKind::Gaussian,
            batch: 16,
            rows: 320,
            particles,
        }
    }

    /// Number of training rows `n`.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The network.
    ///
    /// # Errors
    /// [`ModelError`] if a width is zero or fits no image.
    pub(super) fn network(&self) -> Result<Sequential, ModelError> {
        self.network.build(self.features, self.outputs)
    }

    /// The posterior with its curvature, and starting particles.
    ///
    /// # Errors
    /// [`ModelError`] if network, rows and task do not fit each other.
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
            seed: SEED,
            backend: Backend {
                precision: self.network.default_precision(),
                ..Backend::default()
            },
        };
        let (likelihood, rows) = (self.task.build()?, self.data()?);
        Ok((
            Posterior::new(network, likelihood, &rows, settings)?,
            particles,
        ))
    }

    /// The same rows for the same problem. Classes are cut from the numbers a regression would have.
    fn data(&self) -> Result<Rows, ModelError> {
        let mut rng = ChaCha12Rng::seed_from_u64(SEED);
        let side = 3f64.sqrt();
        let features = Array2::from_shape_simple_fn((self.rows, self.features), || {
            rng.random_range(-side..side)
        });
        let weight = 1.0 / (self.features as f64).sqrt();
        let mut targets: Array1<f64> = features
            .rows()
            .into_iter()
            .map(|row| (weight * row.sum()).sin() + 0.1 * rng.random_range(-side..side))
            .collect();
        if let LikelihoodKind::Softmax(classes) = self.task {
            let classes = classes as f64;
            targets.mapv_inplace(|y| {
                (0.5 * (y + 1.0) * classes)
                    .floor()
                    .clamp(0.0, classes - 1.0)
            });
        }
        Rows::new(features, targets)
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn dimensions_are_those_of_the_networks() {
        for (shape, dim) in [
            (Shape::Yacht, 2951),
            (Shape::Wide, 50 * 200 + 200 + 200 * 200 + 200 + 201),
            (Shape::Lenet, 61_706),
        ] {
            assert_eq!(shape.problem().network().unwrap().layout().dim(), dim);
        }
    }
}
