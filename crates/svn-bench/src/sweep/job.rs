//! Jobs: a configuration, a seed and a fold, which is all that a record depends on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use svn_models::recipe::Method;

use super::Combination;
use crate::engine::{self, Design, RunId, Study};

/// A run that a plan asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the study.
    pub study: String,
    /// Hash of the configuration.
    pub config: String,
    /// Seed of splits and training.
    pub seed: u64,
    /// Index of the fold.
    pub fold: usize,
    /// Name of the data set.
    pub dataset: String,
    /// How the particles move.
    pub method: Method,
    /// Folds of a seed.
    pub folds: usize,
    /// What tells its combination from others of the plan.
    pub note: String,
    /// About how many bytes of memory it takes.
    pub bytes: f64,
    /// The command line of its configuration, without the program.
    pub arguments: Vec<String>,
}

impl Job {
    /// Its name, of which two plans that ask for the same run make the same: configuration, seed, fold.
    pub fn key(&self) -> String {
        key(&self.config, self.run())
    }

    /// Which run of its configuration.
    pub fn run(&self) -> RunId {
        RunId {
            seed: self.seed,
            fold: self.fold,
        }
    }
}

/// The name of a run.
pub(super) fn key(config: &str, run: RunId) -> String {
    format!("{config}-{}-{}", run.seed, run.fold)
}

impl std::fmt::Display for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            dataset, method, ..
        } = self;
        write!(
            f,
            "{} {dataset} {method}, seed {} fold {}",
            self.study,
            self.seed,
            self.fold + 1
        )
    }
}

/// Jobs, each once.
#[derive(Debug, Clone, Default)]
pub struct Jobs {
    jobs: Vec<Job>,
    known: BTreeSet<(String, String)>,
}

impl Jobs {
    /// Add the runs of a combination, whose settings are resolved. One that is known already is not done again.
    pub fn add<S: Study>(&mut self, plan: &engine::Plan<'_, S>, combination: &Combination) {
        for group in &plan.groups {
            let configuration = &group.configuration;
            let dataset = configuration.design.dataset();
            let arguments = combination.on(dataset);
            let bytes = group.bytes(plan.study);
            for run in &group.runs {
                let job = Job {
                    study: S::NAME.to_owned(),
                    config: group.config.clone(),
                    seed: run.seed,
                    fold: run.fold,
                    dataset: dataset.to_owned(),
                    method: configuration.method,
                    folds: configuration.design.folds(),
                    note: combination.note(&configuration.settings),
                    bytes,
                    arguments: arguments.clone(),
                };
                if self.known.insert((job.study.clone(), job.key())) {
                    self.jobs.push(job);
                }
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The jobs, those of one study and data set together: a worker loads data once.
    pub fn sorted(self) -> Vec<Job> {
        let mut jobs = self.jobs;
        jobs.sort_by(|a, b| (&a.study, &a.dataset).cmp(&(&b.study, &b.dataset)));
        jobs
    }
}
