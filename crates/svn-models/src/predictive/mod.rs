//! From trained members to the predictive density, chosen on validation rows.
//!
//! | kind | numbers | classes |
//! |---|---|---|
//! | [`Moments`](Predictive::Moments) | mixture of the members' densities | mean of their probabilities |
//! | [`StudentT`](Predictive::StudentT) | mixture of Student t of the members' means, see [`Tails`] | – |
//! | [`Laplace`](Predictive::Laplace) | each member's variance grows by that of its Laplace approximation; a common noise is chosen anew; not of mixture densities and levels | logits shrunk by their variances |
//! | [`Fill`](Predictive::Fill) | each member's variance grows by the share of its Laplace variance that so few members cannot span | the same of logits |
//!
//! The prior precision of the Laplace approximations, that noise, the tails and the temperature are those under which the validation rows
//! are most probable under the mixture; tails and temperature in folds by rows that each member has not seen. All is in the units of the rows given to training.

mod choices;
mod precision;

use ndarray::{Array2, Array3, ArrayView1, ArrayView2, Axis};

use crate::likelihood::Gaussian;
use crate::members::{Laplace, MemberCurvature, Members, Predicted, Tails};
use crate::recipe::{Predictive, Recipe};
use crate::{ClassPrediction, Likelihood, ModelError, Prediction, Rows};
pub(crate) use choices::Choices;
use precision::best_precision;

/// Validation rows that a prior precision is chosen on at most; each candidate costs a product with every parameter for each.
const SAMPLE: usize = 500;

/// What turns the outputs of members into a density. Each call takes the members that it was chosen for.
#[derive(Debug)]
pub struct Predictor {
    kind: Predictive,
    laplace: Option<(Laplace, f64)>,
    /// Of the Laplace variances.
    share: f64,
    common_noise: Option<f64>,
    tails: Option<Tails>,
    temperature: Option<f64>,
    validation_nll: Option<f64>,
}

impl Predictor {
    /// The curvature of each member, where Laplace variances are asked for.
    pub(crate) fn curvature(&self) -> &[MemberCurvature] {
        self.laplace
            .as_ref()
            .map_or(&[], |(laplace, _)| laplace.curvature())
    }

    /// Choose what `recipe` leaves to validation rows. `training` are the features that the members were trained on.
    ///
    /// # Errors
    /// As for [`Members::laplace`] where Laplace variances are asked for, and for predictions at the validation rows.
    pub fn new(
        members: &Members,
        recipe: &Recipe,
        training: ArrayView2<'_, f64>,
        validation: &Rows,
    ) -> Result<Self, ModelError> {
        let mut predictor = Self::plain(recipe);
        match predictor.kind {
            Predictive::Moments | Predictive::StudentT => {}
            Predictive::Fill => predictor.fill(members, recipe, training)?,
            _ => predictor.choose_precision(members, training, validation)?,
        }
        let targets = validation.targets();
        if members.likelihood().classes().is_none() {
            if predictor.widens() {
                let mut prediction = predictor.predict(members, validation.features())?;
                if let Some(noise) = best_noise(members, &prediction, targets) {
                    predictor.common_noise = Some(noise);
                    prediction = prediction.with_common_noise(noise);
                }
                predictor.validation_nll = Some(prediction.negative_log_density(targets)?);
            }
            if predictor.kind == Predictive::StudentT {
                let prediction = members.predict(validation.features())?;
                let prediction = predictor.fit_tails(prediction, targets)?;
                predictor.validation_nll = Some(prediction.negative_log_density(targets)?);
            }
            return Ok(predictor);
        }
        let tempered = recipe.temperature == Some(true);
        if tempered || predictor.widens() {
            let mut prediction = predictor.predict_classes(members, validation.features())?;
            if tempered {
                prediction = predictor.fit_temperature(prediction, targets)?;
            }
            predictor.validation_nll = Some(prediction.negative_log_likelihood(targets)?);
        }
        Ok(predictor)
    }

    /// Choose what `recipe` leaves to rows that were not trained on, by what members say of all rows that they have not seen; and what they say with it.
    ///
    /// # Errors
    /// As for [`Prediction::best_tails`] and [`ClassPrediction::best_temperature`].
    pub(crate) fn out_of_fold(
        recipe: &Recipe,
        said: Predicted,
        targets: ArrayView1<'_, f64>,
    ) -> Result<(Self, Predicted), ModelError> {
        let mut predictor = Self::plain(recipe);
        let said = match said {
            Predicted::Numbers(said) if predictor.kind == Predictive::StudentT => {
                let said = predictor.fit_tails(said, targets)?;
                predictor.validation_nll = Some(said.negative_log_density(targets)?);
                Predicted::Numbers(said)
            }
            Predicted::Classes(said) if recipe.temperature == Some(true) => {
                let said = predictor.fit_temperature(said, targets)?;
                predictor.validation_nll = Some(said.negative_log_likelihood(targets)?);
                Predicted::Classes(said)
            }
            said => said,
        };
        Ok((predictor, said))
    }

    /// Nothing chosen yet.
    fn plain(recipe: &Recipe) -> Self {
        Self {
            kind: recipe.predictive.unwrap_or(Predictive::Moments),
            laplace: None,
            share: 1.0,
            common_noise: None,
            tails: None,
            temperature: None,
            validation_nll: None,
        }
    }

    fn fit_tails(
        &mut self,
        said: Prediction,
        targets: ArrayView1<'_, f64>,
    ) -> Result<Prediction, ModelError> {
        let tails = said.best_tails(targets)?;
        self.tails = Some(tails);
        Ok(said.with_tails(tails))
    }

