//! Several fits that differ in one setting, the best of which is trained anew.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::likelihoods::Measure;
use super::{Builder, Ensemble};
use crate::ModelError;
use crate::recipe::{Head, Recipe};

/// A setting that is chosen by trying.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Candidate {
    /// Of numbers.
    Likelihood(Head),
    /// Of the Gaussian prior.
    PriorPrecision(f64),
    /// Of each affine layer's Gaussian prior over that, beside the best prior precision before it.
    LayerPrecisions(Vec<f64>),
}

impl Candidate {
    /// Its value as in a file.
    pub fn value(&self) -> String {
        match self {
            Self::Likelihood(head) => {
                let name = serde_json::to_value(head).unwrap_or_default();
                name.as_str().unwrap_or_default().to_owned()
            }
            Self::PriorPrecision(precision) => precision.to_string(),
            Self::LayerPrecisions(factors) => {
                let factors: Vec<String> = factors.iter().map(f64::to_string).collect();
                factors.join(",")
            }
        }
    }

    pub(super) fn set(&self, recipe: &mut Recipe) {
        match self {
            Self::Likelihood(head) => recipe.likelihood = Some(*head),
            Self::PriorPrecision(precision) => recipe.prior_precision = Some(*precision),
            Self::LayerPrecisions(factors) => recipe.layer_precisions = Some(factors.clone()),
        }
    }
}

/// A setting that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Which.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Nats a row, original units; none for one that could not be trained. Of a likelihood the mean negative log density of rows that its members have not seen,
    /// or log probability of unit bins where levels were tried as well; of prior precisions `−(1/n) ln p(D)`, the negative log evidence of the training rows.
    pub nll: Option<f64>,
}

/// The one of the least score; the first if none has one.
pub(super) fn winner(tried: &[Tried]) -> Option<&Tried> {
    let scored = tried.iter().filter_map(|one| Some((one, one.nll?)));
    let least = scored.min_by(|a, b| a.1.total_cmp(&b.1));
    least.map(|(one, _)| one).or(tried.first())
}

/// What one fit of a race may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    /// Of few epochs; none for a fit as long as the last.
    pub measure: Option<Measure>,
    /// Seconds.
    pub time_limit: Option<f64>,
}

impl<'o> Builder<'o> {
    /// Scores of what an earlier run of the same rows and settings has tried, so that it is not tried again.
    #[must_use]
    pub fn tried(mut self, tried: Vec<Tried>) -> Self {
        self.tried = tried;
        self
    }

    /// Is told of each likelihood, or prior precisions, that were tried.
    #[must_use]
    pub fn on_tried(mut self, told: &'o mut dyn FnMut(&Tried)) -> Self {
        self.on_tried = Some(told);
        self
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
        let time_limit = self.recipe.time_limit.map(|limit| limit / share as f64);
        let trial = Trial {
            measure,
            time_limit,
        };
        let tried = self.attempts(candidates, trial, &fit);
        self.fit_with_the_best(tried, started, fit)
    }

    /// Try each.
    pub(super) fn attempts(
        &mut self,
        candidates: Vec<Candidate>,
        trial: Trial,
        fit: &impl Fn(Builder<'_>) -> Result<Ensemble, ModelError>,
    ) -> Vec<Tried> {
        let each = candidates.into_iter();
        each.map(|candidate| self.attempt(candidate, trial, fit).0)
            .collect()
    }

    /// Try one candidate. What was tried before is not tried again, and has no ensemble.
    pub(super) fn attempt(
        &mut self,
        candidate: Candidate,
        trial: Trial,
        fit: &impl Fn(Builder<'_>) -> Result<Ensemble, ModelError>,
    ) -> (Tried, Option<Ensemble>) {
        let known = self.tried.iter().find(|one| one.candidate == candidate);
        if let Some(known) = known {
            return (known.clone(), None);
        }
        let found = fit(self.alike(&candidate, trial)).ok();
        let nll = found.as_ref().map(|found| found.training.validation_nll);
        let one = Tried {
            candidate,
            nll: nll.filter(|nll| nll.is_finite()),
        };
        if let Some(told) = &mut self.on_tried {
            told(&one);
        }
        (one, found)
    }

    /// The last fit of a race, by the settings that won, in what is left of its time.
    pub(super) fn fit_with_the_best(
        mut self,
        tried: Vec<Tried>,
        started: Instant,
        fit: impl FnOnce(Self) -> Result<Ensemble, ModelError>,
    ) -> Result<Ensemble, ModelError> {
        if let Some(best) = winner(&tried) {
            best.candidate.set(&mut self.recipe);
        }
        let limit = self.recipe.time_limit;
        self.recipe.time_limit =
            limit.map(|limit| (limit - started.elapsed().as_secs_f64()).max(0.0));
        let mut ensemble = fit(self)?;
        ensemble.resolved.recipe.time_limit = limit;
        ensemble.training.tried = tried;
        Ok(ensemble)
    }

    /// The same settings but for one, which nobody watches.
    pub(super) fn alike(&self, candidate: &Candidate, trial: Trial) -> Builder<'static> {
        let mut recipe = self.recipe.clone();
        candidate.set(&mut recipe);
        recipe.time_limit = trial.time_limit;
        Builder {
            trial: trial.measure,
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
        let best = |of: &[Tried]| winner(of).map(|one| one.candidate.clone());
        assert_eq!(best(&of), head(Head::StudentT));
        assert_eq!(best(&of[2..]), head(Head::Mixture));
    }

    #[test]
    fn what_was_tried_is_written_with_its_name() {
        let tried = [
            (Candidate::Likelihood(Head::StudentT), Some(0.5)),
            (Candidate::PriorPrecision(3.0), None),
            (Candidate::LayerPrecisions(vec![1.0, 0.5]), Some(0.4)),
        ];
        let tried = tried.map(|(candidate, nll)| Tried { candidate, nll });
        let text = serde_json::to_string(&tried).unwrap();
        let expected = concat!(
            r#"[{"likelihood":"student-t","nll":0.5},{"prior-precision":3.0,"nll":null},"#,
            r#"{"layer-precisions":[1.0,0.5],"nll":0.4}]"#
        );
        assert_eq!(text, expected);
        let read: Vec<Tried> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, tried);
    }
}
