//! The score of weights on the validation rows.

use crate::likelihood::Gaussian;
use crate::members::prediction;
use crate::{ClassPrediction, Likelihood, Members, ModelError, Prediction, Rows};
use ndarray::ArrayView2;
use svn_curvature::{Backend, Samples, Sequential};

/// Validation rows and the likelihood they are scored by.
#[derive(Debug)]
pub(super) struct Validation<'a> {
    pub(super) likelihood: Likelihood,
    pub(super) rows: &'a Rows,
    pub(super) outputs: Outputs<'a>,
}

/// How outputs at the validation rows come about.
#[derive(Debug)]
pub(super) enum Outputs<'a> {
    /// Through the whole network.
    Whole(Whole<'a>),
    /// Through the last layer, from features of each particle that the frozen ones gave.
    LastLayer {
        network: &'a Sequential,
        features: Box<dyn Samples>,
    },
}

/// A network, and how it is evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole<'a> {
    pub(super) network: &'a Sequential,
    pub(super) backend: Backend,
}

impl Whole<'_> {
    /// The network with these weights.
    pub(super) fn ensemble(
        &self,
        likelihood: Likelihood,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Members, ModelError> {
        let network = self.network.clone();
        Members::new(network, likelihood, particles.to_owned(), self.backend)
    }
}

impl Validation<'_> {
    /// The likelihood under which the ensemble would predict now, and its score: the mean negative log likelihood of the
    /// validation rows, of classes under the mean probability, of Gaussian members that predict their noise under the Gaussian of
    /// their moments, of other numbers under the density itself. A common noise is the one under which that is best.
    pub(super) fn score(
        &self,
        particles: ArrayView2<'_, f64>,
    ) -> Result<(Likelihood, f64), ModelError> {
        let targets = self.rows.targets();
        if self.likelihood.classes().is_some() {
            let prediction = self.classes(particles)?;
            return Ok((
                self.likelihood,
                prediction.negative_log_likelihood(targets)?,
            ));
        }
        let mut prediction = self.numbers(particles)?;
        if !prediction.means().iter().all(|mean| mean.is_finite()) {
            return Ok((self.likelihood, f64::NAN));
        }
        let mut likelihood = self.likelihood;
        if let Likelihood::Gaussian(_) = likelihood {
            let variance = prediction.best_common_noise(targets, Gaussian::FLOOR);
            prediction = prediction.with_common_noise(variance);
            likelihood = Likelihood::Gaussian(Gaussian::new(variance)?);
            return Ok((likelihood, prediction.negative_log_density(targets)?));
        }
        Ok((likelihood, prediction.selection_loss(targets)?))
    }

    fn classes(&self, particles: ArrayView2<'_, f64>) -> Result<ClassPrediction, ModelError> {
        match &self.outputs {
            Outputs::Whole(whole) => whole
                .ensemble(self.likelihood, particles)?
                .predict_classes(self.rows.features()),
            Outputs::LastLayer { network, features } => {
                let outputs = features.forward(network, particles)?;
                let classes = self.likelihood.classes().unwrap_or(outputs.dim().2);
                Ok(ClassPrediction::unchecked(outputs.view(), classes))
            }
        }
    }

    fn numbers(&self, particles: ArrayView2<'_, f64>) -> Result<Prediction, ModelError> {
        match &self.outputs {
            Outputs::Whole(whole) => whole
                .ensemble(self.likelihood, particles)?
                .predict(self.rows.features()),
            Outputs::LastLayer { network, features } => {
                let outputs = features.forward(network, particles)?;
                prediction(&self.likelihood, outputs.view())
            }
        }
    }
}
