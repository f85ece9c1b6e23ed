//! Runs the trials of a plan rung by rung, design by design, all methods of one side by side.

use std::sync::Mutex;
use std::time::Instant;

use svn_models::recipe::{Predictive, Recipe, Selection};

use super::halving::survivors;
use super::trial::Validated;
use super::{Rung, Trial, Winner, candidates, rungs};
use crate::engine::run::{fit, label};
use crate::engine::{
    Configuration, Design, EngineError, Fold, Group, JobLabel, Of, Part, Plan, RunError, RunId,
    Shown, Store, Study, Work, out_of_range, pool,
};

/// Trials of a study.
pub type TrialOf<S> = Trial<<S as Study>::Design>;

/// How settings are chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneOptions {
    /// Configurations a method and design.
    pub budget: usize,
    /// Runs a configuration is tried on, the first ones; `None` is all.
    pub folds: Option<usize>,
    /// Settings that are fixed; the others are searched.
    pub given: Recipe,
}

/// Epochs of the last rung where neither the user nor the method says.
const EPOCHS: usize = 50;

/// Try the configurations of every group of the plan, and give the best of each back, in the plan's order.
/// `chosen` hears of the winners of a design as soon as they are known.
///
/// A trial that the store holds is not run again. The result depends neither on the number of jobs nor on
/// interruptions. A trial that fails has no score, and loses to every one that has.
///
/// # Errors
/// [`EngineError`] if the settings cannot be resolved, no rows would score a trial, or one cannot be written.
pub fn tune<S: Study>(
    plan: &Plan<'_, S>,
    options: &TuneOptions,
    store: &mut Store<TrialOf<S>>,
    work: &Work<'_>,
    chosen: &mut dyn FnMut(&[Winner]) -> Result<(), EngineError>,
) -> Result<Vec<Winner>, EngineError> {
    for text in plan.warnings.iter().chain(store.warnings()) {
        work.observer.warning(text);
    }
    let selects = |group: &Group<S::Design>| group.configuration.settings.select;
    if plan
        .groups
        .iter()
        .any(|group| selects(group).is_some_and(Selection::is_evidence))
    {
        let message =
            "--tune with the evidence as select: no rows score a trial; take validation or kfold";
        return Err(EngineError::Arguments(message.to_owned()));
    }
    let mut winners = Vec::new();
    let mut rest = plan.groups.as_slice();
    while let Some(first) = rest.first() {
        // Groups of one design lie side by side.
        let same =
            |group: &&Group<S::Design>| group.configuration.design == first.configuration.design;
        let (groups, others) = rest.split_at(rest.iter().take_while(same).count());
        rest = others;
        let races = groups
            .iter()
            .map(|group| Race::new(plan.study, group, options));
        let mut races = races.collect::<Result<Vec<_>, _>>()?;
        let rounds = races.iter().map(|race| race.rungs.len()).max().unwrap_or(0);
        for round in 0..rounds {
            run_round(plan.study, &races, round, store, work)?;
            for race in &mut races {
                race.end_round(round, store);
            }
        }
        let of_design: Vec<Winner> = races.iter().filter_map(Race::winner).collect();
        store.finish()?;
        chosen(&of_design)?;
        winners.extend(of_design);
    }
    Ok(winners)
}

/// The configurations of one group that are still in.
struct Race<'a, D> {
    group: &'a Group<D>,
    runs: &'a [RunId],
    rungs: Vec<Rung>,
    candidates: Vec<Recipe>,
    alive: Vec<usize>,
    /// Of those that took part in the last round: (candidate, mean validation NLL).
    scores: Vec<(usize, Option<f64>)>,
}

impl<'a, D: Design> Race<'a, D> {
    fn new<S: Study<Design = D>>(
        study: &S,
        group: &'a Group<D>,
        options: &TuneOptions,
    ) -> Result<Self, EngineError> {
        let Configuration { design, method, .. } = &group.configuration;
        let all = group.runs.len();
        let count = options.folds.unwrap_or(all);
        let runs = group.runs.get(..count).filter(|runs| !runs.is_empty());
        let Some(runs) = runs else {
            let expected = format!("1 to the {all} folds of {}", design.dataset());
            return Err(out_of_range("tune-folds", count, &expected).into());
        };
        let given = options
            .given
            .meant_for(*method)
            .or(&study.recipe(design, *method));
        let of = (design.dataset(), &study.problem(design));
        let candidates = candidates(of, *method, &given, options.budget, runs[0].seed);
        let candidates = candidates.map_err(|source| EngineError::Recipe {
            dataset: design.dataset().to_owned(),
            method: *method,
            source: Box::new(source),
        })?;
        let epochs = group.configuration.settings.epochs.unwrap_or(EPOCHS);
        Ok(Self {
            group,
            runs,
            rungs: rungs(candidates.len(), epochs),
            alive: (0..candidates.len()).collect(),
            candidates,
            scores: Vec::new(),
        })
    }

