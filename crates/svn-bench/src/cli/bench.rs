//! `svn bench-STUDY`: plan, run or tune, report, print. One body for every study.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::HumanDuration;
use svn_models::Device;
use svn_models::recipe::Method;

use super::progress::Progress;
use super::training::{Hides, Training};
use super::tune::{self, Tuning};
use super::value::{count, whole};
use super::{Outcome, TrainerFactory};
use crate::data::SearchPath;
use crate::engine::{
    self, Asked, EngineError, Left, Plan, RecordOf, Store, Study, TunedSource, Work,
};
use crate::report::{self, Detail, Page};
use crate::terminal::{DONE, FAILED, print, render};

/// What a study adds to the command line.
pub(super) trait StudyArgs: Hides + Args + Debug {
    /// The study.
    type Study: Study;
    /// Its part of the report.
    type Page: Page<Design = <Self::Study as Study>::Design, Extra = <Self::Study as Study>::Extra>;
    /// What is run where no method is named.
    const METHODS: &'static [Method] = &[
        Method::Ensemble,
        Method::Wgd,
        Method::Svgd,
        Method::NewtonEnsemble,
        Method::Svn,
        Method::LlSvn,
    ];
    /// Whether what may be loaded depends on methods and settings.
    const OF_METHODS: bool = false;
    /// Settings that were chosen for its data sets.
    const TUNED: &'static [(&'static str, &'static str)];

    /// Load the data.
    fn study(&self, common: &Common, asked: &Asked) -> Result<Self::Study, EngineError>;
}

/// The whole command line of a study.
#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Exit codes: 0 done, 2 bad arguments or input, 1 anything else (a run that failed)."
)]
pub(super) struct Bench<A: StudyArgs> {
    #[command(flatten)]
    pub study: A,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub training: Training<A>,

    #[command(flatten)]
    pub tuning: Tuning,
}

/// Options of every study.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// Method: ensemble, wgd, svgd, newton-ensemble, svn, ll-svn, ssvn or linear, comma separated or repeated [default: those of the
    /// paper and newton-ensemble, which is svn without a kernel]
    #[arg(long = "method", value_name = "NAME", value_delimiter = ',')]
    pub methods: Vec<Method>,

    /// The first seed of splits and training
    #[arg(long, default_value = "0", value_parser = whole)]
    pub seed: u64,

    /// Number of seeds, each with its own splits and starting weights
    #[arg(long, value_name = "K", default_value = "1", value_parser = count::<10_000>)]
    pub seeds: usize,

    /// Where networks are evaluated: auto, cpu, cuda or cuda:i
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub device: Device,

    /// Worker threads, one run each [default: number of cores, 1 with CUDA]
    #[arg(long, value_name = "N", value_parser = count::<1024>)]
    pub jobs: Option<usize>,

    /// Folder for records, summary, report and figures; a rerun resumes [default: results/bench-STUDY]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Folder that is searched first for the data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Settings instead of those built in: a file of one TOML table a method, or a folder of DATASET.toml
    #[arg(long, value_name = "PATH", conflicts_with = "untuned")]
    pub settings: Option<PathBuf>,

    /// No tuned settings: the methods' defaults
    #[arg(long)]
    pub untuned: bool,

    /// Keep the model of each run that is done now, in OUT/models
    #[arg(long)]
    pub save_models: bool,

    /// No progress, only warnings and the table
    #[arg(short, long)]
    pub quiet: bool,
}

impl Common {
    /// Seeds that are run.
    pub(super) fn seeds(&self) -> Vec<u64> {
        let seeds = 0..self.seeds as u64;
        seeds.map(|index| self.seed.wrapping_add(index)).collect()
    }

    /// Where data are looked for.
    ///
    /// # Errors
    /// [`EngineError::Arguments`] for a `--data` that is no folder.
    pub(super) fn search_path(&self) -> Result<SearchPath, EngineError> {
        match &self.data {
            Some(folder) if !folder.is_dir() => Err(EngineError::Arguments(format!(
                "--data {}: no such folder",
                folder.display()
            ))),
            data => Ok(SearchPath::standard(data.as_deref())),
        }
    }

