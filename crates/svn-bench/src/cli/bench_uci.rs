//! `svn bench-uci`: plan, run, report, print.

use std::collections::BTreeMap;

use super::args::BenchUci;
use super::progress::Progress;
use super::{DONE, FAILED, Outcome, RunnerFactory, print, table, tune};
use crate::data::{Manifest, SearchPath};
use crate::experiment::uci::{self, Plan};
use crate::record::RecordStore;
use crate::report;

pub(super) fn run(arguments: &BenchUci, runner: RunnerFactory<'_>) -> Outcome {
    let manifest = Manifest::embedded()?;
    let sound = || {
        manifest
            .entries()
            .iter()
            .filter(|entry| !entry.leaky)
            .map(|entry| entry.name.clone())
            .collect()
    };
    let options = arguments.options(sound);
    for name in &options.datasets {
        manifest.entry(name)?;
    }
    let runner = runner(options.jobs)?;
    let path = SearchPath::standard(arguments.data.as_deref());
    let plan = Plan::new(&options, &manifest, &path)?;
    if arguments.tuning.tune {
        return tune::run(arguments, &plan, &options, runner.as_ref());
    }
    let mut store = RecordStore::open(&arguments.out)?;
    let progress = Progress::new(arguments.quiet);
    let finished = uci::run(&plan, options.jobs, runner.as_ref(), &mut store, &progress)?;
    progress.clear();

    let mut env = environment();
    env.extend(runner.environment());
    let summary = report::write(&arguments.out, store.entries(), env)?;
    let ours: Vec<_> = summary
        .results
        .into_iter()
        .filter(|row| plan.groups.iter().any(|group| group.config == row.config))
        .collect();
    for grid in report::grids(&ours, report::Detail::Brief) {
        print::out(format_args!("{}", table::render(&grid)));
    }
    print::out(format_args!(
        "{}",
        arguments.out.join("report.md").display()
    ));
    for failure in &finished.failures {
        print::error(format_args!("failed: {}: {}", failure.job, failure.message));
    }
    if finished.failures.is_empty() {
        return Ok(DONE);
    }
    print::error(format_args!(
        "error: {} of {} runs failed; a rerun tries them again",
        finished.failures.len(),
        plan.jobs()
    ));
    Ok(FAILED)
}

/// What a reader of the report wants to know of the machine. No time of day: reruns give the same file.
pub(super) fn environment() -> BTreeMap<String, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    BTreeMap::from([
        ("svn".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("os".to_owned(), std::env::consts::OS.to_owned()),
        ("arch".to_owned(), std::env::consts::ARCH.to_owned()),
        ("cores".to_owned(), cores.to_string()),
    ])
}
