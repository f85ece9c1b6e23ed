//! Settings of a training run, as a user gives them; what is left out is the method's default.

use std::fmt;

use serde::{Deserialize, Serialize};
use svn_models::BackendKind;

use super::{
    Bandwidth, Binary, Coupling, Hessian, Kernel, KernelMetric, Noise, Predictive, Schedule,
    SettingsError, Solver,
};

/// Settings of a training run. `None` is the method's default, which
/// [`FoldRunner::resolve`](super::FoldRunner::resolve) fills in: a record holds what was used.
///
/// | Name | Purpose | Range |
/// |---|---|---|
/// | `epochs` | passes over the training rows at most | ≥ 1 |
/// | `lr` | step size `ε` | > 0 |
/// | `batch_size` | rows of a batch | 1 to the training rows |
/// | `particles` | members `N` | ≥ 1 |
/// | `hidden` | units of the hidden layers | each ≥ 1; may be empty |
/// | `noise` | Gaussian likelihood; regression only | |
/// | `noise_floor` | least standard deviation of heteroscedastic noise, in those of the target; about 0.001 if left out | (0, 7) |
/// | `prior_precision` | `δ` of the prior `N(0, δ⁻¹ I)` | > 0 |
/// | `hessian` | family of the curvature | |
/// | `coupling` | repulsion and blocks of the SVN Hessian | |
/// | `kernel`, `metric`, `bandwidth` | the kernel | |
/// | `solver` | of the Newton system | |
/// | `damping` | Levenberg term, scale of the sum over the data | ≥ 0 |
/// | `trust_region` | predicted change at most, nats per row; 0 is none | ≥ 0 |
/// | `ring` | batches whose curvature is accumulated | ≥ 1 |
/// | `curvature_rows` | rows of a batch that the curvature is taken from; all if left out | ≥ 1 |
/// | `schedule` | how the step size falls; cosine if left out | |
/// | `averaging` | share of the steps so far over which weights are averaged; none if left out | (0, 1] |
/// | `binary` | likelihood of two classes; classification only | |
/// | `predictive` | what the predictive density is made of; moments if left out | |
/// | `backend` | who evaluates the network; plain Rust if left out | |
/// | `temperature` | whether logits are divided by a temperature fitted on validation rows; classification only | |
///
/// `noise_floor`, `curvature_rows` and what follows it are left out of records where they are not set, so that records of
/// earlier versions keep their hash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "documented as a table above")]
pub struct TrainSettings {
    pub epochs: Option<usize>,
    pub lr: Option<f64>,
    pub batch_size: Option<usize>,
    pub particles: Option<usize>,
    pub hidden: Option<Vec<usize>>,
    pub noise: Option<Noise>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
    pub prior_precision: Option<f64>,
    pub hessian: Option<Hessian>,
    pub coupling: Option<Coupling>,
    pub kernel: Option<Kernel>,
    pub metric: Option<KernelMetric>,
    pub bandwidth: Option<Bandwidth>,
    pub solver: Option<Solver>,
    pub damping: Option<f64>,
    pub trust_region: Option<f64>,
    pub ring: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curvature_rows: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaging: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<Binary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictive: Option<Predictive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<BackendKind>,
}

/// `first`'s value of each field, or else `second`'s.
macro_rules! first_set {
    ($first:expr, $second:expr; $($field:ident),+ $(,)?) => {
        TrainSettings { $($field: $first.$field.clone().or_else(|| $second.$field.clone())),+ }
    };
}

impl TrainSettings {
    /// These settings, with those of `others` where these say nothing.
    pub fn or(&self, others: &Self) -> Self {
        first_set!(self, others;
            epochs, lr, batch_size, particles, hidden, noise, noise_floor, prior_precision, hessian, coupling, kernel, metric,
            bandwidth, solver, damping, trust_region, ring, curvature_rows, schedule, averaging, binary, predictive,
            temperature, backend,
        )
    }

