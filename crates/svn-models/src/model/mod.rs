//! The front door: an ensemble in the units of one's own data.
//!
//! ```text
//! x, y → check → split → scale → fit → members ─┐
//!                  └─ validation rows: epoch, noise, temperature, Laplace precision
//! x → check → scale → members → density → scale back → Prediction, ClassPrediction
//! ```

mod builder;
mod data;
mod evidence;
mod file;
mod fit;
mod folds;
mod likelihoods;
mod race;
mod single;
mod split;

pub use builder::Builder;
pub use file::ModelFileError;
pub use folds::OutOfFold;
pub use race::{Candidate, Tried};

use std::time::Duration;

use ndarray::{Array2, ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::fit::{Ending, EpochReport};
use crate::linear::Linear;
use crate::predictive::Predictor;
use crate::recipe::{Method, Resolved, Selection};
use crate::scaling::{FeatureScaler, TargetScaler};
use crate::{ClassPrediction, LabelEncoding, Members, ModelError, Prediction, Task};

/// A trained ensemble: members, scaling, names of classes and predictive density.
///
/// # Examples
/// ```
/// use ndarray::{Array1, Array2};
/// use svn_models::{Ensemble, Task};
///
/// let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64);
/// let y: Array1<f64> = x.column(0).mapv(|x| 5000.0 + 900.0 * (0.1 * x).sin());
/// let ensemble = Ensemble::builder().epochs(5).fit(x.view(), y.view(), Task::Regression)?;
/// let prediction = ensemble.predict(x.view())?;
/// let (low, high) = prediction.interval(0.9)?;
/// println!("{} ± {}, 90 % in {} to {}", prediction.mean()[0], prediction.sd()[0], low[0], high[0]);
/// # Ok::<(), svn_models::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Ensemble {
    members: Members,
    predictor: Predictor,
    features: FeatureScaler,
    feature_names: Option<Vec<String>>,
    target: Target,
    /// A linear model that counts as so many members.
    linear: Option<(Linear, usize)>,
    resolved: Resolved,
    training: Training,
}

/// From the target's units to the network's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Target {
    Number(TargetScaler),
    Classes(LabelEncoding),
}

/// How an ensemble was trained.
#[derive(Debug)]
pub struct Training {
    /// Rows that were fitted.
    pub train_rows: usize,
    /// Rows that epoch and density were chosen on; none where the evidence chooses.
    pub validation_rows: usize,
    /// Which of the rows given were set aside for validation, ascending; none where they were given apart, and not kept in files.
    pub set_aside: Vec<usize>,
    /// What the members say of the rows that they have not seen, of a fit in folds; not kept in files.
    pub out_of_fold: Option<OutOfFold>,
    /// Mean negative log likelihood of the validation rows under the predictive density, nats a row, original units. Without such rows the negative log evidence
    /// of the training rows, `−(1/n) ln p(D)`: the mean over rows of `−ln p(y_i | the rows before)`, whatever their order.
    pub validation_nll: f64,
    /// Likelihoods or prior precisions among which this one was chosen, none where it was given.
    pub tried: Vec<Tried>,
    /// Epoch whose weights were kept, from 1.
    pub best_epoch: usize,
    /// Epochs that were run.
    pub epochs: usize,
    /// Every epoch's report, scores in original units, of Gaussian members by the moments of their mixture; not kept in files.
    pub history: Vec<EpochReport>,
    /// Wall time of each step, validation left out; not kept in files.
    pub step_times: Vec<Duration>,
    /// Wall time of each epoch, validation included; not kept in files.
    pub epoch_times: Vec<Duration>,
    /// Why it ended; of a model from a file, that it did.
    pub ending: Ending,
}

impl Ensemble {
    /// Train on the rows of `x` with the defaults: Stein variational Newton, five members of two hidden layers of 50 units,
    /// settings by the number of rows, a fifth of the rows set aside for validation.
    ///
    /// Features and target may have any units. For classes the target holds their numbers, which need not begin at 0 or be
    /// consecutive; [`Builder::fit_labels`] takes names.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for lengths that differ or fewer than two rows, [`ModelError::Cell`] for a value that is not finite,
    /// [`ModelError::Scale`] for a constant target, [`ModelError::OneClass`], and what training says.
    pub fn fit(
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        task: Task,
    ) -> Result<Self, ModelError> {
        Self::builder().fit(x, y, task)
    }

    /// Settings of one's own before [`fit`](Builder::fit).
    pub fn builder<'o>() -> Builder<'o> {
        Builder::default()
    }

    /// Go on training from these weights on other rows, such as some that came later, by the same settings, scaling and labels;
    /// a fifth of the rows is set aside for validation. Classes by number; all must be known.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit); [`ModelError::UnknownLabel`], [`ModelError::Scale`] for another number of features.
    pub fn continue_fit(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
    ) -> Result<Self, ModelError> {
        Builder::default().go_on(self, x, y)
    }

