//! Which likelihood suits a target, where none is asked for: each is tried for a quarter of the epochs.
//!
//! ```text
//! score = −(1/n) Σ_i ln p(y_i), nats a row, each row under members that have not seen it          the least wins, and is trained anew
//! ```
//!
//! | tried | unless |
//! |---|---|
//! | Gaussian, Student t | |
//! | mixture | many rows share their value with many others: a density closes in on it without end |
//! | ordinal | the targets are no whole numbers, or there are more than 30 levels |
//!
//! Where levels are tried, every score is that of bins: `p` is the probability of `[y − ½, y + ½]`, which for levels is theirs.
//! A density of whole numbers would be no measure beside it.

use std::collections::HashMap;

use ndarray::ArrayView1;

use super::race::Candidate;
use super::{Builder, Ensemble};
use crate::members::Family;
use crate::recipe::{Head, Method, Problem, Resolved};
use crate::{ModelError, Prediction};

/// Epochs of the whole run for one of a trial, and the fewest of a trial.
const SHARE: usize = 4;
const FEWEST: usize = 5;

/// A value is crowded from so many rows on, and from such a share of all rows on.
const CROWD: (usize, f64) = (5, 0.01);

/// Share of rows with a crowded value from which on no mixture is tried.
const CROWDED: f64 = 0.05;

/// Levels that are tried at most.
const LEVELS: f64 = 30.0;

/// Least probability of a bin that two values of a distribution tell; below it the density says more.
const TOLD: f64 = 1e-9;

/// What the scores of a trial are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Density,
    UnitBins,
}

impl Measure {
    /// Of one target a row, nats a row.
    pub(super) fn score(
        self,
        prediction: &Prediction,
        y: ArrayView1<'_, f64>,
    ) -> Result<f64, ModelError> {
        let density = prediction.log_density(y)?;
        let logs = match (self, prediction.family()) {
            // Of levels it is that of the bins, one wide.
            (Self::Density, _) | (_, Family::Ordinal(_)) => density,
            (Self::UnitBins, _) => {
                let to = |shift: f64| prediction.cumulative((&y + shift).view());
                let bins = to(0.5)? - to(-0.5)?;
                let each = bins.iter().zip(&density);
                each.map(|(&bin, &density)| if bin > TOLD { bin.ln() } else { density })
                    .collect()
            }
        };
        Ok(-logs.sum() / logs.len().max(1) as f64)
    }
}

/// What is tried of such targets, and by which measure.
fn candidates(y: ArrayView1<'_, f64>) -> (Vec<Head>, Measure) {
    let mut heads = vec![Head::Gaussian, Head::StudentT];
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for value in y {
        *counts.entry(value.to_bits()).or_default() += 1;
    }
    let n = y.len() as f64;
    let crowd = |count: &&usize| **count >= CROWD.0 && **count as f64 >= CROWD.1 * n;
    let crowded: usize = counts.values().filter(crowd).sum();
    if (crowded as f64) < CROWDED * n {
        heads.push(Head::Mixture);
    }
    let (low, high) = y
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
            (low.min(*y), high.max(*y))
        });
    let whole = y.iter().all(|y| y.fract() == 0.0);
    if whole && high - low < LEVELS && high > low {
        heads.push(Head::Ordinal);
        return (heads, Measure::UnitBins);
    }
    (heads, Measure::Density)
}

impl Builder<'_> {
    /// Whether the likelihood of numbers is still to be chosen.
    pub(super) fn is_undecided(&self) -> bool {
        self.recipe.likelihood == Some(Head::Auto) && self.method != Method::Linear
    }

    /// The settings for a problem; of a trial with its epochs.
    pub(super) fn resolved(&self, problem: &Problem) -> Result<Resolved, ModelError> {
        let mut resolved = self.recipe.resolve(self.method, problem)?;
        if self.trial.is_some()
            && let Some(epochs) = &mut resolved.recipe.epochs
        {
            *epochs = epochs.div_ceil(SHARE).max(FEWEST).min(*epochs);
        }
        Ok(resolved)
    }

    /// Try each likelihood that such targets may have, then fit with the best.
    pub(super) fn race_likelihoods(
        self,
        y: ArrayView1<'_, f64>,
        fit: impl Fn(Builder<'_>) -> Result<Ensemble, ModelError>,
    ) -> Result<Ensemble, ModelError> {
        let (heads, measure) = candidates(y);
        let candidates = heads.into_iter().map(Candidate::Likelihood).collect();
        // A quarter of the epochs for an eighth of the time.
        self.race(candidates, Some(measure), 2 * SHARE, fit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Array1, array};

    #[test]
    fn candidates_follow_from_the_targets() {
        let smooth = Array1::from_shape_fn(200, |i| (i as f64).sqrt());
        let numbers = vec![Head::Gaussian, Head::StudentT, Head::Mixture];
        assert_eq!(candidates(smooth.view()), (numbers, Measure::Density));
        // A tenth of the rows have one value.
        let spike = Array1::from_shape_fn(200, |i| if i < 20 { 0.5 } else { (i as f64).sqrt() });
        let two = vec![Head::Gaussian, Head::StudentT];
        assert_eq!(candidates(spike.view()), (two, Measure::Density));
        let rating = Array1::from_shape_fn(200, |i| 3.0 + (i % 6) as f64);
        let levels = vec![Head::Gaussian, Head::StudentT, Head::Ordinal];
        assert_eq!(candidates(rating.view()), (levels, Measure::UnitBins));
        let count = Array1::from_shape_fn(200, |i| i as f64);
        assert!(!candidates(count.view()).0.contains(&Head::Ordinal));
    }

    #[test]
    fn bins_have_the_mass_between_their_edges() {
        let y = array![2.0, 5.0];
        let prediction = Prediction::new(array![[2.3, 4.0]], array![[0.25, 1.0]]).unwrap();
        let phi = |z: f64| 0.5 * libm::erfc(-z / 2f64.sqrt());
        let bins = [
            phi((2.5 - 2.3) / 0.5) - phi((1.5 - 2.3) / 0.5),
            phi(1.5) - phi(0.5),
        ];
        let expected = -(bins[0].ln() + bins[1].ln()) / 2.0;
        let found = Measure::UnitBins.score(&prediction, y.view()).unwrap();
        assert_relative_eq!(found, expected, max_relative = 1e-12);
        // Bins without mass are told apart still.
        let far = Measure::UnitBins.score(&prediction, array![90.0, 5.0].view());
        assert!(far.unwrap() > 1000.0);
        // Levels and a density that is flat over bins say the same.
        let levels = Prediction::ordinal(0.0, 9, array![[2.3]], array![[0.2]]).unwrap();
        let found = Measure::UnitBins.score(&levels, array![3.0].view());
        let (low, high) = (2.5 - 2.3, 3.5 - 2.3);
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x / 0.2f64.sqrt()).exp());
        let expected = -(sigmoid(high) - sigmoid(low)).ln();
        assert_relative_eq!(found.unwrap(), expected, max_relative = 1e-12);
    }
}