    fn fit_temperature(
        &mut self,
        said: ClassPrediction,
        targets: ArrayView1<'_, f64>,
    ) -> Result<ClassPrediction, ModelError> {
        let temperature = said.best_temperature(targets)?;
        self.temperature = Some(temperature);
        Ok(said.with_temperature(temperature))
    }

    /// Mean negative log likelihood of the validation rows, where the density is another than that of the members alone.
    pub fn validation_nll(&self) -> Option<f64> {
        self.validation_nll
    }

    /// The prior precision of the Laplace approximations.
    pub fn laplace_precision(&self) -> Option<f64> {
        self.laplace.as_ref().map(|(_, precision)| *precision)
    }

    /// Degrees of freedom and scale of Gaussian members as Student t.
    pub fn tails(&self) -> Option<Tails> {
        self.tails
    }

    /// What logits are divided by.
    pub fn temperature(&self) -> Option<f64> {
        self.temperature
    }

    /// The density of numbers at the rows of `features` (`n × p`).
    ///
    /// # Errors
    /// As for [`Members::predict`].
    pub fn predict(
        &self,
        members: &Members,
        features: ArrayView2<'_, f64>,
    ) -> Result<Prediction, ModelError> {
        let mut prediction = members.predict(features)?;
        if self.widens()
            && let Some(variances) = self.laplace_variances(members, features)?
        {
            prediction = prediction.with_laplace(variances)?;
        }
        if let Some(noise) = self.common_noise {
            prediction = prediction.with_common_noise(noise);
        }
        Ok(match self.tails {
            Some(tails) => prediction.with_tails(tails),
            None => prediction,
        })
    }

    /// The probabilities of classes at the rows of `features` (`n × p`).
    ///
    /// # Errors
    /// As for [`Members::predict_classes`].
    pub fn predict_classes(
        &self,
        members: &Members,
        features: ArrayView2<'_, f64>,
    ) -> Result<ClassPrediction, ModelError> {
        let mut prediction = members.predict_classes(features)?;
        if let Some(variances) = self.variances(members, features)? {
            prediction = prediction.with_logit_variances(variances.view())?;
        }
        Ok(match self.temperature {
            Some(temperature) => prediction.with_temperature(temperature),
            None => prediction,
        })
    }

    /// Variances of the members' means under their Laplace approximations, `N × n`, where these were asked for.
    ///
    /// # Errors
    /// As for [`Laplace::variances`].
    pub fn laplace_variances(
        &self,
        members: &Members,
        features: ArrayView2<'_, f64>,
    ) -> Result<Option<Array2<f64>>, ModelError> {
        let variances = self.variances(members, features)?;
        Ok(variances.map(|variances| variances.index_axis_move(Axis(2), 0)))
    }

    fn variances(
        &self,
        members: &Members,
        features: ArrayView2<'_, f64>,
    ) -> Result<Option<Array3<f64>>, ModelError> {
        let Some((laplace, precision)) = &self.laplace else {
            return Ok(None);
        };
        let variances = laplace.variances(members, *precision, &[features])?.pop();
        Ok(variances.map(|variances| variances * self.share))
    }

    /// Whether the density has Laplace variances.
    fn widens(&self) -> bool {
        matches!(self.kind, Predictive::Laplace | Predictive::Fill)
    }

    /// The share `max(0, 1 − (N − 1)/d_eff)` of the Laplace variances under the prior of training: `N` members span `N − 1` directions
    /// of the `d_eff` that the data determine. A heuristic: it takes the members' directions for as many of those.
    fn fill(
        &mut self,
        members: &Members,
        recipe: &Recipe,
        training: ArrayView2<'_, f64>,
    ) -> Result<(), ModelError> {
        let laplace = members.laplace(training)?;
        let precision = recipe.prior_precision.unwrap_or(1.0);
        let directions = members.particles().nrows() as f64 - 1.0;
        let effective = laplace.effective_dimension(precision)?;
        self.share = (1.0 - directions / effective.max(f64::MIN_POSITIVE)).max(0.0);
        self.laplace = Some((laplace, precision));
        Ok(())
    }

    fn choose_precision(
        &mut self,
        members: &Members,
        training: ArrayView2<'_, f64>,
        validation: &Rows,
    ) -> Result<(), ModelError> {
        let kind = self.kind;
        let laplace = members.laplace(training)?;
        let (features, targets) = validation.spread_out(SAMPLE);
        let targets = targets.view();
        let precision = if members.likelihood().classes().is_some() {
            let plain = members.predict_classes(features.view())?;
            best_precision(members, &laplace, features.view(), |variances| {
                let shrunk = plain.with_logit_variances(variances.view())?;
                shrunk.negative_log_likelihood(targets)
            })?
        } else {
            let plain = members.predict(features.view())?;
            best_precision(members, &laplace, features.view(), |variances| {
                let variances = variances.index_axis(Axis(2), 0).to_owned();
                if kind != Predictive::Laplace {
                    // Of what the members do not know alone.
                    let alone = Prediction::unchecked(plain.means().to_owned(), variances);
                    return Ok(alone.negative_log_likelihood(targets));
                }
                let prediction = plain.clone().with_laplace(variances)?;
                let noise = best_noise(members, &prediction, targets);
                let prediction = match noise {
                    Some(noise) => prediction.with_common_noise(noise),
                    None => prediction,
                };
                prediction.negative_log_density(targets)
            })?
        };
        self.laplace = Some((laplace, precision));
        Ok(())
    }
}

/// Of a likelihood with one noise variance, the one that suits the targets best beside what the members do not know.
fn best_noise(
    members: &Members,
    prediction: &Prediction,
    targets: ArrayView1<'_, f64>,
) -> Option<f64> {
    let Likelihood::Gaussian(_) = members.likelihood() else {
        return None;
    };
    Some(prediction.best_common_noise(targets, Gaussian::FLOOR))
}
