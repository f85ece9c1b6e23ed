//! Likelihoods `p(y | f)` of targets given network outputs, with what a Newton method needs of them.
//!
//! For each row `i` and particle `p` a likelihood gives, in nats,
//!
//! ```text
//! ℓ_pi        negative log likelihood, constants included
//! g_pi        −∂ℓ/∂f, the direction of ascent in output space          (c)
//! S_pi        root of the curvature, S Sᵀ = E[∂²ℓ/∂f²] (Fisher) / σ⁻²  (c × k)
//! ```
//!
//! All come from one set of outputs and one noise level, so that score and curvature belong to the same energy. The
//! numbers are those of [`Loss`], with the noise and its parameters put in and `ℓ` normalised.

#[cfg(test)]
mod class_tests;
mod gaussian;
#[cfg(test)]
mod heads_tests;
mod heteroscedastic;
mod levels;
mod mixture_density;
mod ordinal;
#[cfg(test)]
mod ordinal_tests;
mod rows;
mod student_t;
#[cfg(test)]
mod tests;
mod variance;

pub use gaussian::Gaussian;
pub use heteroscedastic::HeteroscedasticGaussian;
pub use levels::Levels;
pub use mixture_density::MixtureDensity;
pub use ordinal::Ordinal;
pub(crate) use ordinal::standard_logistic;
pub use student_t::StudentT;
pub(crate) use student_t::{log_normaliser, standard};
pub use variance::VarianceLink;

use crate::ModelError;
use ndarray::{Array1, Array3, Array4, ArrayView1, ArrayView2, ArrayView3, Axis};
use rand::Rng;
use serde::{Deserialize, Serialize};
use svn_curvature::Loss;

/// What a likelihood says of a batch.
#[derive(Debug)]
pub struct LossTerms {
    /// Summed negative log likelihood of the batch, one number a particle, in nats; `N`.
    pub negative_log_likelihood: Array1<f64>,
    /// `−∂ℓ/∂f`; `N × b × c`.
    pub ascent: Array3<f64>,
    /// Mean squared residual of the batch, `N`, in squared units of the target; none for classes.
    pub mean_squared_residual: Option<Array1<f64>>,
}

/// The likelihoods of regression and classification.
///
/// Targets of a classification are class indices, whole numbers from 0, held as f64.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Likelihood {
    /// One noise variance for all rows.
    Gaussian(Gaussian),
    /// The network gives mean and log variance of each row.
    Heteroscedastic(HeteroscedasticGaussian),
    /// The network gives location and log squared scale of each row, with heavy tails.
    StudentT(StudentT),
    /// The network gives weights, means and log variances of a few Gaussians for each row.
    Mixture(MixtureDensity),
    /// Whole numbers; the network gives location and log squared scale of a logistic density that is cut at the levels' edges.
    Ordinal(Ordinal),
    /// Two classes; the network gives the log odds of class 1.
    Bernoulli,
    /// Classes `0 .. classes`; the network gives one logit for each.
    Softmax {
        /// Number of classes `C`, at least 2.
        classes: usize,
    },
}

