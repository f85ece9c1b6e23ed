//! How an ensemble is trained, where the defaults are not what is wanted. The training itself is in `fit.rs`.

use std::fmt;
use std::time::Duration;

use ndarray::{Array2, ArrayView2};

use super::likelihoods::Measure;
use super::{Ensemble, Tried};
use crate::Device;
use crate::curvature::Layer;
use crate::fit::{Checkpoint, Observer};
use crate::network::Layers;
use crate::recipe::{Method, NetworkKind, Recipe};

/// Settings before [`fit`](Self::fit); what is not said is the default.
pub struct Builder<'o> {
    pub(super) method: Method,
    pub(super) network: NetworkKind,
    pub(super) recipe: Recipe,
    pub(super) seed: u64,
    pub(super) device: Device,
    pub(super) feature_names: Option<Vec<String>>,
    pub(super) validation_share: f64,
    pub(super) groups: Option<Vec<usize>>,
    pub(super) context: Option<Array2<f64>>,
    pub(super) scaled: bool,
    pub(super) checkpoint: Option<Box<Checkpoint>>,
    pub(super) observer: Option<&'o mut dyn Observer>,
    /// Whose weights and scaling training goes on with.
    pub(super) goes_on: Option<Ensemble>,
    /// What need not be tried again.
    pub(super) tried: Vec<Tried>,
    pub(super) on_tried: Option<&'o mut dyn FnMut(&Tried)>,
    /// Of a fit of few epochs that only tries a likelihood.
    pub(super) trial: Option<Measure>,
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
            groups: None,
            context: None,
            scaled: true,
            checkpoint: None,
            observer: None,
            goes_on: None,
            tried: Vec::new(),
            on_tried: None,
            trial: None,
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
    /// The last layer has two outputs for a number (mean and log variance; one with homoscedastic noise, three for each Gaussian
    /// of a mixture), one for two classes (a logit), else one a class. Convolutions need the feature `torch`.
    #[must_use]
    pub fn layers(mut self, input_shape: &[usize], layers: Vec<Layer>) -> Self {
        self.network = NetworkKind::Layers(Layers {
            input_shape: input_shape.to_vec(),
            layers,
        });
        self
    }

    /// The network by its kind: a perceptron, LeNet, or layers.
    #[must_use]
    pub fn network(mut self, network: NetworkKind) -> Self {
        self.network = network;
        self
    }

    /// Take the features as they are, such as pixels from 0 to 1, instead of standardising them.
    #[must_use]
    pub fn unscaled(mut self) -> Self {
        self.scaled = false;
        self
    }

    /// Go on after the last epoch of a run that was interrupted; rows and settings have to be those of then.
    #[must_use]
    pub fn checkpoint(mut self, checkpoint: Checkpoint) -> Self {
        self.checkpoint = Some(Box::new(checkpoint));
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

    /// The group of each row, such as its patient: rows of one group are all trained on or all validated on.
    #[must_use]
    pub fn groups(mut self, groups: &[usize]) -> Self {
        self.groups = Some(groups.to_vec());
        self
    }

    /// Rows (`m × p`, in the units of the features) at which methods with a repulsion in function space, [`Method::FunctionSvn`] and
    /// [`Method::FunctionWgd`], keep their members apart, for example rows without targets that predictions are wanted of. Left out,
    /// those of training, or their neighbourhood: the setting `context`.
    #[must_use]
    pub fn context(mut self, rows: ArrayView2<'_, f64>) -> Self {
        self.context = Some(rows.to_owned());
        self
    }

    /// Training ends with the epoch in which this is over; the best epoch until then is kept.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.recipe.time_limit = Some(limit.as_secs_f64());
        self
    }

    /// Is told of each epoch, its scores in the units of the target, and may end training.
    #[must_use]
    pub fn observer(mut self, observer: &'o mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }
}