    /// Whether a `--data` that was given has been of use.
    ///
    /// # Errors
    /// [`EngineError::Arguments`] naming the first data set that was read from elsewhere.
    pub(super) fn check_data<'f>(
        &self,
        mut files: impl Iterator<Item = (&'f str, &'f Path)>,
    ) -> Result<(), EngineError> {
        let Some(folder) = &self.data else {
            return Ok(());
        };
        match files.find(|(_, file)| !file.starts_with(folder)) {
            None => Ok(()),
            Some((name, file)) => Err(EngineError::Arguments(format!(
                "--data {} has no {name}, which would be read from {}; leave out --data, or name only what is there",
                folder.display(),
                file.display()
            ))),
        }
    }

    fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(|| match self.device {
            Device::Cpu => cores(),
            Device::Cuda(_) => 1,
        })
    }

    /// Where the output goes.
    ///
    /// # Errors
    /// [`EngineError::Arguments`] for what is no name of a folder.
    pub(super) fn out<S: Study>(&self) -> Result<PathBuf, EngineError> {
        let Some(out) = &self.out else {
            return Ok(Path::new("results").join(format!("bench-{}", S::NAME)));
        };
        let text = out.to_string_lossy();
        // What a shell would have put in place of these, or a slip of the hand.
        if text.trim().is_empty() || text.starts_with('~') || text == "-" {
            let message = format!("--out `{text}`: expected the name of a folder");
            return Err(EngineError::Arguments(message));
        }
        Ok(out.clone())
    }
}

impl<A: StudyArgs> Bench<A> {
    /// What is asked for, beside the study's own options.
    pub(super) fn asked(&self) -> Asked {
        let common = &self.common;
        Asked {
            methods: match common.methods.as_slice() {
                [] => A::METHODS.to_vec(),
                methods => methods.to_vec(),
            },
            settings: self.training.recipe.clone(),
            tuned: match &common.settings {
                _ if self.tuning.tune => TunedSource::Untuned,
                Some(path) => TunedSource::Path(path.clone()),
                None if common.untuned => TunedSource::Untuned,
                None => TunedSource::BuiltIn(A::TUNED),
            },
            jobs: common.jobs(),
        }
    }
}

pub(super) fn run<A: StudyArgs>(
    arguments: &Bench<A>,
    given: &[String],
    trainer: TrainerFactory<'_>,
) -> Outcome {
    let (common, asked) = (&arguments.common, arguments.asked());
    let trainer = trainer(common.device).map_err(EngineError::from)?;
    let study = arguments.study.study(common, &asked)?;
    let plan = Plan::new(&study, &asked)?;
    let progress = Progress::new(common.quiet);
    let folder = common.out::<A::Study>()?;
    let amount = match arguments.tuning.tune {
        true => format!(
            "at most {} configurations each",
            arguments.tuning.tune_budget
        ),
        false => format!("{} runs", plan.jobs()),
    };
    let amount = format!("{amount}{}", with(&asked));
    let work = Work {
        trainer: trainer.as_ref(),
        jobs: asked.jobs,
        folder: &folder,
        save_models: common.save_models,
        observer: &progress,
    };
    if arguments.tuning.tune {
        progress.head(&plan, &amount, &work);
        return tune::run(&arguments.tuning, &plan, &asked, &work, &progress);
    }
    let mut store = Store::open(&folder, A::Study::NAME).map_err(EngineError::from)?;
    let left = engine::left(&plan, &store);
    progress.head(&plan, &format!("{amount}{}", long(left, asked.jobs)), &work);
    bench::<A>(&plan, &mut store, (&work, &progress), &words(given))
}

/// The settings of the command line, and where others come from, in words.
fn with(asked: &Asked) -> String {
    let settings = report::of_settings(&asked.settings).into_iter();
    let mut words: Vec<String> = settings
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    match &asked.tuned {
        TunedSource::Path(path) => words.push(format!("settings of {}", path.display())),
        TunedSource::BuiltIn(files) if !files.is_empty() => words.push("tuned settings".to_owned()),
        _ => {}
    }
    match words.is_empty() {
        true => String::new(),
        false => format!(" with {}", words.join(", ")),
    }
}

/// How long it takes, in words; a run that is like none that is done is timed by doing it.
fn long(left: Left, jobs: usize) -> String {
    let time = HumanDuration(left.time / jobs.clamp(1, left.known.max(1)) as u32);
    match (left.known, left.unknown) {
        (0, 0) => String::new(),
        (0, _) => "; how long is told as runs end".to_owned(),
        (_, 0) => format!("; about {time}"),
        (_, unknown) => format!("; about {time} and {unknown} runs like none that is timed yet"),
    }
}

