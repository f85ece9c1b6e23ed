//! The command line of the performance suite.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use serde::Serialize;

use super::case::cases;
use super::error::PerfError;
use super::figures::{self, Figure};
use super::limits::{self, LIMITS};
use super::machine::Machine;
use super::measure::{Effort, measure};
use super::peers::{self, Peer};
use super::result::CaseResult;
use super::rig::Counter;
use super::shape::Shape;
use super::table;
use crate::engine::write_atomically;
use crate::terminal::{BAD_INPUT, DONE, FAILED, print, render, usage};

/// Times, allocations and operation counts of one step of each method, on synthetic rows
///
/// All cases of a shape take turns in one process, once with one thread and once with all.
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
    /// Only cases whose names end with TEXT
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    case: String,
    /// Results of other implementations, a JSON object a line (`cargo xtask perf --peers` makes it)
    #[arg(long, value_name = "FILE")]
    peer_results: Option<PathBuf>,
}

/// The contents of the file of `--json`.
#[derive(Debug, Serialize)]
struct Outcome {
    /// Version of the format.
    schema: u32,
    machine: Machine,
    cases: Vec<CaseResult>,
    figures: Vec<Figure>,
    /// Other implementations, where they were asked for.
    peers: Vec<Peer>,
}

/// Run the command with its arguments (the first is the program's name) and give its exit code back.
pub fn run(arguments: impl IntoIterator<Item = OsString>, counter: Counter) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    match suite(&arguments, counter) {
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
    let quick = arguments.quick;
    let shapes = match (arguments.shape.as_slice(), quick) {
        ([], true) => &[Shape::Yacht],
        ([], false) => Shape::value_variants(),
        (chosen, _) => chosen,
    };
    let machine = Machine::here();
    let (effort, most) = match quick {
        true => (Effort::QUICK, 1),
        false => (Effort::FULL, machine.cores),
    };
    let mut threads = vec![1, most];
    threads.dedup();
    let mut results = Vec::new();
    for &shape in shapes {
        let mut cases = cases(shape).map_err(PerfError::case(shape.name(), "cases"))?;
        cases.retain(|case| case.id.ends_with(&arguments.case));
        for &threads in &threads {
            let (name, count) = (shape.name(), cases.len());
            print::error(format_args!("{name}: {count} cases, {threads} thread(s)"));
            results.extend(measure(&cases, threads, effort, counter)?);
        }
    }
    let outcome = Outcome {
        schema: 3,
        machine,
        figures: figures::all(&results, &peers),
        cases: results,
        peers,
    };
    let out = |text: String| print::out(text).map_err(PerfError::Output);
    out(render(&table::cases(&outcome.cases, &outcome.peers)))?;
    out(render(&table::figures(&outcome.figures)))?;
    if let Some(path) = &arguments.json {
        write(path, &outcome)?;
        out(path.display().to_string())?;
    }
    match quick {
        true => limits::check(LIMITS, &outcome.cases),
        false => Ok(()),
    }
}

fn write(path: &Path, outcome: &Outcome) -> Result<(), PerfError> {
    let text =
        serde_json::to_string_pretty(outcome).map_err(|error| PerfError::file(path, error))?;
    write_atomically(path, (text + "\n").as_bytes()).map_err(|error| PerfError::file(path, error))
}