    fn configuration(&self, candidate: usize, epochs: usize) -> Configuration<D> {
        Configuration {
            settings: Recipe {
                epochs: Some(epochs),
                ..self.candidates[candidate].clone()
            },
            ..self.group.configuration.clone()
        }
    }

    /// Mean over the runs; none if it failed on one of them.
    fn score(&self, candidate: usize, epochs: usize, store: &Store<Trial<D>>) -> Option<f64> {
        let config = self.configuration(candidate, epochs).hash();
        let trial = |run: &RunId| {
            let found = store.entries().iter().find(|trial| {
                trial.config == config && (trial.seed, trial.fold) == (run.seed, run.fold)
            });
            found.and_then(|trial| trial.validation_nll)
        };
        // A sum in the order of the runs: the same bits however the trials arrived.
        let sum: Option<f64> = self.runs.iter().map(trial).sum();
        sum.map(|sum| sum / self.runs.len() as f64)
            .filter(|mean| mean.is_finite())
    }

    fn end_round(&mut self, round: usize, store: &Store<Trial<D>>) {
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
        let scored = self.scores.iter();
        let scored = scored.filter_map(|&(candidate, score)| Some((candidate, score?)));
        let (best, score) = scored.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let default = self.scores.iter().find(|(candidate, _)| *candidate == 0);
        let Configuration {
            study,
            design,
            method,
            settings,
        } = self.configuration(best, epochs);
        Some(Winner {
            study,
            dataset: design.dataset().to_owned(),
            method,
            protocol: design.protocol(),
            planned: self.group.runs.len(),
            seed: self.runs[0].seed,
            configurations: self.candidates.len(),
            folds: self.runs.len(),
            score,
            default_score: default.and_then(|(_, score)| *score),
            settings,
        })
    }
}

/// A trial to be run.
struct Job<D> {
    label: JobLabel,
    group: Group<D>,
    run: RunId,
    epochs: usize,
}

fn run_round<S: Study>(
    study: &S,
    races: &[Race<'_, S::Design>],
    round: usize,
    store: &mut Store<TrialOf<S>>,
    work: &Work<'_>,
) -> Result<(), EngineError> {
    let mut jobs = Vec::new();
    let mut planned = 0;
    for race in races {
        let Some(rung) = race.rungs.get(round) else {
            continue;
        };
        for (position, &candidate) in race.alive.iter().enumerate() {
            let configuration = race.configuration(candidate, rung.epochs);
            let config = configuration.hash();
            planned += race.runs.len();
            for &run in race
                .runs
                .iter()
                .filter(|run| !store.contains(&config, **run))
            {
                let rungs = race.rungs.len();
                let trials = race.alive.len();
                let note = format!("rung {}/{rungs} trial {}/{trials}", round + 1, position + 1);
                let group = Group {
                    configuration: configuration.clone(),
                    config: config.clone(),
                    runs: race.runs.to_vec(),
                };
                jobs.push(Job {
                    label: label(jobs.len(), &group, run, note),
                    group,
                    run,
                    epochs: rung.epochs,
                });
            }
        }
    }
    work.observer.planned(jobs.len(), planned - jobs.len());
    let store = Mutex::new(store);
    pool::for_each(&jobs, work.jobs, |job| {
        work.observer.started(&job.label);
        let outcome = pool::caught(|| try_one(study, job, work));
        let trial = Trial::new(&job.group.configuration, job.run, job.epochs, outcome);
        pool::lock(&store).append(trial.clone())?;
        match &trial.failure {
            Some(failure) => work.observer.failed(&job.label, failure),
            None => work.observer.finished(
                &job.label,
                &Shown {
                    validation_nll: trial.validation_nll,
                    best_epoch: trial.best_epoch.unwrap_or_default(),
                    epochs: trial.epochs,
                    wall_s: trial.wall_s,
                    ..Shown::default()
                },
            ),
        }
        Ok(())
    })
}

/// A trial never sees test rows.
fn try_one<S: Study>(
    study: &S,
    job: &Job<S::Design>,
    work: &Work<'_>,
) -> Result<Validated, RunError> {
    let start = Instant::now();
    let design = &job.group.configuration.design;
    let of = Of {
        design,
        run: job.run,
    };
    let fold = Fold {
        test: Part::default(),
        ..study.fold(of).map_err(RunError::failed)?
    };
    // Epistemic variances are for the test metrics alone.
    let mut group = job.group.clone();
    let predictive = &mut group.configuration.settings.predictive;
    *predictive = predictive.filter(|kind| *kind != Predictive::Epistemic);
    let trained = fit(study, &group, (job.run, &fold), &job.label, None, work)?;
    Ok(Validated {
        nll: trained.score().unwrap_or(f64::NAN),
        best_epoch: trained.best_epoch,
        wall_s: start.elapsed().as_secs_f64(),
    })
}
