//! The list of training settings, and how they are read and checked.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use svn_curvature::Activation;
use svn_stein::{Bandwidth, Coupling, Kernel, Lift, Metric, Solver};

use super::{Binary, Head, LastLayerMode, Noise, Predictive, Schedule, Selection};
use crate::posterior::{Context, CurvatureFamily, CurvatureRoot};
use crate::{BackendKind, ModelError};

/// A setting as others show it, for example a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Name of the field of [`Recipe`].
    pub name: &'static str,
    /// What stands for its value in a help text; empty for one that is on or off.
    pub value: &'static str,
    /// What it is.
    pub help: &'static str,
}

/// Values that a setting may have.
struct Range<T> {
    expected: &'static str,
    fits: fn(&T) -> bool,
}

impl<T> Range<T> {
    const ANY: Self = Self {
        expected: "",
        fits: |_| true,
    };
}

const COUNT: Range<usize> = Range {
    expected: "a whole number, 1 to 1e9",
    fits: |value| (1..=1_000_000_000).contains(value),
};
const WHOLE: Range<usize> = Range {
    expected: "a whole number",
    fits: |_| true,
};
const WIDTHS: Range<Vec<usize>> = Range {
    expected: "whole numbers, each 1 to 1e6",
    fits: |widths| widths.iter().all(|width| (1..=1_000_000).contains(width)),
};
const POSITIVE: Range<f64> = Range {
    expected: "a positive finite number",
    fits: |&value| value.is_finite() && value > 0.0,
};
const POSITIVES: Range<Vec<f64>> = Range {
    expected: "positive finite numbers, one for each layer with weights",
    fits: |values| !values.is_empty() && values.iter().all(POSITIVE.fits),
};
const NON_NEGATIVE: Range<f64> = Range {
    expected: "a finite number, 0 or more",
    fits: |&value| value.is_finite() && value >= 0.0,
};
const SECONDS: Range<f64> = Range {
    expected: "seconds, 0 or more",
    fits: |&value| (0.0..1e9).contains(&value),
};
const MOMENTUM: Range<f64> = Range {
    expected: "0 or more and below 1",
    fits: |value| (0.0..1.0).contains(value),
};
const SHARE: Range<f64> = Range {
    expected: "above 0 and at most 1",
    fits: |&value| value > 0.0 && value <= 1.0,
};
const FLOOR: Range<f64> = Range {
    expected: "above 0 and below 7",
    fits: |&value| value > 0.0 && value < 7.0,
};

const DEGREES: Range<f64> = Range {
    expected: "above 2 and at most 1e6",
    fits: |&value| value > 2.0 && value <= 1e6,
};
const COMPONENTS: Range<usize> = Range {
    expected: "a whole number, 1 to 100",
    fits: |value| (1..=100).contains(value),
};

macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty, $value:literal, $range:expr;)+) => {
        /// Settings of a training run. `None` is the default, which [`resolve`](Recipe::resolve) fills in.
        ///
        /// In a file, fields that are not set are left out, and choices are their names in kebab case.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Recipe {
            $(
                $(#[doc = $doc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )+
        }

        impl Recipe {
            /// The settings there are.
            pub const SETTINGS: &'static [Setting] = &[$(Setting {
                name: stringify!($name),
                value: $value,
                help: concat!($($doc),+),
            }),+];

            /// These settings, with those of `others` where these say nothing.
            #[must_use]
            pub fn or(&self, others: &Self) -> Self {
                Self { $($name: self.$name.clone().or_else(|| others.$name.clone())),+ }
            }

            /// Check every range that does not depend on the data.
            ///
            /// # Errors
            /// [`ModelError::Setting`] for the first setting out of its range.
            pub fn validate(&self) -> Result<(), ModelError> {
                $(if let Some(value) = &self.$name {
                    check(stringify!($name), value, &$range)?;
                })+
                Ok(())
            }

            /// Set one by its name, `batch_size` or `batch-size`, from text as on a command line.
            ///
            /// # Errors
            /// [`ModelError::Setting`] for a name there is not, text that is no value, and a value out of its range.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), ModelError> {
                match name.replace('-', "_").as_str() {
                    $(stringify!($name) => self.$name = Some(read(stringify!($name), text, &$range)?),)+
                    _ => return Err(ModelError::setting("setting", name, "one of the settings of a recipe")),
                }
                Ok(())
            }
        }
    };
}