    /// Check every range that does not depend on the data.
    ///
    /// # Errors
    /// [`SettingsError`] for the first setting out of its range.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let counts = [
            ("epochs", self.epochs),
            ("batch-size", self.batch_size),
            ("particles", self.particles),
            ("ring", self.ring),
            ("curvature-rows", self.curvature_rows),
            (
                "hidden",
                self.hidden
                    .as_ref()
                    .and_then(|units| units.iter().copied().min()),
            ),
        ];
        for (option, value) in counts {
            if value == Some(0) {
                return Err(out_of_range(option, 0, "at least 1"));
            }
        }
        for (option, value) in [("lr", self.lr), ("prior-precision", self.prior_precision)] {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
                return Err(out_of_range(option, value, "a positive finite number"));
            }
        }
        if let Some(value) = self.noise_floor.filter(|v| !(*v > 0.0 && *v < 7.0)) {
            return Err(out_of_range("noise-floor", value, "above 0 and below 7"));
        }
        if let Some(value) = self.averaging.filter(|v| !(*v > 0.0 && *v <= 1.0)) {
            return Err(out_of_range("averaging", value, "above 0 and at most 1"));
        }
        for (option, value) in [
            ("damping", self.damping),
            ("trust-region", self.trust_region),
        ] {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v >= 0.0)) {
                return Err(out_of_range(option, value, "a finite number, 0 or more"));
            }
        }
        Ok(())
    }
}

pub(super) fn out_of_range(
    option: &'static str,
    value: impl fmt::Display,
    expected: &str,
) -> SettingsError {
    SettingsError {
        option,
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let message = |settings: TrainSettings| settings.validate().unwrap_err().to_string();
        let default = TrainSettings::default;
        for (settings, expected) in [
            (
                TrainSettings {
                    particles: Some(0),
                    ..default()
                },
                "--particles 0: expected at least 1",
            ),
            (
                TrainSettings {
                    hidden: Some(vec![50, 0]),
                    ..default()
                },
                "--hidden 0: expected at least 1",
            ),
            (
                TrainSettings {
                    lr: Some(f64::NAN),
                    ..default()
                },
                "--lr NaN: expected a positive finite number",
            ),
            (
                TrainSettings {
                    lr: Some(-1.0),
                    ..default()
                },
                "--lr -1: expected a positive finite number",
            ),
            (
                TrainSettings {
                    lr: Some(0.0),
                    ..default()
                },
                "--lr 0: expected a positive finite number",
            ),
            (
                TrainSettings {
                    damping: Some(-1.0),
                    ..default()
                },
                "--damping -1: expected a finite number, 0 or more",
            ),
            (
                TrainSettings {
                    averaging: Some(1.5),
                    ..default()
                },
                "--averaging 1.5: expected above 0 and at most 1",
            ),
            (
                TrainSettings {
                    noise_floor: Some(8.0),
                    ..default()
                },
                "--noise-floor 8: expected above 0 and below 7",
            ),
        ] {
            assert_eq!(message(settings), expected);
        }
        assert_eq!(default().validate(), Ok(()));
        assert_eq!(
            TrainSettings {
                hidden: Some(vec![]),
                damping: Some(0.0),
                ..default()
            }
            .validate(),
            Ok(())
        );
    }

    #[test]
    fn there_and_back_through_json() {
        let settings = TrainSettings {
            lr: Some(0.1),
            coupling: Some(Coupling::BlockDiagonal),
            bandwidth: Some(Bandwidth::Dimension),
            ..TrainSettings::default()
        };
        let text = serde_json::to_string(&settings).unwrap();
        assert!(
            text.contains(r#""coupling":"block-diagonal""#) && text.contains(r#""bandwidth":"2d""#),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<TrainSettings>(&text).unwrap(),
            settings
        );
        assert!(serde_json::from_str::<TrainSettings>(r#"{"rate": 1}"#).is_err());
        assert!(serde_json::from_str::<TrainSettings>(r#"{"bandwidth": "-1"}"#).is_err());
    }
}