    /// Of the target; that of classes and levels changes nothing.
    fn scaler(&self) -> TargetScaler {
        match &self.target {
            Target::Number(scaler) => *scaler,
            Target::Classes(_) => TargetScaler::IDENTITY,
        }
    }

    /// Mean, spread, noise and density of the target at the rows of `x`, in its own units.
    ///
    /// # Shapes
    /// `x`: `n × p`.
    ///
    /// # Errors
    /// [`ModelError::OtherTask`] for an ensemble of classes; [`ModelError::Scale`] for another number of features than in
    /// training; [`ModelError::Cell`] for a value that is not finite.
    pub fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Prediction, ModelError> {
        let Target::Number(scaler) = self.target else {
            return Err(ModelError::OtherTask {
                likelihood: "classes",
                instead: "predict_classes",
            });
        };
        let prediction = self
            .predictor
            .predict(&self.members, self.scaled(x)?.view())?
            .rescaled(scaler.mean, scaler.scale);
        match &self.linear {
            Some((linear, count)) => prediction.with_member(&linear.predict(x)?, *count),
            None => Ok(prediction),
        }
    }

    /// Probabilities of the classes at the rows of `x`; [`labels`](Self::labels) tells which class is which.
    ///
    /// # Shapes
    /// `x`: `n × p`.
    ///
    /// # Errors
    /// As for [`predict`](Self::predict), [`ModelError::OtherTask`] for an ensemble of numbers.
    pub fn predict_classes(&self, x: ArrayView2<'_, f64>) -> Result<ClassPrediction, ModelError> {
        if let Target::Number(_) = self.target {
            return Err(ModelError::OtherTask {
                likelihood: "numbers",
                instead: "predict",
            });
        }
        let features = self.scaled(x)?;
        let prediction = self
            .predictor
            .predict_classes(&self.members, features.view())?;
        match &self.linear {
            Some((linear, count)) => prediction.with_member(&linear.predict_classes(x)?, *count),
            None => Ok(prediction),
        }
    }

    /// Weight in the mixture of the linear model that was stacked with the members; 0 if there is none.
    pub fn linear_weight(&self) -> f64 {
        self.linear.as_ref().map_or(0.0, |(_, count)| {
            *count as f64 / (count + self.members.particles().nrows()) as f64
        })
    }

    /// Whether a linear model was offered beside the members, whatever [weight](Self::linear_weight) it got.
    pub fn stacked(&self) -> bool {
        self.resolved.recipe.select == Some(Selection::Kfold)
            && self.resolved.method != Method::Linear
    }

    /// Laplace variances of the mean at the rows of `x`, of the members' mean in squared units of the target; none for an
    /// ensemble whose predictive density has no Laplace approximation.
    ///
    /// # Shapes
    /// `x`: `n × p`; variances `N × n`.
    ///
    /// # Errors
    /// As for [`predict`](Self::predict).
    pub fn laplace_variances(
        &self,
        x: ArrayView2<'_, f64>,
    ) -> Result<Option<Array2<f64>>, ModelError> {
        let features = self.scaled(x)?;
        let variances = self
            .predictor
            .laplace_variances(&self.members, features.view())?;
        Ok(variances.map(|variances| self.scaler().inverse_variances(variances)))
    }

    /// The predictive density, and what it has chosen on the validation rows.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// The most probable label at each row of `x`.
    ///
    /// # Errors
    /// As for [`predict_classes`](Self::predict_classes).
    pub fn classify(&self, x: ArrayView2<'_, f64>) -> Result<Vec<&str>, ModelError> {
        let classes = self.predict_classes(x)?.most_probable();
        let labels = self.labels();
        Ok(classes
            .iter()
            .map(|&class| labels[class].as_str())
            .collect())
    }

    /// The labels of the classes, in the order of the probabilities; none for regression.
    pub fn labels(&self) -> &[String] {
        match &self.target {
            Target::Number(_) => &[],
            Target::Classes(labels) => labels.classes(),
        }
    }

    /// Index of a label among [`labels`](Self::labels); none for one that was not trained on.
    pub fn class_of(&self, label: &str) -> Option<usize> {
        match &self.target {
            Target::Number(_) => None,
            Target::Classes(labels) => labels.index(label),
        }
    }

    /// What is predicted.
    pub fn task(&self) -> Task {
        match self.target {
            Target::Number(_) => Task::Regression,
            Target::Classes(_) => Task::Classification,
        }
    }

    /// The members' weights, network and likelihood, in the units of the network.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Names of the features, if they were given.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The settings that it was trained with.
    pub fn settings(&self) -> &Resolved {
        &self.resolved
    }

    /// How it was trained.
    pub fn training(&self) -> &Training {
        &self.training
    }

    fn scaled(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ModelError> {
        data::check_features(x)?;
        Ok(self.features.transform(x)?)
    }
}