settings! {
    /// Passes over the training rows at most
    epochs: usize, "N", COUNT;
    /// Epochs without a better validation NLL after which training stops; 0 never
    patience: usize, "N", WHOLE;
    /// Seconds after which no further epoch begins
    time_limit: f64, "SECONDS", SECONDS;
    /// What chooses: validation (the epoch by rows set aside), kfold (the epoch by all rows, each by members that have not seen its fold),
    /// evidence (the prior precision by the Laplace evidence of all rows, at the last epoch) or evidence-by-layer (then layer-precisions as well)
    select: Selection, "NAME", Range::ANY;
    /// Step size of first-order steps (Adam); of svn and ssvn, that of Newton steps unless newton-lr is given
    lr: f64, "RATE", POSITIVE;
    /// Step size of Newton steps
    newton_lr: f64, "RATE", POSITIVE;
    /// Rows of a batch
    batch_size: usize, "N", COUNT;
    /// Members of the ensemble
    particles: usize, "N", COUNT;
    /// Units of the hidden layers of a perceptron, comma separated
    hidden: Vec<usize>, "UNITS", WIDTHS;
    /// Activation of the hidden layers: relu, tanh, sigmoid or gelu
    activation: Activation, "NAME", Range::ANY;
    /// Likelihood of numbers: gaussian, student-t, mixture, ordinal, or auto, which tries them on rows left out
    likelihood: Head, "NAME", Range::ANY;
    /// Degrees of freedom of the student-t likelihood; 4 if left out
    degrees_of_freedom: f64, "VALUE", DEGREES;
    /// Gaussians of the mixture likelihood; 3 if left out
    mixture_components: usize, "N", COMPONENTS;
    /// Gaussian noise: homoscedastic or heteroscedastic
    noise: Noise, "NAME", Range::ANY;
    /// Least standard deviation of predicted noise, in those of the target; about 0.001 if left out
    noise_floor: f64, "VALUE", FLOOR;
    /// Precision of the Gaussian prior
    prior_precision: f64, "VALUE", POSITIVE;
    /// Prior precision of each affine layer over prior-precision, comma separated; 1 each if left out
    layer_precisions: Vec<f64>, "FACTORS", POSITIVES;
    /// Curvature: full, diag, kfac or ekfac
    hessian: CurvatureFamily, "NAME", Range::ANY;
    /// Root of the curvature in the outputs: exact or sampled
    root: CurvatureRoot, "NAME", Range::ANY;
    /// LL-SVN: joint, or pretrained by first-order steps before Newton steps on the last layer alone
    ll_mode: LastLayerMode, "NAME", Range::ANY;
    /// SVN Hessian: exact, gram, block-repulsion or block-diagonal
    coupling: Coupling, "NAME", Range::ANY;
    /// How a solution becomes a step with block-diagonal coupling: kernel (averaged with those of others) or particle
    lift: Lift, "NAME", Range::ANY;
    /// Kernel: rbf, imq or none
    kernel: Kernel, "NAME", Range::ANY;
    /// Metric of the kernel: identity, curvature or diagonal
    metric: Metric, "NAME", Range::ANY;
    /// Bandwidth of the kernel: median, 2d, a number, or as 2 medians
    bandwidth: Bandwidth, "VALUE", Range::ANY;
    /// Strength of a repulsion in function space; 1 if left out
    repulsion: f64, "VALUE", NON_NEGATIVE;
    /// Rows at which functions are compared: training, or perturbed (by 1, or as perturbed 0.5)
    context: Context, "ROWS", Range::ANY;
    /// How many of them in a step
    context_rows: usize, "N", COUNT;
    /// Newton system: auto, direct, dense, cg, preconditioned or minres
    solver: Solver, "NAME", Range::ANY;
    /// Ridge of the kernel matrix in the Newton system, relative to the eigenvalues of its square; 1e-6 if left out
    ridge: f64, "VALUE", NON_NEGATIVE;
    /// Levenberg damping, on the scale of the sum over the data
    damping: f64, "VALUE", NON_NEGATIVE;
    /// Predicted change of a step at most, nats per row; 0 is no limit
    trust_region: f64, "VALUE", NON_NEGATIVE;
    /// Newton steps by an average over the batches of about 1/(1 - BETA) steps; if left out 0.8 of up to 4000 rows of numbers with ekfac, else 0
    momentum: f64, "BETA", MOMENTUM;
    /// Batches whose curvature is accumulated
    ring: usize, "N", COUNT;
    /// Rows of a batch that the curvature is taken from; all if left out
    curvature_rows: usize, "N", COUNT;
    /// Only each so many-th batch adds curvature; the steps between reuse it and, if full, its factor; if left out 1, of numbers 10 with diag, 4 or 10 with ekfac
    curvature_every: usize, "N", COUNT;
    /// Steps between decompositions of Kronecker factors; if left out 10, of numbers with ekfac 100 or 200
    curvature_refresh: usize, "N", COUNT;
    /// Epochs of first-order steps (Adam) on every particle by itself before the Newton steps, which epochs then counts; 0 if left out
    warmup: usize, "N", WHOLE;
    /// Step size over the run: cosine, constant or, of Newton steps, noise (down to where that of the batches is small)
    schedule: Schedule, "NAME", Range::ANY;
    /// Average weights over this share of the steps so far; no average if left out
    averaging: f64, "SHARE", SHARE;
    /// Two classes: bernoulli or softmax
    binary: Binary, "NAME", Range::ANY;
    /// Predictive density: moments, laplace, fill (of few members) or, for regression, student-t (tails chosen afterwards) or epistemic
    predictive: Predictive, "NAME", Range::ANY;
    /// Divide logits by a temperature fitted on rows that were not trained on
    temperature: bool, "", Range::ANY;
    /// Who evaluates the network: native (plain Rust), torch (libtorch) or auto
    backend: BackendKind, "NAME", Range::ANY;
}

