//! Runs the trials of a plan rung by rung, data set by data set, all methods of one side by side.

use std::sync::Mutex;

use super::halving::survivors;
use super::{Rung, Trial, TrialStore, Winner, candidates, rungs};
use crate::experiment::uci::{Group, JobLabel, Observer, Plan, Prepared};
use crate::experiment::{ExperimentError, FoldRunner, Recipe, out_of_range, pool};
use crate::record::Configuration;

/// How settings are chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneOptions {
    /// Configurations a method and data set.
    pub budget: usize,
    /// Folds a configuration is tried on, the first ones; `None` is all.
    pub folds: Option<usize>,
    /// Settings that are fixed; the others are searched.
    pub given: Recipe,
    /// Worker threads, at least 1.
    pub jobs: usize,
}

/// Epochs of the last rung where neither the user nor the method says.
const EPOCHS: usize = 50;

/// Try the configurations of every group of the plan, and give the best of each back, in the plan's order.
/// `chosen` hears of the winners of a data set as soon as they are known.
///
/// A trial that the store holds is not run again. The result depends neither on the number of jobs nor on
/// interruptions. A trial that fails has no score, and loses to every one that has.
///
/// # Errors
/// [`ExperimentError`] if the settings cannot be resolved or a trial cannot be written.
pub fn tune(
    plan: &Plan,
    options: &TuneOptions,
    runner: &dyn FoldRunner,
    store: &mut TrialStore,
    observer: &dyn Observer,
    chosen: &mut dyn FnMut(&[Winner]) -> Result<(), ExperimentError>,
) -> Result<Vec<Winner>, ExperimentError> {
    if store.was_torn() {
        observer.warning("the last trial was cut off by a crash; it is done again");
    }
    let mut winners = Vec::new();
    for (index, dataset) in plan.datasets.iter().enumerate() {
        let groups = plan.groups.iter().filter(|group| group.dataset == index);
        let mut races = groups
            .map(|group| Race::new(group, dataset, options))
            .collect::<Result<Vec<_>, _>>()?;
        let rounds = races.iter().map(|race| race.rungs.len()).max().unwrap_or(0);
        for round in 0..rounds {
            run_round(&races, round, options.jobs, runner, store, observer)?;
            for race in &mut races {
                race.end_round(round, store);
            }
        }
        let of_dataset: Vec<Winner> = races.iter().filter_map(Race::winner).collect();
        store.finish()?;
        chosen(&of_dataset)?;
        winners.extend(of_dataset);
    }
    Ok(winners)
}

/// The configurations of one data set and method that are still in.
struct Race<'a> {
    group: &'a Group,
    dataset: &'a Prepared,
    folds: usize,
    rungs: Vec<Rung>,
    candidates: Vec<Recipe>,
    alive: Vec<usize>,
    /// Of those that took part in the last round: (candidate, mean validation NLL).
    scores: Vec<(usize, Option<f64>)>,
}

/// A trial to be run.
struct Job<'a> {
    label: JobLabel,
    dataset: &'a Prepared,
    configuration: Configuration,
    epochs: usize,
}

impl<'a> Race<'a> {
    fn new(
        group: &'a Group,
        dataset: &'a Prepared,
        options: &TuneOptions,
    ) -> Result<Self, ExperimentError> {
        let configuration = &group.configuration;
        let candidates = candidates(
            &dataset.summary,
            configuration.method,
            &options.given,
            options.budget,
            configuration.seed,
        )?;
        let all = dataset.folds.len();
        let folds = options.folds.unwrap_or(all);
        if !(1..=all).contains(&folds) {
            let expected = format!("1 to the {all} folds of {}", dataset.summary.name);
            return Err(out_of_range("tune-folds", folds, &expected).into());
        }
        let epochs = configuration.settings.epochs.unwrap_or(EPOCHS);
        Ok(Self {
            group,
            dataset,
            folds,
            rungs: rungs(candidates.len(), epochs),
            alive: (0..candidates.len()).collect(),
            candidates,
            scores: Vec::new(),
        })
    }

    fn configuration(&self, candidate: usize, epochs: usize) -> Configuration {
        Configuration {
            settings: Recipe {
                epochs: Some(epochs),
                ..self.candidates[candidate].clone()
            },
            ..self.group.configuration.clone()
        }
    }

