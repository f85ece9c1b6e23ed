//! The command line of the performance suite.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;

use super::case::{Case, Shape, cases};
use super::child::{self, Order};
use super::env::{self, Environment};
use super::error::PerfError;
use super::measure::{Counter, Effort, measure, with_threads};
use super::outcome::{CaseResult, Outcome, SCHEMA};
use super::{LIMITS, figure, jobs, limits, peers, ratios, roofline, scaling, table};
use crate::cli::{BAD_INPUT, DONE, FAILED, print, render, usage};
use crate::record::write_atomically;

/// Times, memory and operation counts of one step of each method, on synthetic rows
///
/// All cases of a shape take turns in one process, once with one thread and once with all. The peak memory of a case
/// is that of a process of its own.
#[derive(Parser, Debug)]
#[command(name = "svn-perf", bin_name = "cargo xtask perf", max_term_width = 100)]
struct Arguments {
    /// A smoke test: few steps, one thread, operation counts against fixed limits
    #[arg(long)]
    quick: bool,
    /// Write all figures to FILE
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only these shapes; all without it, yacht with --quick
    #[arg(long, value_name = "NAME", value_enum)]
    shape: Vec<Shape>,
    /// Also train two folds at once and one after the other
    #[arg(long)]
    jobs_check: bool,
    /// Also measure the growth with particles, dimension and rows
    #[arg(long)]
    scaling: bool,
    /// Folder for the figures of --scaling
    #[arg(long, value_name = "DIR", requires = "scaling")]
    out: Option<PathBuf>,
    /// Results of other implementations, a JSON object a line (`cargo xtask perf --peers` makes it)
    #[arg(long, value_name = "FILE")]
    peer_results: Option<PathBuf>,
    /// Obey the order on standard input
    #[arg(long, hide = true)]
    child: bool,
}

/// Run the command with its arguments (the first is the program's name); `start` is when the program began.
pub fn run(arguments: impl IntoIterator<Item = OsString>, start: Instant, counter: Counter) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let result = if arguments.child {
        child::obey(start, counter).map(print::out)
    } else {
        suite(&arguments, counter)
    };
    match result {
        Ok(()) => DONE,
        Err(error) => {
            print::error(format_args!("error: {error}"));
            if error.is_input() { BAD_INPUT } else { FAILED }
        }
    }
}

fn suite(arguments: &Arguments, counter: Counter) -> Result<(), PerfError> {
    // Before anything long: a wrong file should cost no wait.
    let peers = match &arguments.peer_results {
        Some(path) => peers::read(path)?,
        None => Vec::new(),
    };
    let load = env::load();
    let quick = arguments.quick;
    let shapes: &[Shape] = match (arguments.shape.as_slice(), quick) {
        ([], true) => &[Shape::Yacht],
        ([], false) => <Shape as clap::ValueEnum>::value_variants(),
        (chosen, _) => chosen,
    };
    let entries = if quick { 1 << 20 } else { 1 << 23 };
    let mut env = Environment::new(with_threads(1, || roofline::measure(entries))?);
    env.empty_process_mb = child::ask(&order(None))?.peak_mb;
    let cores = env::cores();
    let threads = if quick || cores == 1 {
        vec![1]
    } else {
        vec![1, cores]
    };
    let mut results = Vec::new();
    for &shape in shapes {
        results.extend(one_shape(shape, &threads, quick, counter, &mut env)?);
    }
    let folds = match arguments.jobs_check {
        true => Some(jobs::ratio(if quick { 1 } else { 8 })?),
        false => None,
    };
    let progress = |line: &str| print::error(format_args!("{line}"));
    let scaling = match arguments.scaling {
        true => Some(scaling::measure(quick, env.empty_process_mb, &progress)?),
        false => None,
    };
    env.load = load.zip(env::load());
    let outcome = Outcome {
        schema: SCHEMA,
        ratios: ratios::all(&results, &peers, folds),
        env,
        cases: results,
        peers,
        scaling,
    };
    report(arguments, &outcome)?;
    if quick {
        limits::check(LIMITS, &outcome.cases)?;
    }
    Ok(())
}

fn one_shape(
    shape: Shape,
    threads: &[usize],
    quick: bool,
    counter: Counter,
    env: &mut Environment,
) -> Result<Vec<CaseResult>, PerfError> {
    let cases = cases(shape);
    let effort = if quick { Effort::QUICK } else { Effort::FULL };
    let mut results = Vec::new();
    for &threads in threads {
        print::error(format_args!(
            "{}: {} cases, {threads} thread(s)",
            shape.name(),
            cases.len()
        ));
        results.extend(measure(&cases, threads, effort, counter)?);
    }
    for case in &cases {
        let answer = child::ask(&order(Some(case.clone())))?;
        if case.newton.is_some() && env.first_step_ms.is_none() {
            env.first_step_ms = answer.first_step_ms;
        }
        let id = case.id();
        for result in results.iter_mut().filter(|result| result.id == id) {
            result.peak_mb = answer.peak_mb;
        }
    }
    for result in &mut results {
        result.estimate = result.estimate.bounded(&env.roofline);
    }
    Ok(results)
}

fn order(case: Option<Case>) -> Order {
    Order {
        case,
        threads: 1,
        budget_ms: 0.0,
    }
}

/// Tables on standard output; the file and the figures where they were asked for.
fn report(arguments: &Arguments, outcome: &Outcome) -> Result<(), PerfError> {
    print::out(render(&table::cases(&outcome.cases)));
    print::out(render(&table::ratios(outcome)));
    let file = |path: &PathBuf, message: String| PerfError::File {
        path: path.clone(),
        message,
    };
    if let (Some(folder), Some(scaling)) = (&arguments.out, &outcome.scaling) {
        for name in figure::write(folder, scaling)? {
            print::out(folder.join(name).display());
        }
    }
    if let Some(path) = &arguments.json {
        let text =
            serde_json::to_string_pretty(outcome).map_err(|error| file(path, error.to_string()))?;
        write_atomically(path, (text + "\n").as_bytes())
            .map_err(|error| file(path, error.to_string()))?;
        print::out(path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
