//! From options to groups of jobs: data loaded, settings resolved and checked before anything runs.

use super::{Prepared, TunedSource};
use crate::data::{Manifest, SearchPath};
use crate::experiment::{ExperimentError, Method, Recipe, out_of_range};
use crate::record::Configuration;

/// Which protocol, before the data set is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProtocolName {
    /// Cross-validation, 64 / 16 / 20 %.
    #[default]
    Paper,
    /// Random 90 / 10 % splits.
    Standard,
}

/// What to benchmark.
#[derive(Debug, Clone, Default)]
pub struct UciOptions {
    /// Names of data sets; each once.
    pub datasets: Vec<String>,
    /// Methods; each once.
    pub methods: Vec<Method>,
    /// How rows are cut.
    pub protocol: ProtocolName,
    /// Number of folds or splits; `None` is the protocol's.
    pub folds: Option<usize>,
    /// Seed of splits and training.
    pub seed: u64,
    /// Training settings that go before all others; what they leave out is tuned or the method's default.
    pub settings: Recipe,
    /// Settings chosen for data set and method.
    pub tuned: TunedSource,
    /// Worker threads, at least 1.
    pub jobs: usize,
}

/// A data set and a method: its folds differ in nothing else.
#[derive(Debug, Clone)]
pub struct Group {
    /// Index into [`Plan::datasets`].
    pub dataset: usize,
    /// With resolved settings.
    pub configuration: Configuration,
    /// Hash of the configuration.
    pub config: String,
}

/// Everything that is to be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The data sets, in the order asked for.
    pub datasets: Vec<Prepared>,
    /// Data set by data set, method by method.
    pub groups: Vec<Group>,
}

impl Plan {
    /// Load every data set and resolve the settings of every group.
    ///
    /// # Errors
    /// [`ExperimentError`]; all of them are about arguments or input.
    pub fn new(
        options: &UciOptions,
        manifest: &Manifest,
        path: &SearchPath,
    ) -> Result<Self, ExperimentError> {
        if options.jobs == 0 {
            return Err(out_of_range("jobs", 0, "at least 1").into());
        }
        if options.datasets.is_empty() || options.methods.is_empty() {
            return Err(ExperimentError::Arguments(
                "nothing to do: name a --dataset or say --all".to_owned(),
            ));
        }
        // All names first: a misspelt one should not wait for a large file.
        for name in &options.datasets {
            manifest.entry(name)?;
        }
        let names = distinct(&options.datasets);
        let datasets = names
            .iter()
            .map(|name| Prepared::load(name, options, manifest, path))
            .collect::<Result<Vec<_>, _>>()?;
        let mut groups = Vec::new();
        for (dataset, prepared) in datasets.iter().enumerate() {
            for method in distinct(&options.methods) {
                groups.push(group(dataset, prepared, method, options)?);
            }
        }
        Ok(Self { datasets, groups })
    }

    /// Number of jobs.
    pub fn jobs(&self) -> usize {
        self.groups
            .iter()
            .map(|group| self.datasets[group.dataset].folds.len())
            .sum()
    }
}

fn group(
    dataset: usize,
    prepared: &Prepared,
    method: Method,
    options: &UciOptions,
) -> Result<Group, ExperimentError> {
    let tuned = options.tuned.load(&prepared.summary.name)?;
    let given = options.settings.meant_for(method);
    let given = match tuned.method(method) {
        Some(tuned) => given.or(&tuned.meant_for(method)),
        None => given,
    };
    let settings = prepared.summary.resolve(method, &given)?;
    let configuration = Configuration {
        dataset: prepared.data.name.clone(),
        task: prepared.data.task,
        data_sha256: prepared.data.sha256.clone(),
        method,
        protocol: prepared.protocol,
        seed: options.seed,
        settings,
    };
    Ok(Group {
        dataset,
        config: configuration.hash(),
        configuration,
    })
}

/// The values in order, without repetitions.
fn distinct<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(value) {
            seen.push(value.clone());
        }
    }
    seen
}
