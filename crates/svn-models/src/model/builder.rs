//! How an ensemble is trained, where the defaults are not what is wanted.

use std::fmt;
use std::time::{Duration, Instant};

use ndarray::{Array1, ArrayView1, ArrayView2, Axis};

use super::split::{Split, split};
use super::{Ensemble, Target, Training, data};
use crate::curvature::Layer;
use crate::fit::{EpochReport, Fit, Patience, fit_from, fit_last_layer};
use crate::network::Layers;
use crate::predictive::Predictor;
use crate::recipe::{LastLayerMode, Method, NetworkKind, Problem, Recipe, Resolved};
use crate::scaling::{FeatureScaler, TargetScaler};
use crate::stein::Flow;
use crate::{Device, LabelEncoding, ModelError, Rows, Task};

/// Settings before [`fit`](Self::fit); what is not said is the default.
pub struct Builder<'o> {
    method: Method,
    network: NetworkKind,
    recipe: Recipe,
    seed: u64,
    device: Device,
    feature_names: Option<Vec<String>>,
    validation_share: f64,
    time_limit: Option<Duration>,
    observer: Option<&'o mut dyn FnMut(&EpochReport) -> Flow>,
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("method", &self.method)
            .field("network", &self.network)
            .field("recipe", &self.recipe)
            .field("seed", &self.seed)
            .field("device", &self.device)
            .field("validation_share", &self.validation_share)
            .field("time_limit", &self.time_limit)
            .finish_non_exhaustive()
    }
}

impl Default for Builder<'_> {
    fn default() -> Self {
        Self {
            method: Method::Svn,
            network: NetworkKind::Mlp,
            recipe: Recipe::default(),
            seed: 0,
            device: Device::Cpu,
            feature_names: None,
            validation_share: 0.2,
            time_limit: None,
            observer: None,
        }
    }
}

impl<'o> Builder<'o> {
    /// How the particles move.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Training settings that go before the defaults and before what was said so far.
    #[must_use]
    pub fn recipe(mut self, recipe: &Recipe) -> Self {
        self.recipe = recipe.or(&self.recipe);
        self
    }

    /// Members `N`.
    #[must_use]
    pub fn particles(mut self, particles: usize) -> Self {
        self.recipe.particles = Some(particles);
        self
    }

    /// Units of the hidden layers.
    #[must_use]
    pub fn hidden(mut self, units: &[usize]) -> Self {
        self.recipe.hidden = Some(units.to_vec());
        self
    }

    /// A network of one's own instead of a perceptron. A row of features holds a sample of `input_shape` in row-major order.
    ///
    /// The last layer has two outputs for a number (mean and log variance; one with homoscedastic noise), one for two classes
    /// (a logit), else one a class. Convolutions need the feature `torch`.
    #[must_use]
    pub fn layers(mut self, input_shape: &[usize], layers: Vec<Layer>) -> Self {
        self.network = NetworkKind::Layers(Layers {
            input_shape: input_shape.to_vec(),
            layers,
        });
        self
    }