    /// Mean over the folds; none if it failed on one of them.
    fn score(&self, candidate: usize, epochs: usize, store: &TrialStore) -> Option<f64> {
        let config = self.configuration(candidate, epochs).hash();
        let trials = store
            .entries()
            .iter()
            .filter(|trial| trial.config == config && trial.fold < self.folds);
        let mut by_fold: Vec<(usize, Option<f64>)> = trials
            .map(|trial| (trial.fold, trial.validation_nll))
            .collect();
        // A sum in the order of the folds: the same bits however the trials arrived.
        by_fold.sort_by_key(|(fold, _)| *fold);
        let sum: Option<f64> = by_fold.iter().map(|(_, nll)| *nll).sum();
        sum.map(|sum| sum / by_fold.len() as f64)
            .filter(|mean| mean.is_finite())
    }

    fn end_round(&mut self, round: usize, store: &TrialStore) {
        let Some(rung) = self.rungs.get(round) else {
            return;
        };
        self.scores = self
            .alive
            .iter()
            .map(|&candidate| (candidate, self.score(candidate, rung.epochs, store)))
            .collect();
        if let Some(next) = self.rungs.get(round + 1) {
            self.alive = survivors(&self.scores, next.configurations);
        }
    }

    /// The best of the last round; none if all failed.
    fn winner(&self) -> Option<Winner> {
        let epochs = self.rungs.last()?.epochs;
        let scored = self
            .scores
            .iter()
            .filter_map(|&(candidate, score)| Some((candidate, score?)));
        let (best, score) = scored.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let default = self.scores.iter().find(|(candidate, _)| *candidate == 0);
        let configuration = self.configuration(best, epochs);
        Some(Winner {
            dataset: configuration.dataset.clone(),
            method: configuration.method,
            protocol: configuration.protocol,
            seed: configuration.seed,
            configurations: self.candidates.len(),
            folds: self.folds,
            score,
            default_score: default.and_then(|(_, score)| *score),
            settings: configuration.settings,
        })
    }
}

fn run_round(
    races: &[Race<'_>],
    round: usize,
    threads: usize,
    runner: &dyn FoldRunner,
    store: &mut TrialStore,
    observer: &dyn Observer,
) -> Result<(), ExperimentError> {
    let mut jobs = Vec::new();
    let mut planned = 0;
    for race in races {
        let Some(rung) = race.rungs.get(round) else {
            continue;
        };
        for (position, &candidate) in race.alive.iter().enumerate() {
            let configuration = race.configuration(candidate, rung.epochs);
            let config = configuration.hash();
            planned += race.folds;
            for fold in (0..race.folds).filter(|&fold| !store.contains(&config, fold)) {
                let note = format!(
                    "rung {}/{} trial {}/{}",
                    round + 1,
                    race.rungs.len(),
                    position + 1,
                    race.alive.len()
                );
                jobs.push(Job {
                    label: JobLabel {
                        index: jobs.len(),
                        dataset: configuration.dataset.clone(),
                        method: configuration.method,
                        note,
                        fold,
                        folds: race.folds,
                    },
                    dataset: race.dataset,
                    configuration: configuration.clone(),
                    epochs: rung.epochs,
                });
            }
        }
    }
    observer.planned(jobs.len(), planned - jobs.len());
    let store = Mutex::new(store);
    pool::for_each(&jobs, threads, |job| {
        observer.started(&job.label);
        let trial = try_one(job, runner, observer);
        pool::lock(&store).append(trial.clone())?;
        observer.tried(&job.label, &trial);
        Ok(())
    })
}

fn try_one(job: &Job<'_>, runner: &dyn FoldRunner, observer: &dyn Observer) -> Trial {
    let (fold, configuration) = (job.label.fold, &job.configuration);
    let outcome = job
        .dataset
        .job(
            fold,
            configuration.method,
            &configuration.settings,
            configuration.seed,
        )
        .map_err(|error| error.to_string())
        .and_then(|fold_job| {
            let progress = |progress| observer.progress(&job.label, progress);
            pool::caught(|| runner.validate(&fold_job, &progress))
        });
    Trial::new(configuration, fold, job.epochs, outcome)
}
