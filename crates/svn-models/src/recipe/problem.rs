//! What defaults depend on besides the method.

use serde::{Deserialize, Serialize};

use super::NetworkKind;

/// What defaults depend on besides the method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Which network.
    pub network: NetworkKind,
    /// Training rows.
    pub rows: usize,
    /// Features of a row.
    pub features: usize,
    /// Number of classes; none for regression.
    pub classes: Option<usize>,
}

/// How many training rows there are, in the steps that defaults and tuning grids know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Up to 400.
    Few,
    /// Up to 4000.
    Small,
    /// Up to 16 000.
    Medium,
    /// More.
    Large,
}

impl Size {
    /// The size of so many training rows.
    pub fn of(rows: usize) -> Self {
        match rows {
            ..=400 => Self::Few,
            401..=4000 => Self::Small,
            4001..=16_000 => Self::Medium,
            _ => Self::Large,
        }
    }
}
