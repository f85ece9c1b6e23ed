//! Training in folds: each part of the rows is left out by some members, and all rows choose the epoch.
//!
//! ```text
//! fold k: members M_k, trained without the rows R_k, for k = 1 … K, epoch by epoch side by side
//! score(e) = (1/n) Σ_k |R_k| · loss(M_k at e − 1, e, e + 1; R_k)          ensemble = all M_k at the three epochs around the best
//! ```
//!
//! A single validation part of few rows chooses an epoch by luck, and its rows are lost for training. Here every row judges, and
//! every row is trained on by all members but those of its fold.
//!
//! # References
//! Krogh and Vedelsby, *Neural network ensembles, cross validation, and active learning*, NIPS 1994.

use std::time::{Duration, Instant};

use ndarray::{Array2, ArrayView2, Axis, concatenate};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::run::{Run, drive};
use super::training::Training;
use super::validation::Whole;
use super::{Checkpoint, Ending, EpochReport, FitSettings, Observer, Start, begin};
use crate::{Likelihood, Members, ModelError, Rows};

/// Epochs whose weights are taken together: the best, the one before and the one after.
const WINDOW: usize = 3;

/// A finished run in folds.
#[derive(Debug)]
pub struct FoldFit {
    /// All members: `K` folds times three epochs times the particles of each.
    pub ensemble: Members,
    /// The members of each fold, which have not seen its rows.
    pub folds: Vec<Members>,
    /// Epoch in the middle of those that are kept, from 1.
    pub best_epoch: usize,
    /// Every epoch's report; its score is that of the weights of the last three epochs on the rows left out.
    pub history: Vec<EpochReport>,
    /// Wall time of every step of every fold.
    pub step_times: Vec<Duration>,
    /// Wall time of every epoch of all folds.
    pub epoch_times: Vec<Duration>,
    /// Why the run ended.
    pub ending: Ending,
}

/// What the epochs done have left, of all folds together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Together {
    best: Option<Best>,
    /// Weights of the last epochs, the latest last, of each fold.
    recent: Vec<Vec<Array2<f64>>>,
    history: Vec<EpochReport>,
    epoch_times: Vec<Duration>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Best {
    /// In the middle.
    epoch: usize,
    nll: f64,
    /// Of each fold, the epochs one after another.
    weights: Vec<Array2<f64>>,
}

/// The other folds of a [`Checkpoint`], and what they have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedFolds {
    others: Vec<Checkpoint>,
    together: Together,
}

#[derive(Debug)]
struct Folds<'a> {
    settings: &'a FitSettings,
    whole: Whole<'a>,
    folds: Vec<Training<'a>>,
    together: Together,
}

/// Train the members of each fold on the first of its rows, choose the epoch on the second of all.
///
/// `settings.particles` is the number of members of each fold; folds differ by their rows and by the seed.
///
/// # Errors
/// As for [`fit`](super::fit()), [`ModelError::Setting`] for fewer than two folds.
pub fn fit_folds(
    settings: &FitSettings,
    rows: &[(Rows, Rows)],
    checkpoint: Option<Box<Checkpoint>>,
    observer: &mut dyn Observer,
) -> Result<FoldFit, ModelError> {
    if rows.len() < 2 {
        return Err(ModelError::setting("folds", rows.len(), "2 or more"));
    }
    let each: Vec<FitSettings> = (0..rows.len() as u64)
        .map(|fold| FitSettings {
            seed: settings.seed.wrapping_add(fold << 32),
            // Of all folds together.
            patience: None,
            time_limit: None,
            ..settings.clone()
        })
        .collect();
    let network = settings.build_network(rows[0].0.width())?;
    let whole = Whole {
        network: &network,
        backend: settings.backend(),
    };
    let (mut starts, together) = starts(checkpoint, rows.len())?;
    // Each row is left out once: these are the targets of all, in which alone some levels may be.
    let targets: Vec<_> = rows.iter().map(|(_, aside)| aside.targets()).collect();
    let all = concatenate(Axis(0), &targets).map_err(|error| ModelError::Shape {
        what: error.to_string(),
        found: targets.iter().map(|targets| targets.len()).collect(),
        expected: Vec::new(),
    })?;
    let folds = each.iter().zip(rows).map(|(settings, (train, aside))| {
        let start = starts.next().unwrap_or_default();
        begin(settings, whole, (train, all.view()), aside, start)
    });
    let run = Folds {
        settings,
        whole,
        folds: folds.collect::<Result<_, _>>()?,
        together,
    };
    run.run(observer)
}

type Starts = std::vec::IntoIter<Start<'static>>;

fn starts(
    checkpoint: Option<Box<Checkpoint>>,
    folds: usize,
) -> Result<(Starts, Together), ModelError> {
    let Some(mut first) = checkpoint else {
        return Ok((Vec::new().into_iter(), Together::default()));
    };
    let saved = first.folds.take();
    let Some(saved) = saved.filter(|saved| saved.others.len() + 1 == folds) else {
        let found = "one of another number of folds";
        return Err(ModelError::setting("checkpoint", found, "one of this run"));
    };
    let file = first.file.clone();
    let others = saved.others.into_iter().map(|other| {
        Box::new(Checkpoint {
            file: file.clone(),
            ..other
        })
    });
    let starts: Vec<Start<'static>> = std::iter::once(first)
        .chain(others)
        .map(Start::Checkpoint)
        .collect();
    Ok((starts.into_iter(), saved.together))
}