impl Likelihood {
    /// Number of network outputs `c` that the likelihood reads.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Gaussian(_) | Self::Bernoulli => 1,
            Self::Heteroscedastic(_) | Self::StudentT(_) | Self::Ordinal(_) => 2,
            Self::Mixture(mixture) => 3 * mixture.components(),
            Self::Softmax { classes } => *classes,
        }
    }

    /// Number of classes; none for regression.
    pub fn classes(&self) -> Option<usize> {
        match self {
            Self::Gaussian(_)
            | Self::Heteroscedastic(_)
            | Self::StudentT(_)
            | Self::Mixture(_)
            | Self::Ordinal(_) => None,
            Self::Bernoulli => Some(2),
            Self::Softmax { classes } => Some(*classes),
        }
    }

    /// Of members that were trained on different rows: what they agree on, and the mean of common noise variances.
    ///
    /// # Errors
    /// [`ModelError::Setting`] for likelihoods that differ otherwise, such as levels of which some rows have not all.
    pub(crate) fn mean_noise(likelihoods: &[Self]) -> Result<Self, ModelError> {
        let noise = likelihoods.iter().map(|likelihood| match likelihood {
            Self::Gaussian(gaussian) => Some(gaussian.noise_variance()),
            _ => None,
        });
        if let Some(noise) = noise.collect::<Option<Vec<f64>>>()
            && !noise.is_empty()
        {
            let mean = noise.iter().sum::<f64>() / noise.len() as f64;
            return Ok(Self::Gaussian(Gaussian::new(mean)?));
        }
        match likelihoods {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => Ok(*first),
            _ => {
                let found = "levels that some folds have not seen";
                Err(ModelError::setting(
                    "likelihood",
                    found,
                    "the same in all folds: select = validation",
                ))
            }
        }
    }

    /// The same with what it takes from the training targets before training: levels and standardisation of
    /// [`Ordinal`](Ordinal::of_targets). Others take nothing.
    ///
    /// # Errors
    /// As for [`Ordinal::of_targets`].
    pub fn of_targets(self, targets: ArrayView1<'_, f64>) -> Result<Self, ModelError> {
        Ok(match self {
            Self::Ordinal(likelihood) => Self::Ordinal(likelihood.of_targets(targets)?),
            other => other,
        })
    }

    /// Check that `targets` are class indices where classes are meant, and whole numbers where levels are.
    ///
    /// # Errors
    /// [`ModelError::ClassIndex`] or [`ModelError::Level`] with the first row that is not; [`ModelError::Setting`] for fewer than two classes.
    pub fn check_targets(&self, targets: ArrayView1<'_, f64>) -> Result<(), ModelError> {
        if let Self::Ordinal(_) = self {
            return ordinal::check_whole(targets);
        }
        let Some(classes) = self.classes() else {
            return Ok(());
        };
        if classes < 2 {
            return Err(ModelError::setting("classes", classes, "at least 2"));
        }
        for (row, target) in targets.iter().enumerate() {
            class_index(*target, row, classes)?;
        }
        Ok(())
    }

    /// Number of curvature columns `k` of `S`: that of the outputs, one less for a softmax.
    pub fn curvature_rank(&self) -> usize {
        match self {
            Self::Softmax { .. } => Loss::Categorical.root_columns(self.outputs()),
            _ => self.outputs(),
        }
    }

    /// Loss terms of a batch; `outputs`: `N × b × c`, `targets`: `b`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] or [`ModelError::Curvature`] if the shapes do not fit; [`ModelError::NonFiniteData`] or
    /// [`ModelError::Curvature`] with the row of a target that is not finite or no class index.
    pub fn loss(
        &self,
        outputs: ArrayView3<'_, f64>,
        targets: ArrayView1<'_, f64>,
    ) -> Result<LossTerms, ModelError> {
        check_outputs(outputs, self.outputs())?;
        let targets = targets.insert_axis(Axis(1));
        match self {
            Self::Gaussian(likelihood) => likelihood.loss(outputs, targets),
            Self::Heteroscedastic(likelihood) => likelihood.loss(outputs, targets),
            Self::StudentT(likelihood) => likelihood.loss(outputs, targets),
            Self::Mixture(likelihood) => likelihood.loss(outputs, targets),
            Self::Ordinal(likelihood) => likelihood.loss(outputs, targets),
            Self::Bernoulli => of_classes(Loss::Bernoulli, outputs, targets),
            Self::Softmax { .. } => of_classes(Loss::Categorical, outputs, targets),
        }
    }

    /// The root `S` with its noise-dependent scalar taken out: `S Sᵀ = curvature_weight() · R Rᵀ`; `N × b × c × k`.
    ///
    /// Keeping a common noise level out of the root lets rows of earlier batches follow a noise that is still learned.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if `outputs` is not `N × b × c`; [`ModelError::Setting`] for a mixture density, whose Fisher
    /// information is an integral without a closed form.
    pub fn curvature_root(&self, outputs: ArrayView3<'_, f64>) -> Result<Array4<f64>, ModelError> {
        check_outputs(outputs, self.outputs())?;
        match self {
            Self::Gaussian(_) => Ok(Gaussian::UNIT.root(outputs)?),
            Self::Heteroscedastic(likelihood) => likelihood.curvature_root(outputs),
            Self::StudentT(likelihood) => Ok(likelihood.curvature_root(outputs)),
            Self::Mixture(_) => Err(no_exact_root()),
            Self::Ordinal(likelihood) => Ok(likelihood.curvature_root(outputs)),
            Self::Bernoulli => Ok(Loss::Bernoulli.root(outputs)?),
            Self::Softmax { .. } => Ok(Loss::Categorical.root(outputs)?),
        }
    }

    /// Gradients at `samples` targets drawn from the model for each particle and row, over `√samples`: a stand-in for
    /// [`Self::curvature_root`] with `samples` columns, whose `R Rᵀ` has the same expectation; `N × b × c × samples`.
    ///
    /// All random numbers come from `rng`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if `outputs` is not `N × b × c`.
    pub fn sampled_curvature_root<R: Rng + ?Sized>(
        &self,
        outputs: ArrayView3<'_, f64>,
        samples: usize,
        rng: &mut R,
    ) -> Result<Array4<f64>, ModelError> {
        check_outputs(outputs, self.outputs())?;
        let samples = samples.max(1);
        match self {
            Self::Gaussian(_) => Ok(Gaussian::UNIT.monte_carlo_root(outputs, samples, rng)?),
            Self::Heteroscedastic(likelihood) => {
                likelihood.sampled_curvature_root(outputs, samples, rng)
            }
            Self::StudentT(likelihood) => likelihood.sampled_curvature_root(outputs, samples, rng),
            Self::Mixture(likelihood) => {
                Ok(likelihood.sampled_curvature_root(outputs, samples, rng))
            }
            Self::Ordinal(likelihood) => {
                Ok(likelihood.sampled_curvature_root(outputs, samples, rng))
            }
            Self::Bernoulli => Ok(Loss::Bernoulli.monte_carlo_root(outputs, samples, rng)?),
            Self::Softmax { .. } => Ok(Loss::Categorical.monte_carlo_root(outputs, samples, rng)?),
        }
    }

    /// The scalar before [`Self::curvature_root`]: `1/σ²` for one common noise level, else 1.
    pub fn curvature_weight(&self) -> f64 {
        match self {
            Self::Gaussian(likelihood) => likelihood.noise_variance().recip(),
            _ => 1.0,
        }
    }

    /// Whether members have Laplace variances: of a mean that is an output of the network, by an exact root.
    pub fn has_laplace_variances(&self) -> bool {
        !matches!(self, Self::Mixture(_) | Self::Ordinal(_))
    }

    /// Whether [`Self::curvature_root`] has a closed form.
    pub fn has_exact_root(&self) -> bool {
        !matches!(self, Self::Mixture(_))
    }
}

