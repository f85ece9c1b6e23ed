//! Rules for the bandwidth `h` of a kernel `κ(q/h)`, defined for every set of particles.
//!
//! ```text
//! fixed      h given
//! dimension  h = 2 d            (with the curvature metric: exp(−ΔᵀMΔ/(2d)), Detommaso et al. 2018)
//! median     h = med_{p<m} q_pm / ln(N + 1)
//! medians    h = c · med_{p<m} q_pm
//! ```
//!
//! The median rule uses `N + 1`, so one particle does not divide by `ln 1`. Where the median is zero (more than half of
//! the pairs coincide) the mean of `q` takes its place, and where that is zero as well (one particle, or all
//! identical) the dimension rule; any positive `h` gives the same kernel matrix there.
//!
//! References: Liu & Wang (2016), arXiv 1608.04471; Detommaso et al. (2018), arXiv 1806.03085.

use std::fmt;
use std::str::FromStr;

use ndarray::ArrayView2;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::SteinError;

const EXPECTED: &str = "median, 2d, a positive number, or one with the word medians";

/// How the bandwidth is chosen at each step; as text a number, `2d`, `median`, or `2 medians`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "String")]
#[non_exhaustive]
pub enum Bandwidth {
    /// A constant `h > 0`, in units of the squared metric distance.
    Fixed(f64),
    /// `h = 2 d`.
    Dimension,
    /// `h = median / ln(N + 1)` of the squared metric distances.
    Median,
    /// `h = c · median` of the squared metric distances, for `c > 0`, whatever the number of particles.
    Medians(f64),
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(value) => write!(f, "{value}"),
            Self::Dimension => f.write_str("2d"),
            Self::Median => f.write_str("median"),
            Self::Medians(times) => write!(f, "{times} medians"),
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
            other => {
                let read = match other.strip_suffix(" medians") {
                    Some(times) => times.parse().map(Self::Medians),
                    None => other.parse().map(Self::Fixed),
                };
                read.ok()
                    .filter(|bandwidth| bandwidth.validate().is_ok())
                    .ok_or_else(|| format!("expected {EXPECTED}"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Bandwidth {
    /// From text, or from a number as it is.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumber)
    }
}

struct TextOrNumber;

impl Visitor<'_> for TextOrNumber {
    type Value = Bandwidth;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Bandwidth, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Bandwidth, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Bandwidth, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Bandwidth, E> {
        self.visit_str(&number.to_string())
    }
}

impl Bandwidth {
    /// The bandwidth for squared distances `q` (`N × N`, symmetric, non-negative) between particles of `dim`
    /// coordinates; always positive and finite for finite `q`.
    pub fn evaluate(self, q: ArrayView2<'_, f64>, dim: usize) -> f64 {
        let dimension = 2.0 * dim as f64;
        let scaled = |times: f64| {
            let h = times * typical(q);
            if h.is_normal() && h > 0.0 {
                h
            } else {
                dimension
            }
        };
        match self {
            Self::Fixed(h) => h,
            Self::Dimension => dimension,
            Self::Median => scaled(1.0 / (q.nrows() as f64 + 1.0).ln()),
            Self::Medians(times) => scaled(times),
        }
    }

    /// Check a fixed bandwidth.
    ///
    /// # Errors
    /// [`SteinError::Setting`] unless it is positive and finite.
    pub fn validate(self) -> Result<(), SteinError> {
        match self {
            Self::Fixed(h) | Self::Medians(h) if !(h.is_finite() && h > 0.0) => {
                Err(SteinError::Setting {
                    name: "bandwidth",
                    value: h.to_string(),
                    expected: "a positive number",
                })
            }
            _ => Ok(()),
        }
    }
}

/// Median of `q` over pairs, their mean where it is zero, zero where there is no pair.
fn typical(q: ArrayView2<'_, f64>) -> f64 {
    let n = q.nrows();
    let mut pairs: Vec<f64> = (0..n)
        .flat_map(|p| (p + 1..n).map(move |m| (p, m)))
        .map(|(p, m)| q[(p, m)])
        .collect();
    if pairs.is_empty() {
        return 0.0;
    }
    let (count, middle) = (pairs.len(), pairs.len() / 2);
    let (below, &mut upper, _) = pairs.select_nth_unstable_by(middle, f64::total_cmp);
    let median = if count % 2 == 1 {
        upper
    } else {
        0.5 * (below.iter().copied().fold(0.0, f64::max) + upper)
    };
    let mean = pairs.iter().sum::<f64>() / count as f64;
    if median > 0.0 { median } else { mean }
}
