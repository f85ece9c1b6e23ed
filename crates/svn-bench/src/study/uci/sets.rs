//! Data sets, loaded and split.

use std::collections::BTreeMap;
use std::path::Path;

use ndarray::Axis;
use svn_models::recipe::{NetworkKind, Problem};
use svn_models::scaling::TargetScaler;

use super::{NAME, UciDesign};
use crate::data::{Dataset, Manifest, SearchPath, Task, load_named};
use crate::engine::{EngineError, Fold, Of, Part, RunId, Study, distinct, out_of_range};
use crate::split::{FoldRows, Protocol, split};

/// Settings chosen on validation rows, (data set, text of its file), written by the build script from `experiments/uci`.
pub const TUNED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/tuned_uci.rs"));

/// Row indices that the splits of a data set may hold.
const MOST: usize = 100_000_000;

/// Which protocol, before the data set is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProtocolName {
    /// Cross-validation, 64 / 16 / 20 %.
    #[default]
    Paper,
    /// Random 90 / 10 % splits.
    Standard,
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct UciOptions {
    /// Names of data sets; repetitions count once.
    pub datasets: Vec<String>,
    /// How rows are cut.
    pub protocol: ProtocolName,
    /// Number of folds or splits; `None` is the protocol's.
    pub folds: Option<usize>,
    /// Seeds of splits and training.
    pub seeds: Vec<u64>,
}

/// The study, its data loaded.
#[derive(Debug, Clone)]
pub struct Uci {
    sets: Vec<Set>,
    seeds: Vec<u64>,
}

/// A data set with its folds.
#[derive(Debug, Clone)]
struct Set {
    data: Dataset,
    design: UciDesign,
    folds: BTreeMap<u64, Vec<FoldRows>>,
}

impl Uci {
    /// Load and split every data set that is named.
    ///
    /// # Errors
    /// [`EngineError`]; all of them are about arguments or input.
    pub fn load(
        options: &UciOptions,
        manifest: &Manifest,
        path: &SearchPath,
    ) -> Result<Self, EngineError> {
        let names = distinct(&options.datasets);
        // All names first: a misspelt one should not wait for a large file.
        for name in &names {
            manifest.entry(name)?;
        }
        let sets = names
            .iter()
            .map(|name| Set::new(load_named(name, manifest, path)?, options))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            sets,
            seeds: distinct(&options.seeds),
        })
    }

    /// The study of data sets that are at hand.
    ///
    /// # Errors
    /// [`EngineError::Split`].
    pub fn of(sets: Vec<Dataset>, options: &UciOptions) -> Result<Self, EngineError> {
        let sets = sets.into_iter().map(|data| Set::new(data, options));
        Ok(Self {
            sets: sets.collect::<Result<_, _>>()?,
            seeds: distinct(&options.seeds),
        })
    }

    /// The file that each data set was read from.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Path)> {
        let sets = self.sets.iter();
        sets.map(|set| (set.data.name.as_str(), set.data.path.as_path()))
    }

    /// The set of a design, which is one of [`designs`](Study::designs).
    fn set(&self, design: &UciDesign) -> Result<&Set, EngineError> {
        let found = self.sets.iter().find(|set| set.design == *design);
        found.ok_or_else(|| EngineError::Arguments(format!("{} is not loaded", design.dataset)))
    }
}

impl Set {
    fn new(data: Dataset, options: &UciOptions) -> Result<Self, EngineError> {
        let rows = data.rows();
        let protocol = match (options.protocol, options.folds) {
            (ProtocolName::Paper, folds) => Protocol::Paper {
                folds: folds.unwrap_or(5),
            },
            (ProtocolName::Standard, Some(splits)) if splits.saturating_mul(rows) > MOST => {
                let expected = format!("at most {} for {rows} rows", MOST / rows.max(1));
                return Err(out_of_range("folds", splits, &expected).into());
            }
            (ProtocolName::Standard, Some(splits)) => Protocol::Standard { splits },
            (ProtocolName::Standard, None) => Protocol::standard(rows),
        };
        let classes = data.class_indices();
        let stratify = (data.task == Task::Classification).then_some(classes.as_slice());
        let folds = |&seed: &u64| {
            let folds = split(protocol, &data.name, rows, stratify, seed);
            let folds = folds.map_err(|source| EngineError::Split {
                dataset: data.name.clone(),
                source,
            })?;
            Ok::<_, EngineError>((seed, folds))
        };
        Ok(Self {
            folds: options.seeds.iter().map(folds).collect::<Result<_, _>>()?,
            design: UciDesign {
                dataset: data.name.clone(),
                task: data.task,
                data_sha256: data.sha256.clone(),
                protocol,
            },
            data,
        })
    }

    fn rows(&self, run: RunId) -> Result<&FoldRows, EngineError> {
        let folds = self.folds.get(&run.seed);
        let rows = folds.and_then(|folds| folds.get(run.fold));
        rows.ok_or_else(|| {
            let RunId { seed, fold } = run;
            let name = &self.design.dataset;
            EngineError::Arguments(format!("{name} has no fold {fold} of seed {seed}"))
        })
    }

    fn part(&self, rows: &[usize]) -> Part {
        Part {
            x: self.data.x.select(Axis(0), rows),
            y: self.data.y.select(Axis(0), rows),
        }
    }
}

impl Study for Uci {
    const NAME: &'static str = NAME;
    const STREAM: &'static str = "job";
    type Design = UciDesign;
    type Extra = ();

    fn designs(&self) -> Vec<UciDesign> {
        self.sets.iter().map(|set| set.design.clone()).collect()
    }

    fn runs(&self, design: &UciDesign) -> Vec<RunId> {
        let folds = design.protocol.folds();
        let runs = |&seed| (0..folds).map(move |fold| RunId { seed, fold });
        self.seeds.iter().flat_map(runs).collect()
    }

    fn problem(&self, design: &UciDesign) -> Problem {
        let set = self.set(design).ok();
        let folds = set.into_iter().flat_map(|set| set.folds.values().flatten());
        Problem {
            network: NetworkKind::Mlp,
            rows: folds.map(|fold| fold.train.len()).min().unwrap_or(0),
            features: set.map_or(0, |set| set.data.x.ncols()),
            classes: set.and_then(|set| Some(set.data.labels.as_ref()?.len())),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let sets = self.sets.iter();
        sets.flat_map(|set| set.data.report.warnings.clone())
            .collect()
    }

    fn check(&self, of: Of<'_, UciDesign>) -> Result<(), EngineError> {
        let set = self.set(of.design)?;
        let train = &set.rows(of.run)?.train;
        if set.data.task == Task::Regression {
            let targets = set.data.y.select(Axis(0), train);
            TargetScaler::fit(targets.view()).map_err(|source| EngineError::Fold {
                dataset: of.design.dataset.clone(),
                run: of.run,
                source,
            })?;
        }
        Ok(())
    }

    fn fold(&self, of: Of<'_, UciDesign>) -> Result<Fold, EngineError> {
        let set = self.set(of.design)?;
        let rows = set.rows(of.run)?;
        Ok(Fold {
            train: set.part(&rows.train),
            validation: set.part(&rows.validation),
            test: set.part(&rows.test),
            labels: set.data.labels.clone(),
        })
    }

    /// What is odd about the data belongs to every result on it.
    fn data_warnings(&self, design: &UciDesign) -> Vec<String> {
        let set = self.set(design).ok();
        set.map_or_else(Vec::new, |set| set.data.report.warnings.clone())
    }
}