    /// Passes over the training rows at most.
    #[must_use]
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.recipe.epochs = Some(epochs);
        self
    }

    /// Epochs without a better validation score after which training ends.
    #[must_use]
    pub fn patience(mut self, epochs: usize) -> Self {
        self.recipe.patience = Some(epochs);
        self
    }

    /// Seed of the split, the starting weights and the order of the rows.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Where the network is evaluated.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Names of the features, in the order of the columns; the model keeps them.
    #[must_use]
    pub fn feature_names(mut self, names: &[impl AsRef<str>]) -> Self {
        self.feature_names = Some(names.iter().map(|name| name.as_ref().to_owned()).collect());
        self
    }

    /// Share of the rows that is set aside for validation; a fifth if not said.
    #[must_use]
    pub fn validation_share(mut self, share: f64) -> Self {
        self.validation_share = share;
        self
    }

    /// Training ends with the epoch in which this is over; the best epoch until then is kept.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Is told of each epoch, and may end training.
    #[must_use]
    pub fn observer(mut self, observer: &'o mut dyn FnMut(&EpochReport) -> Flow) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Train on the rows of `x`, some of them set aside for validation.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`.
    ///
    /// # Errors
    /// As for [`Ensemble::fit`], and [`ModelError::Setting`] for a setting out of range.
    pub fn fit(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        task: Task,
    ) -> Result<Ensemble, ModelError> {
        data::check_rows(x, y.len())?;
        data::check_targets(y)?;
        match task {
            Task::Regression => self.fit_split(x, y, None, None),
            Task::Classification => {
                let labels: Vec<String> = y.iter().map(|class| (class + 0.0).to_string()).collect();
                self.fit_labels(x, &labels)
            }
        }
    }

    /// [`fit`](Self::fit) where rows of one group, such as one patient's, are all trained on or all validated on.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y` and `groups`: `n`.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit), [`ModelError::Setting`] for a single group.
    pub fn fit_grouped(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        task: Task,
        groups: &[usize],
    ) -> Result<Ensemble, ModelError> {
        data::check_rows(x, y.len())?;
        data::check_targets(y)?;
        if groups.len() != y.len() {
            return Err(ModelError::Shape {
                what: "groups beside the targets".into(),
                found: vec![groups.len()],
                expected: vec![y.len()],
            });
        }
        if groups.iter().all(|group| *group == groups[0]) {
            return Err(ModelError::setting(
                "groups",
                1,
                "at least 2 groups of rows",
            ));
        }
        match task {
            Task::Regression => self.fit_split(x, y, None, Some(groups)),
            Task::Classification => {
                let texts = y.iter().map(|class| (class + 0.0).to_string());
                let (labels, classes) = encoded(&texts.collect::<Vec<_>>())?;
                self.fit_split(x, classes.view(), Some(labels), Some(groups))
            }
        }
    }

    /// [`fit`](Self::fit) of classes by their names.
    ///
    /// # Shapes
    /// `x`: `n × p`, `labels`: `n`.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit).
    pub fn fit_labels(
        self,
        x: ArrayView2<'_, f64>,
        labels: &[impl AsRef<str>],
    ) -> Result<Ensemble, ModelError> {
        data::check_rows(x, labels.len())?;
        let (labels, classes) = encoded(labels)?;
        self.fit_split(x, classes.view(), Some(labels), None)
    }

    /// [`fit`](Self::fit) with validation rows of one's own.
    ///
    /// # Shapes
    /// `x`: `n × p`, `y`: `n`; of validation `m × p` and `m`.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit), [`ModelError::UnknownLabel`] for a class that is in the validation rows alone.
    pub fn fit_with(
        self,
        (x, y): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        validation: (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        task: Task,
    ) -> Result<Ensemble, ModelError> {
        let (vx, vy) = validation;
        data::check_rows(x, y.len())?;
        data::check_targets(y)?;
        if vx.nrows() != vy.len() || vy.is_empty() || vx.ncols() != x.ncols() {
            return Err(ModelError::Shape {
                what: "validation features beside their targets".into(),
                found: vx.shape().to_vec(),
                expected: vec![vy.len().max(1), x.ncols()],
            });
        }
        data::check_features(vx)?;
        data::check_targets(vy)?;
        let (labels, y, vy) = match task {
            Task::Regression => (None, y.to_owned(), vy.to_owned()),
            Task::Classification => {
                let text = |class: &f64| (class + 0.0).to_string();
                let (labels, classes) = encoded(&y.iter().map(text).collect::<Vec<_>>())?;
                let index = |class: &f64| Ok(labels.encode(&text(class))? as f64);
                let vy: Array1<f64> = vy.iter().map(index).collect::<Result<_, ModelError>>()?;
                (Some(labels), classes, vy)
            }
        };
        self.fit_parts((x, y.view()), (vx, vy.view()), labels)
    }

    /// Targets are numbers, or indices of `labels`.
    fn fit_split(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        labels: Option<LabelEncoding>,
        groups: Option<&[usize]>,
    ) -> Result<Ensemble, ModelError> {
        let share = self.validation_share;
        if !(share > 0.0 && share < 1.0) {
            let expected = "above 0 and below 1";
            return Err(ModelError::setting("validation share", share, expected));
        }
        let strata: Option<Vec<usize>> = labels
            .as_ref()
            .filter(|_| groups.is_none())
            .map(|_| y.iter().map(|&class| class as usize).collect());
        let Split { train, validation } =
            split(y.len(), share, strata.as_deref(), groups, self.seed);
        if validation.is_empty() {
            let expected = "at least 2 rows of a class, or validation rows of your own";
            return Err(ModelError::setting("rows", y.len(), expected));
        }
        let part = |rows: &[usize]| (x.select(Axis(0), rows), y.select(Axis(0), rows));
        let (train, validation) = (part(&train), part(&validation));
        self.fit_parts(
            (train.0.view(), train.1.view()),
            (validation.0.view(), validation.1.view()),
            labels,
        )
    }

    fn fit_parts(
        mut self,
        (x, y): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        (vx, vy): (ArrayView2<'_, f64>, ArrayView1<'_, f64>),
        labels: Option<LabelEncoding>,
    ) -> Result<Ensemble, ModelError> {
        if let Some(names) = self.feature_names.as_ref()
            && names.len() != x.ncols()
        {
            let expected = format!("{}, one a column", x.ncols());
            return Err(ModelError::setting("feature names", names.len(), &expected));
        }
        let features = FeatureScaler::fit(x)?;
        let scaler = match &labels {
            Some(_) => TargetScaler::IDENTITY,
            None => TargetScaler::fit(y)?,
        };
        let train = Rows::new(features.transform(x)?, scaler.transform(y))?;
        let validation = Rows::new(features.transform(vx)?, scaler.transform(vy))?;
        let problem = Problem {
            network: self.network.clone(),
            rows: train.len(),
            features: train.width(),
            classes: labels.as_ref().map(LabelEncoding::len),
        };
        let resolved = self.recipe.resolve(self.method, &problem)?;
        let fit = self.train(&resolved, &train, &validation)?;
        let (members, recipe) = (fit.ensemble, &resolved.recipe);
        let predictor = Predictor::new(&members, recipe, train.features(), &validation)?;
        let of_best = |epoch: &&EpochReport| epoch.epoch == fit.best_epoch;
        let best = fit.history.iter().find(of_best);
        let nll = predictor
            .validation_nll()
            .or(best.and_then(|epoch| epoch.validation_nll));
        Ok(Ensemble {
            predictor,
            features,
            feature_names: self.feature_names,
            target: match labels {
                Some(labels) => Target::Classes(labels),
                None => Target::Number(scaler),
            },
            training: Training {
                train_rows: train.len(),
                validation_rows: validation.len(),
                validation_nll: nll.unwrap_or(f64::NAN) + scaler.scale.ln(),
                best_epoch: fit.best_epoch,
                epochs: fit.history.len(),
                history: fit.history,
                ending: fit.ending,
            },
            members,
            resolved,
        })
    }

    fn train(
        &mut self,
        resolved: &Resolved,
        train: &Rows,
        validation: &Rows,
    ) -> Result<Fit, ModelError> {
        let settings = resolved.fit_settings(self.device, self.seed)?;
        let mut patience = Patience::new(resolved.recipe.patience);
        let (start, limit) = (Instant::now(), self.time_limit);
        let observer = &mut self.observer;
        let mut watch = |epoch: &EpochReport| {
            let told = match observer {
                Some(observer) => observer(epoch),
                None => Flow::Continue,
            };
            let late = limit.is_some_and(|limit| start.elapsed() >= limit);
            if patience.is_over(epoch) || late {
                Flow::Stop
            } else {
                told
            }
        };
        let fit = fit_from(&settings, train, validation, None, &mut |epoch| {
            Ok(watch(epoch.report()))
        })?;
        if resolved.recipe.ll_mode != Some(LastLayerMode::Pretrained) {
            return Ok(fit);
        }
        let last = resolved.last_layer_settings(self.device, self.seed)?;
        let mut tell = |epoch: &EpochReport| {
            watch(epoch);
        };
        fit_last_layer(&last, &fit.ensemble, train, validation, &mut tell)
    }
}

/// Classes of labels, and the index of each label.
fn encoded(labels: &[impl AsRef<str>]) -> Result<(LabelEncoding, Array1<f64>), ModelError> {
    let encoding = LabelEncoding::fit(labels.iter().map(AsRef::as_ref));
    data::check_classes(&encoding)?;
    let index = |label: &_| Ok(encoding.encode(AsRef::as_ref(label))? as f64);
    let classes = labels
        .iter()
        .map(index)
        .collect::<Result<_, ModelError>>()?;
    Ok((encoding, classes))
}