fn check<T: Serialize>(name: &'static str, value: &T, range: &Range<T>) -> Result<(), ModelError> {
    if (range.fits)(value) {
        return Ok(());
    }
    let value = serde_json::to_string(value).unwrap_or_default();
    Err(ModelError::setting(name, value, range.expected))
}

/// A number, numbers separated by commas, or a name.
fn read<T>(name: &'static str, text: &str, range: &Range<T>) -> Result<T, ModelError>
where
    T: DeserializeOwned + Serialize,
{
    let plain = || serde_json::from_str(text).ok();
    let listed = || serde_json::from_str(&format!("[{text}]")).ok();
    let named = |text: &str| {
        let deserializer: StrDeserializer<'_, Error> = text.into_deserializer();
        T::deserialize(deserializer)
    };
    let value = match plain().or_else(listed).map_or_else(|| named(text), Ok) {
        Ok(value) => value,
        Err(_) if !range.expected.is_empty() => {
            return Err(ModelError::setting(name, text, range.expected));
        }
        Err(error) => return Err(ModelError::setting(name, text, &of_names(&error))),
    };
    if (range.fits)(&value) {
        Ok(value)
    } else {
        Err(ModelError::setting(name, text, range.expected))
    }
}

/// `exact, gram` of "unknown variant `x`, expected `exact` or `gram`".
fn of_names(error: &Error) -> String {
    let text = error.to_string();
    let names = text
        .rsplit_once("expected ")
        .map_or(text.as_str(), |(_, names)| names);
    names.trim_start_matches("one of ").replace('`', "")
}