fn bench<A: StudyArgs>(
    plan: &Plan<'_, A::Study>,
    store: &mut Store<RecordOf<A::Study>>,
    (work, progress): (&Work<'_>, &Progress),
    command: &str,
) -> Outcome {
    let finished = engine::run(plan, store, work)?;
    progress.clear();

    let environment = environment(work, command);
    let summary = report::write::<A::Page>(work.folder, store.entries(), environment)?;
    let ours = |config: &str| plan.groups.iter().any(|group| group.config == config);
    let mut rows = summary.results.into_iter();
    let rows: Vec<_> = rows.by_ref().filter(|row| ours(&row.config)).collect();
    for grid in report::results::<A::Page>(&rows, Detail::Brief) {
        print::out(render(&grid))?;
    }
    print::out(work.folder.join("report.md").display())?;
    if finished.failures.is_empty() {
        return Ok(DONE);
    }
    // Each was told when it failed.
    let (failed, planned) = (finished.failures.len(), plan.jobs());
    let again = "a rerun tries them again";
    print::error(format_args!(
        "error: {failed} of {planned} runs failed; {again}"
    ));
    Ok(FAILED)
}

/// Options that no result depends on; the second word of those that have one is none either.
const ELSEWHERE: [(&str, bool); 5] = [
    ("--out", true),
    ("--jobs", true),
    ("--data", true),
    ("-q", false),
    ("--quiet", false),
];

/// The command line, without where its files are and how much of it is shown.
fn words(given: &[String]) -> String {
    let mut words = vec!["cargo xtask"];
    let mut given = given.iter().skip(1).map(String::as_str);
    while let Some(word) = given.next() {
        let option = word.split('=').next().unwrap_or(word);
        match ELSEWHERE.iter().find(|(name, _)| *name == option) {
            Some((_, true)) if option == word => {
                given.next();
            }
            Some(_) => {}
            None => words.push(word),
        }
    }
    words.join(" ")
}

/// What a reader of the report wants to know of the machine and of how the records came about. No time of day: reruns give the
/// same file.
fn environment(work: &Work<'_>, command: &str) -> BTreeMap<String, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut environment = BTreeMap::from([
        ("svn".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("os".to_owned(), std::env::consts::OS.to_owned()),
        ("arch".to_owned(), std::env::consts::ARCH.to_owned()),
        ("cores".to_owned(), cores.to_string()),
    ]);
    // Of a folder that several commands have added to, all of them.
    let earlier = report::environment(work.folder);
    let own = [
        ("command", Some(command.to_owned())),
        ("commit", std::env::var("SVN_COMMIT").ok()),
    ];
    for (key, value) in own {
        let mut values: Vec<&str> = earlier
            .get(key)
            .map_or(Vec::new(), |earlier| earlier.split("; ").collect());
        values.extend(value.as_deref().filter(|value| !value.is_empty()));
        let values = engine::distinct(&values);
        if !values.is_empty() {
            environment.insert(key.to_owned(), values.join("; "));
        }
    }
    environment.extend(work.trainer.environment());
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_a_result_depends_on() {
        let given = "svn bench-uci --dataset yacht --out a -q --jobs=2 --data b --seed 1";
        let given: Vec<String> = given.split(' ').map(str::to_owned).collect();
        assert_eq!(
            words(&given),
            "cargo xtask bench-uci --dataset yacht --seed 1"
        );
    }

    #[test]
    fn how_long_is_shared_among_workers() {
        let left = |seconds, known, unknown| Left {
            time: std::time::Duration::from_secs(seconds),
            known,
            unknown,
        };
        assert_eq!(long(left(0, 0, 0), 2), "");
        assert_eq!(long(left(0, 0, 5), 2), "; how long is told as runs end");
        assert_eq!(long(left(240, 4, 0), 2), "; about 2 minutes");
        // One run keeps one worker busy.
        assert_eq!(long(left(240, 1, 0), 2), "; about 4 minutes");
        let both = long(left(240, 4, 3), 2);
        assert_eq!(
            both,
            "; about 2 minutes and 3 runs like none that is timed yet"
        );
    }
}
