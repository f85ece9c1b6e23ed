//! Several fits that differ in one setting, the best of which is trained anew; and which likelihood suits a target, where none is asked for: each is
//! tried for a quarter of the epochs. For prior precisions see [`evidence`](super::evidence).
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
use std::time::Instant;

use ndarray::ArrayView1;
use serde::{Deserialize, Serialize};

use super::{Builder, Ensemble};
use crate::members::Family;
use crate::recipe::{Head, Method, Problem, Recipe, Resolved};
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

/// A setting that is chosen by trying.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Candidate {
    /// Of numbers.
    Likelihood(Head),
    /// Of the Gaussian prior.
    PriorPrecision(f64),
}

impl Candidate {
    /// Its value as in a file.
    pub fn value(self) -> String {
        match self {
            Self::Likelihood(head) => {
                let name = serde_json::to_value(head).unwrap_or_default();
                name.as_str().unwrap_or_default().to_owned()
            }
            Self::PriorPrecision(precision) => precision.to_string(),
        }
    }

    fn set(self, recipe: &mut Recipe) {
        match self {
            Self::Likelihood(head) => recipe.likelihood = Some(head),
            Self::PriorPrecision(precision) => recipe.prior_precision = Some(precision),
        }
    }
}

/// A setting that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Which.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Nats a row, original units; none for one that could not be trained. Of a likelihood the mean negative log density of rows that its members have not seen,
    /// or log probability of unit bins where levels were tried as well; of a prior precision `−(1/n) ln p(D)`, the negative log evidence of the training rows.
    pub nll: Option<f64>,
}

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

/// The one of the least score; the first if none has one.
fn winner(tried: &[Tried]) -> Option<Candidate> {
    let scored = tried
        .iter()
        .filter_map(|one| Some((one.candidate, one.nll?)));
    let least = scored.min_by(|a, b| a.1.total_cmp(&b.1));
    let first = tried.first().map(|one| one.candidate);
    least.map(|(candidate, _)| candidate).or(first)
}

impl<'o> Builder<'o> {
    /// Scores of what an earlier run of the same rows and settings has tried, so that it is not tried again.
    #[must_use]
    pub fn tried(mut self, tried: Vec<Tried>) -> Self {
        self.tried = tried;
        self
    }

    /// Is told of each likelihood or prior precision that was tried.
    #[must_use]
    pub fn on_tried(mut self, told: &'o mut dyn FnMut(&Tried)) -> Self {
        self.on_tried = Some(told);
        self
    }

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

    /// Try each candidate, by a measure of few epochs or else as long as the last fit takes and at one in `share` of its time, then fit with the best. The
    /// time limit is that of all.
    pub(super) fn race(
        mut self,
        candidates: Vec<Candidate>,
        measure: Option<Measure>,
        share: usize,
        fit: impl Fn(Builder<'_>) -> Result<Ensemble, ModelError>,
    ) -> Result<Ensemble, ModelError> {
        let started = Instant::now();
        let limit = self.recipe.time_limit;
        let mut tried = Vec::new();
        for candidate in candidates {
            let known = self.tried.iter().find(|one| one.candidate == candidate);
            if let Some(known) = known {
                tried.push(*known);
                continue;
            }
            let mut trial = self.alike(candidate);
            trial.trial = measure;
            trial.recipe.time_limit = limit.map(|limit| limit / share as f64);
            let nll = fit(trial).ok().map(|found| found.training.validation_nll);
            let one = Tried {
                candidate,
                nll: nll.filter(|nll| nll.is_finite()),
            };
            if let Some(told) = &mut self.on_tried {
                told(&one);
            }
            tried.push(one);
        }
        if let Some(best) = winner(&tried) {
            best.set(&mut self.recipe);
        }
        self.recipe.time_limit =
            limit.map(|limit| (limit - started.elapsed().as_secs_f64()).max(0.0));
        let mut ensemble = fit(self)?;
        ensemble.resolved.recipe.time_limit = limit;
        ensemble.training.tried = tried;
        Ok(ensemble)
    }

    /// The same settings but for one, which nobody watches.
    fn alike(&self, candidate: Candidate) -> Builder<'static> {
        let mut recipe = self.recipe.clone();
        candidate.set(&mut recipe);
        Builder {
            method: self.method,
            network: self.network.clone(),
            recipe,
            seed: self.seed,
            device: self.device,
            validation_share: self.validation_share,
            groups: self.groups.clone(),
            scaled: self.scaled,
            context: self.context.clone(),
            ..Builder::default()
        }
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

    #[test]
    fn the_least_score_wins() {
        let tried = |head, nll| Tried {
            candidate: Candidate::Likelihood(head),
            nll,
        };
        let of = [
            tried(Head::Gaussian, Some(1.0)),
            tried(Head::StudentT, Some(0.9)),
            tried(Head::Mixture, None),
        ];
        let head = |head| Some(Candidate::Likelihood(head));
        assert_eq!(winner(&of), head(Head::StudentT));
        assert_eq!(winner(&of[2..]), head(Head::Mixture));
    }

    #[test]
    fn what_was_tried_is_written_with_its_name() {
        let tried = [
            (Candidate::Likelihood(Head::StudentT), Some(0.5)),
            (Candidate::PriorPrecision(3.0), None),
        ];
        let tried = tried.map(|(candidate, nll)| Tried { candidate, nll });
        let text = serde_json::to_string(&tried).unwrap();
        let expected =
            r#"[{"likelihood":"student-t","nll":0.5},{"prior-precision":3.0,"nll":null}]"#;
        assert_eq!(text, expected);
        let read: Vec<Tried> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, tried);
    }
}
