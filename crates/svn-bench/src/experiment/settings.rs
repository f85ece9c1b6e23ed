//! Settings of a training run, as a user gives them; what is left out is the method's default.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SettingsError;

/// A choice by name: the enum, its names in serde and on the command line, `Display` and `FromStr`.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(format!("expected {}", [$($text),+].join(", "))),
                }
            }
        }
    };
}

choice! {
    /// Noise of a Gaussian likelihood.
    Noise {
        /// One variance for all rows.
        Homoscedastic = "homoscedastic",
        /// The network's second output is the log variance.
        Heteroscedastic = "heteroscedastic",
    }
}
choice! {
    /// Family of the curvature `H_p`.
    Hessian {
        /// Full Gauss-Newton or Fisher matrix.
        Full = "full",
        /// Its diagonal.
        Diag = "diag",
        /// Kronecker-factored blocks, one a layer.
        Kfac = "kfac",
    }
}
choice! {
    /// Repulsion term of the SVN Hessian and the blocks that are kept.
    Coupling {
        /// `G_pn G_pmᵀ`: the second variation, often indefinite.
        Exact = "exact",
        /// `G_pm G_pnᵀ`.
        Gram = "gram",
        /// Repulsion in the diagonal blocks only.
        BlockRepulsion = "block-repulsion",
        /// Diagonal blocks only.
        BlockDiagonal = "block-diagonal",
    }
}
choice! {
    /// Radial profile of the kernel.
    Kernel {
        /// Gaussian.
        Rbf = "rbf",
        /// Inverse multiquadric.
        Imq = "imq",
    }
}
choice! {
    /// Metric in which the kernel measures distance.
    KernelMetric {
        /// `I`.
        Identity = "identity",
        /// `(1/N) Σ_p H_p`.
        Curvature = "curvature",
    }
}
choice! {
    /// How the Newton system is solved.
    Solver {
        /// Exactly, through a factorisation.
        Direct = "direct",
        /// By conjugate gradients, matrix-free.
        Cg = "cg",
    }
}

/// Length scale of the kernel. A number, `2d` or `median`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Bandwidth {
    /// This squared length.
    Fixed(f64),
    /// Twice the dimension of a particle: the paper's.
    Dimension,
    /// The median of the squared distances between particles.
    Median,
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(value) => write!(f, "{value}"),
            Self::Dimension => f.write_str("2d"),
            Self::Median => f.write_str("median"),
        }
    }
}

impl From<Bandwidth> for String {
    fn from(bandwidth: Bandwidth) -> Self {
        bandwidth.to_string()
    }
}

impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "2d" => Ok(Self::Dimension),
            "median" => Ok(Self::Median),
            number => match number.parse() {
                Ok(value) if f64::is_finite(value) && value > 0.0 => Ok(Self::Fixed(value)),
                _ => Err("expected median, 2d or a positive number".to_owned()),
            },
        }
    }
}

impl TryFrom<String> for Bandwidth {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

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
/// | `prior_precision` | `δ` of the prior `N(0, δ⁻¹ I)` | > 0 |
/// | `hessian` | family of the curvature | |
/// | `coupling` | repulsion and blocks of the SVN Hessian | |
/// | `kernel`, `metric`, `bandwidth` | the kernel | |
/// | `solver` | of the Newton system | |
/// | `damping` | Levenberg term, scale of the sum over the data | ≥ 0 |
/// | `trust_region` | predicted change at most, nats per row; 0 is none | ≥ 0 |
/// | `ring` | batches whose curvature is accumulated | ≥ 1 |
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
}

impl TrainSettings {
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