impl Folds<'_> {
    fn run(mut self, observer: &mut dyn Observer) -> Result<FoldFit, ModelError> {
        let ending = drive(&mut self, observer)?;
        let Some(best) = self.together.best.take() else {
            let epochs = self.together.history.len();
            return Err(ModelError::Diverged { epochs });
        };
        let likelihood = self.likelihood(&best.weights)?;
        let of = |weights: ArrayView2<'_, f64>| self.whole.ensemble(likelihood, weights);
        let views: Vec<_> = best.weights.iter().map(|weights| weights.view()).collect();
        let folds = views.iter().map(|weights| of(*weights));
        let steps = self.folds.iter().flat_map(|fold| &fold.progress.step_times);
        Ok(FoldFit {
            ensemble: of(joined(&views)?.view())?,
            folds: folds.collect::<Result<_, _>>()?,
            best_epoch: best.epoch,
            step_times: steps.copied().collect(),
            history: self.together.history,
            epoch_times: self.together.epoch_times,
            ending,
        })
    }

    /// Loss a row of the rows left out, each under the members that have not seen it.
    fn score(&self, weights: &[Array2<f64>]) -> Result<f64, ModelError> {
        let scored = self.folds.iter().zip(weights).map(|(fold, weights)| {
            let (_, nll) = fold.validation.score(weights.view())?;
            Ok::<f64, ModelError>(nll * fold.validation.rows.len() as f64)
        });
        let sums = scored.collect::<Result<Vec<f64>, _>>()?;
        let rows: usize = self
            .folds
            .iter()
            .map(|fold| fold.validation.rows.len())
            .sum();
        Ok(sums.iter().sum::<f64>() / rows as f64)
    }

    /// That of the folds; a common noise is the mean of theirs.
    fn likelihood(&self, weights: &[Array2<f64>]) -> Result<Likelihood, ModelError> {
        let likelihoods = self.folds.iter().zip(weights);
        let likelihoods = likelihoods
            .map(|(fold, weights)| Ok(fold.validation.score(weights.view())?.0))
            .collect::<Result<Vec<_>, ModelError>>()?;
        Likelihood::mean_noise(&likelihoods)
    }
}

impl Run for Folds<'_> {
    fn settings(&self) -> &FitSettings {
        self.settings
    }

    fn history(&self) -> &[EpochReport] {
        &self.together.history
    }

    /// The best epoch is in the middle of those that were scored.
    fn waited(&self) -> usize {
        let best = self.together.best.as_ref().map_or(0, |best| best.epoch);
        (self.together.history.len() - best).saturating_sub(1)
    }

    fn epoch(&mut self, epoch: usize) -> Result<(), ModelError> {
        let start = Instant::now();
        self.folds
            .par_iter_mut()
            .map(|fold| fold.epoch(epoch))
            .collect::<Result<Vec<()>, _>>()?;
        let now = self.folds.iter().map(|fold| fold.validated().to_owned());
        self.together.recent.push(now.collect());
        if self.together.recent.len() > WINDOW {
            self.together.recent.remove(0);
        }
        let recent = &self.together.recent;
        let weights = (0..self.folds.len()).map(|fold| {
            let epochs: Vec<_> = recent.iter().map(|epoch| epoch[fold].view()).collect();
            joined(&epochs)
        });
        let weights: Vec<Array2<f64>> = weights.collect::<Result<_, _>>()?;
        let nll = self.score(&weights)?;
        // The first two epochs have no neighbours on both sides.
        let best = &mut self.together.best;
        if nll.is_finite() && best.as_ref().is_none_or(|best| nll < best.nll) {
            *best = Some(Best {
                epoch: epoch - usize::from(epoch > 1),
                nll,
                weights,
            });
        }
        let first = self
            .folds
            .first()
            .and_then(|fold| fold.progress.history.last());
        if let Some(report) = first {
            self.together.history.push(EpochReport {
                validation_nll: nll.is_finite().then_some(nll),
                ..report.clone()
            });
        }
        self.together.epoch_times.push(start.elapsed());
        Ok(())
    }

    fn best(&self) -> Option<(usize, f64)> {
        let best = self.together.best.as_ref();
        best.map(|best| (best.epoch, best.nll))
    }

    fn elapsed(&self) -> Duration {
        self.together.epoch_times.iter().sum()
    }

    fn curvature_age(&self) -> Option<usize> {
        self.folds.first().and_then(Run::curvature_age)
    }

    fn checkpoint(&self) -> Result<Option<Checkpoint>, ModelError> {
        let saved = self.folds.iter().map(Run::checkpoint);
        let mut saved = saved.collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
        let Some(first) = saved.next() else {
            return Ok(None);
        };
        Ok(Some(Checkpoint {
            folds: Some(Box::new(SavedFolds {
                others: saved.collect(),
                together: self.together.clone(),
            })),
            ..first
        }))
    }
}

/// Members one after another.
fn joined(weights: &[ArrayView2<'_, f64>]) -> Result<Array2<f64>, ModelError> {
    concatenate(Axis(0), weights).map_err(|error| ModelError::Shape {
        what: error.to_string(),
        found: weights.iter().map(|weights| weights.ncols()).collect(),
        expected: Vec::new(),
    })
}
