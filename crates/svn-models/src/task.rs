//! What is predicted.

use serde::{Deserialize, Serialize};

/// What is predicted; [`fit::LikelihoodKind`](crate::fit::LikelihoodKind) says by which likelihood as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A real number.
    Regression,
    /// One of `C` classes.
    Classification,
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Regression => "regression",
            Self::Classification => "classification",
        })
    }
}
