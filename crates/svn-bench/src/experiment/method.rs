//! The particle methods that are compared.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the particles move.
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
    /// Stein variational Newton.
    Svn,
}

impl Method {
    /// All methods, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Ensemble, Self::Wgd, Self::Svgd, Self::Svn];

    /// Its name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ensemble => "ensemble",
            Self::Wgd => "wgd",
            Self::Svgd => "svgd",
            Self::Svn => "svn",
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