/// For whoever asks for the exact root of a likelihood without one.
pub(crate) fn no_exact_root() -> ModelError {
    let expected = "`sampled`: a mixture density has no exact root";
    ModelError::setting("root of the curvature", "exact", expected)
}

/// For whoever asks for Laplace variances of a likelihood without them.
pub(crate) fn no_laplace_variances() -> ModelError {
    let expected = "moments: neither a mixture density nor levels have Laplace variances";
    ModelError::setting("predictive", "laplace or epistemic", expected)
}

/// Terms of a loss that is a normalised negative log likelihood as it is.
fn of_classes(
    loss: Loss,
    outputs: ArrayView3<'_, f64>,
    targets: ArrayView2<'_, f64>,
) -> Result<LossTerms, ModelError> {
    let (negative_log_likelihood, gradient) = loss.value_and_gradient(outputs, targets)?;
    Ok(LossTerms {
        negative_log_likelihood,
        ascent: -gradient,
        mean_squared_residual: None,
    })
}

/// Checks that there are `c` outputs.
pub(crate) fn check_outputs(outputs: ArrayView3<'_, f64>, c: usize) -> Result<(), ModelError> {
    let (particles, rows, found) = outputs.dim();
    if found == c {
        return Ok(());
    }
    Err(ModelError::Shape {
        what: "outputs".into(),
        found: outputs.shape().to_vec(),
        expected: vec![particles, rows, c],
    })
}

/// A target as the index of one of `classes` classes.
pub(crate) fn class_index(target: f64, row: usize, classes: usize) -> Result<usize, ModelError> {
    if target.fract() == 0.0 && (0.0..classes as f64).contains(&target) {
        return Ok(target as usize);
    }
    Err(ModelError::ClassIndex {
        row,
        found: target,
        classes,
    })
}
