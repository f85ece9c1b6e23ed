//! A fit on all rows whose prior precision is the one of the largest [evidence](crate::members::Laplace::log_evidence).
//!
//! ```text
//! δ of a grid → all rows, all epochs, weights of the last → −(1/n) ln p(D | δ), nats a row          the least wins, and is trained anew
//! by layer:     δ_l of the members of the best so far     → the same                                 at most four times, before it is trained anew
//! ```
//!
//! A precision of a layer changes by a factor of ten at most, and by the root of the change that failed where one did not raise the evidence.
//! No row is set aside and none chooses an epoch: what keeps the weights from fitting noise is the prior. A precision that is given is the only one. The
//! evidence is that of Laplace's method, and no better than it: see `docs/experiments/evidence.md` for where it chooses wrong.

use std::time::Instant;

use ndarray::{ArrayView1, ArrayView2};

use super::race::{Candidate, Trial, winner};
use super::{Builder, Ensemble, Tried};
use crate::members::check_evidence;
use crate::recipe::{Method, Resolved, Selection, beside};
use crate::{LabelEncoding, ModelError};

/// Prior precisions that are tried, about half a decade apart.
const PRECISIONS: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// Precisions of the layers that are tried after them.
const ROUNDS: usize = 4;

/// Factor by which the precision of a layer changes at most from one to the next.
const LARGEST_CHANGE: f64 = 10.0;

/// Factor below which none is worth a fit.
const SMALLEST_CHANGE: f64 = 1.1;

impl Builder<'_> {
    /// Whether the evidence chooses. A linear model's intercept has no prior.
    pub(super) fn by_evidence(&self) -> bool {
        self.recipe.select.is_some_and(Selection::is_evidence) && self.method != Method::Linear
    }

    /// A trained ensemble has its prior and its rows.
    pub(super) fn check_start(&self, by: Selection) -> Result<(), ModelError> {
        match self.goes_on {
            Some(_) => Err(beside(by, "going on from a trained ensemble")),
            None => Ok(()),
        }
    }

    /// Targets are numbers, or indices of `labels`.
    pub(super) fn fit_evidence(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        labels: Option<LabelEncoding>,
    ) -> Result<Ensemble, ModelError> {
        self.check_names(x.ncols())?;
        let by_layer = self.recipe.select == Some(Selection::EvidenceByLayer);
        self.check_start(self.recipe.select.unwrap_or(Selection::Evidence))?;
        // Before it is trained in vain.
        let resolved = self.resolved(&self.problem(x.dim(), labels.as_ref()))?;
        check(&resolved)?;
        let fit = |builder: Builder<'_>| builder.fit_rows((x, y), None, labels.clone());
        let given = self.recipe.prior_precision.map(Candidate::PriorPrecision);
        let candidates = match given.clone() {
            None => PRECISIONS.map(Candidate::PriorPrecision).to_vec(),
            Some(given) => vec![given],
        };
        match given {
            _ if by_layer => self.race_layers(x, candidates, fit),
            None => self.race(candidates, None, PRECISIONS.len() + 1, fit),
            Some(candidate) => {
                let mut ensemble = fit(self)?;
                ensemble.training.tried = vec![Tried {
                    candidate,
                    nll: Some(ensemble.training.validation_nll),
                }];
                Ok(ensemble)
            }
        }
    }

    /// After one precision for all layers those of each layer.
    fn race_layers(
        mut self,
        x: ArrayView2<'_, f64>,
        candidates: Vec<Candidate>,
        fit: impl Fn(Builder<'_>) -> Result<Ensemble, ModelError>,
    ) -> Result<Ensemble, ModelError> {
        let started = Instant::now();
        // And one of the best anew, and the last.
        let fits = (candidates.len() + ROUNDS + 2) as f64;
        let trial = Trial {
            measure: None,
            time_limit: self.recipe.time_limit.map(|limit| limit / fits),
        };
        let mut tried = self.attempts(candidates, trial, &fit);
        // What an earlier run has found stands; where it came to the last fit it was done with them.
        let by_layer = |one: &&Tried| matches!(one.candidate, Candidate::LayerPrecisions(_));
        let known: Vec<Tried> = self.tried.iter().filter(by_layer).cloned().collect();
        let rounds = match self.checkpoint {
            Some(_) => known.len(),
            None => ROUNDS,
        };
        let mut known = known.into_iter();
        let mut kept = None;
        // Share of the change, of its logarithm, that is gone at once.
        let mut share = 1.0;
        for _ in 0..rounds {
            let Some(best) = winner(&tried).cloned() else {
                break;
            };
            best.candidate.set(&mut self.recipe);
            let (one, found, before) = match known.next() {
                Some(one) => (one, None, None),
                None => {
                    // Ensembles of one precision for all layers are not kept.
                    let ensemble = match kept.take() {
                        Some(ensemble) => ensemble,
                        None => fit(self.alike(&best.candidate, trial))?,
                    };
                    let Some(next) = next_precisions(&ensemble, x, share)? else {
                        break;
                    };
                    let next = Candidate::LayerPrecisions(next);
                    let (one, found) = self.attempt(next, trial, &fit);
                    (one, found, Some(ensemble))
                }
            };
            tried.push(one);
            kept = if winner(&tried) == tried.last() {
                found
            } else {
                share /= 2.0;
                before
            };
        }
        self.fit_with_the_best(tried, started, fit)
    }
}

/// Of each layer over the prior precision, by what the members say of it, to three digits; none where all stay about as they are. A share of 1/2 goes half of the
/// way, in decades.
fn next_precisions(
    ensemble: &Ensemble,
    x: ArrayView2<'_, f64>,
    share: f64,
) -> Result<Option<Vec<f64>>, ModelError> {
    let recipe = &ensemble.resolved.recipe;
    let precision = recipe.prior_precision.unwrap_or(1.0);
    let laplace = ensemble
        .members
        .laplace(ensemble.features.transform(x)?.view())?;
    let found = laplace.layer_precisions(&ensemble.members, precision)?;
    let now = match &recipe.layer_precisions {
        Some(factors) => factors.clone(),
        None => vec![1.0; found.len()],
    };
    let change = |found: &f64| {
        let change = (found / precision).clamp(LARGEST_CHANGE.recip(), LARGEST_CHANGE);
        change.powf(share)
    };
    let changes: Vec<f64> = found.iter().map(change).collect();
    let small = |change: &f64| change.max(change.recip()) < SMALLEST_CHANGE;
    if changes.iter().all(small) {
        return Ok(None);
    }
    let next = now.iter().zip(changes).map(|(now, change)| {
        let next = now * change;
        format!("{next:.2e}").parse().unwrap_or(next)
    });
    Ok(Some(next.collect()))
}

fn check(resolved: &Resolved) -> Result<(), ModelError> {
    let settings = resolved.fit_settings(crate::Device::Cpu, 0)?;
    let network = settings.build_network(resolved.problem.features)?;
    check_evidence(
        &network,
        settings.build_likelihood()?,
        resolved.problem.rows,
    )
}
