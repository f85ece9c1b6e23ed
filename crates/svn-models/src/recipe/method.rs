//! The particle methods by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the particles move, by name; [`svn_stein::Method`] has the settings as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Independent particles, each by its own score.
    Ensemble,
    /// Wasserstein gradient descent: repulsion by a kernel density estimate.
    Wgd,
    /// Stein variational gradient descent.
    Svgd,
    /// Independent particles, each by its own Newton steps: what Stein variational Newton is without a kernel.
    NewtonEnsemble,
    /// First-order steps of particles that repel each other by what they predict instead of by their weights.
    #[serde(rename = "f-wgd")]
    FunctionWgd,
    /// Newton steps of particles that repel each other by what they predict: Stein variational Newton in function space.
    #[serde(rename = "f-svn")]
    FunctionSvn,
    /// Stein variational Newton.
    Svn,
    /// SVGD, with Stein variational Newton on the last layer.
    LlSvn,
    /// Stochastic Stein variational Newton: with noise, so that the particles sample.
    Ssvn,
    /// No particles: ridge or logistic regression, one member without hidden layers, see [`linear`](crate::linear).
    Linear,
}

impl Method {
    /// All methods, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::Ensemble,
        Self::Wgd,
        Self::Svgd,
        Self::FunctionWgd,
        Self::NewtonEnsemble,
        Self::FunctionSvn,
        Self::Svn,
        Self::LlSvn,
        Self::Ssvn,
        Self::Linear,
    ];

    /// Whether it takes Newton steps, on some coordinates at least.
    pub fn is_newton(self) -> bool {
        matches!(
            self,
            Self::NewtonEnsemble | Self::FunctionSvn | Self::Svn | Self::LlSvn | Self::Ssvn
        )
    }

    /// Whether it takes first-order steps, on some coordinates at least.
    pub fn is_first_order(self) -> bool {
        !matches!(
            self,
            Self::NewtonEnsemble | Self::FunctionSvn | Self::Svn | Self::Ssvn | Self::Linear
        )
    }

    /// Whether its particles interact, by a kernel.
    pub fn has_kernel(self) -> bool {
        !matches!(self, Self::Ensemble | Self::NewtonEnsemble | Self::Linear)
    }

    /// Whether its particles repel each other by what they predict.
    pub fn is_of_functions(self) -> bool {
        matches!(self, Self::FunctionWgd | Self::FunctionSvn)
    }

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ensemble => "ensemble",
            Self::Wgd => "wgd",
            Self::Svgd => "svgd",
            Self::FunctionWgd => "f-wgd",
            Self::NewtonEnsemble => "newton-ensemble",
            Self::FunctionSvn => "f-svn",
            Self::Svn => "svn",
            Self::LlSvn => "ll-svn",
            Self::Ssvn => "ssvn",
            Self::Linear => "linear",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == text)
            .ok_or_else(|| {
                format!(
                    "unknown method `{text}`; known: {}",
                    Self::ALL.map(Self::name).join(", ")
                )
            })
    }
}
