//! From a table of a plan to combinations of options, each a command line.

use std::collections::BTreeMap;

use svn_models::recipe::Recipe;

use super::plan::{Given, Options, Runs, is_setting};
use super::{Plan, SweepError};

/// Options that a job's label has without a note.
const LABELLED: [&str; 4] = ["dataset", "method", "seed", "seeds"];

/// One setting of all options of a table of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Which table `[[runs]]` it is of, from 1.
    pub number: usize,
    study: String,
    options: Options,
    /// What tells it from other combinations of its table.
    varied: Vec<String>,
}

impl Plan {
    /// All combinations: table by table; in a table the grid in the order of its values, the first name varying slowest, and
    /// for each of its points all samples.
    pub fn combinations(&self) -> Vec<Combination> {
        let tables = self.runs.iter().enumerate();
        tables
            .flat_map(|(index, runs)| runs.combinations(index + 1))
            .collect()
    }

    /// An error in one of the tables.
    pub fn wrong(&self, number: usize, message: String) -> SweepError {
        SweepError::Table {
            path: self.path.clone(),
            number,
            table: "",
            message,
        }
    }

    /// What a study says against one of the tables.
    pub fn refused(&self, number: usize, source: crate::engine::EngineError) -> SweepError {
        SweepError::Study {
            path: self.path.clone(),
            number,
            source: Box::new(source),
        }
    }
}

impl Runs {
    fn combinations(&self, number: usize) -> Vec<Combination> {
        let mut points = vec![Options::new()];
        for (name, values) in &self.grid {
            let with = |point: &Options, value: &Given| {
                let mut point = point.clone();
                point.insert(name.clone(), value.clone());
                point
            };
            let longer = points.iter();
            points = longer
                .flat_map(|point| values.iter().map(move |value| with(point, value)))
                .collect();
        }
        let samples = match &self.random {
            Some(random) => random.samples().collect(),
            None => vec![Options::new()],
        };
        let mut combinations = Vec::new();
        for point in &points {
            for sample in &samples {
                let varied = point.iter().chain(sample);
                let mut options = self.fixed.clone();
                options.extend(
                    varied
                        .clone()
                        .map(|(name, value)| (name.clone(), value.clone())),
                );
                combinations.push(Combination {
                    number,
                    study: self.study.clone(),
                    options,
                    varied: varied.map(|(name, _)| name.clone()).collect(),
                });
            }
        }
        combinations
    }
}

impl Combination {
    /// Name of the study.
    pub fn study(&self) -> &str {
        &self.study
    }

    /// The command line without the program: `bench-uci`, then `--name=value`.
    pub fn arguments(&self) -> Vec<String> {
        words(&self.study, &self.options)
    }

    /// The command line of its runs on one data set. Its methods stay: what is given is checked for all of them together.
    pub(super) fn on(&self, dataset: &str) -> Vec<String> {
        let mut options = self.options.clone();
        if options.remove("all").is_some() || options.contains_key("dataset") {
            options.insert("dataset".to_owned(), Given::Text(dataset.to_owned()));
        }
        words(&self.study, &options)
    }

    /// What tells it from others of its table, such as `coupling gram, lr 0.01`, as far as it is among these settings.
    pub(super) fn note(&self, settings: &Recipe) -> String {
        let used = serde_json::to_value(settings).unwrap_or_default();
        let shown = |name: &&String| {
            let field = name.replace('-', "_");
            !LABELLED.contains(&name.as_str()) && (!is_setting(name) || used.get(field).is_some())
        };
        let word = |name: &String| match &self.options[name] {
            Given::Text(text) => format!("{name} {text}"),
            Given::Flag(said) => format!("{name} {said}"),
        };
        let words: Vec<String> = self.varied.iter().filter(shown).map(word).collect();
        words.join(", ")
    }
}

fn words(study: &str, options: &BTreeMap<String, Given>) -> Vec<String> {
    let options = options.iter().filter_map(|(name, given)| match given {
        Given::Text(text) => Some(format!("--{name}={text}")),
        Given::Flag(true) => Some(format!("--{name}")),
        Given::Flag(false) => None,
    });
    std::iter::once(format!("bench-{study}"))
        .chain(options)
        .collect()
}
