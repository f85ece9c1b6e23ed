//! The members of a trained ensemble, in the units of the network, and what they predict.

mod classes;
mod component;
mod crps;
mod evidence;
mod families;
mod head;
mod laplace;
mod layer_precisions;
mod member_curvature;
mod minimum;
mod mixture;
mod noise;
mod output_variances;
mod predicted;
mod prediction;
mod probit;
mod shape;
mod tails;
mod temperature;

pub use classes::{ClassPrediction, log_sum_exp};
pub use component::{Component, Family};
pub(crate) use evidence::check_evidence;
pub(crate) use head::prediction;
pub use laplace::Laplace;
pub(crate) use member_curvature::MemberCurvature;
pub use predicted::Predicted;
pub use prediction::Prediction;
pub use tails::Tails;

use crate::{Device, Likelihood, ModelError};
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, Axis, s};
use std::ops::Range;
use svn_curvature::{Backend, Sequential};

/// Rows that go through a network of vectors at once; results do not depend on it.
const CHUNK: usize = 2048;

/// The same for a network of images on the processor: unrolled, they stay in its cache.
const IMAGE_CHUNK: usize = 32;

/// The same on a CUDA device.
const CUDA_CHUNK: usize = 2048;

/// `N` sets of weights of one network, with their likelihood and who evaluates them.
#[derive(Debug)]
pub struct Members {
    network: Sequential,
    likelihood: Likelihood,
    particles: Array2<f64>,
    backend: Backend,
}

impl Members {
    /// Join a network, a likelihood and particles (`N × d`).
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the particles are not of the network's dimension, or there is none.
    pub fn new(
        network: Sequential,
        likelihood: Likelihood,
        particles: Array2<f64>,
        backend: Backend,
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
            backend,
        })
    }

    /// The network.
    pub fn network(&self) -> &Sequential {
        &self.network
    }

    /// The weights, `N × d`.
    pub fn particles(&self) -> ArrayView2<'_, f64> {
        self.particles.view()
    }

    /// The likelihood with its noise.
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    /// What every member says of every row of `features` (`n × p`): its mean, its noise, its density.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the width is not the network's; [`ModelError::OtherTask`] for a likelihood of classes.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Result<Prediction, ModelError> {
        if self.likelihood.classes().is_some() {
            return Err(ModelError::OtherTask {
                likelihood: "classes",
                instead: "predict_classes",
            });
        }
        let (members, rows) = (self.particles.nrows(), features.nrows());
        let mut all = Array3::zeros((members, rows, self.likelihood.outputs()));
        self.forward(features, |rows, outputs| {
            all.slice_mut(s![.., rows, ..]).assign(&outputs);
            Ok(())
        })?;
        prediction(&self.likelihood, all.view())
    }

    /// Logits of every member at every row of `features` (`n × p`). One logit `f` of two classes is given as `(0, f)`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the width is not the network's; [`ModelError::OtherTask`] for a likelihood of numbers.
    pub fn predict_classes(
        &self,
        features: ArrayView2<'_, f64>,
    ) -> Result<ClassPrediction, ModelError> {
        let Some(classes) = self.likelihood.classes() else {
            return Err(ModelError::OtherTask {
                likelihood: "numbers",
                instead: "predict",
            });
        };
        let mut logits = Array3::zeros((self.particles.nrows(), features.nrows(), classes));
        let first = classes - self.likelihood.outputs();
        self.forward(features, |rows, outputs| {
            logits.slice_mut(s![.., rows, first..]).assign(&outputs);
            Ok(())
        })?;
        Ok(ClassPrediction::unchecked(logits.view(), classes))
    }

    /// Outputs `N × rows × c` of the network, some rows at a time.
    fn forward(
        &self,
        features: ArrayView2<'_, f64>,
        mut take: impl FnMut(Range<usize>, ArrayView3<'_, f64>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        if features.ncols() != self.network.inputs() {
            return Err(ModelError::Shape {
                what: "features".into(),
                found: features.shape().to_vec(),
                expected: vec![features.nrows(), self.network.inputs()],
            });
        }
        let is_image = self.network.input_shape().len() > 1;
        let chunk = match self.backend.device {
            Device::Cuda(_) => CUDA_CHUNK,
            Device::Cpu if is_image => IMAGE_CHUNK,
            Device::Cpu => CHUNK,
        };
        for (chunk, start) in features
            .axis_chunks_iter(Axis(0), chunk)
            .zip((0..).step_by(chunk))
        {
            let samples = self.backend.samples(&self.network, chunk)?;
            let outputs = samples.forward(&self.network, self.particles.view())?;
            take(start..start + chunk.nrows(), outputs.view())?;
        }
        Ok(())
    }
}
