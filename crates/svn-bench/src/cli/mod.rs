//! The `svn` command: arguments, progress, tables, exit codes (0 done, 2 bad arguments or input, 1 anything else).

mod args;
mod bench_uci;
mod bench_vision;
mod doctor;
pub(crate) mod print;
mod progress;
mod table;
mod training;
mod tune;
mod value;
mod vision_args;

pub(crate) use table::render;

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use crate::experiment::{ExperimentError, FoldRunner, RunError};
use args::{Arguments, Command};

/// Everything was done.
pub const DONE: u8 = 0;
/// Something failed that is not the user's fault, or a fold failed.
pub const FAILED: u8 = 1;
/// Arguments or input are wrong; one line on standard error says how.
pub const BAD_INPUT: u8 = 2;

/// Makes the runner for a number of worker threads.
pub type RunnerFactory<'a> = &'a dyn Fn(usize) -> Result<Box<dyn FoldRunner>, RunError>;

/// Run the command with its arguments (the first is the program's name) and give its exit code back.
pub fn run(arguments: impl IntoIterator<Item = OsString>, runner: RunnerFactory<'_>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let result = match &arguments.command {
        Command::BenchUci(command) => bench_uci::run(command, runner),
        Command::BenchVision(command) => bench_vision::run(command),
        Command::Doctor => Ok(doctor::run()),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            print::error(format_args!("error: {error}"));
            if error.is_input() { BAD_INPUT } else { FAILED }
        }
    }
}

/// Help and version as they are; anything else as one line.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // A closed pipe is no reason to complain.
        let _ = error.print();
        return DONE;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return BAD_INPUT;
    }
    let text = error.to_string();
    // The first paragraph says what is wrong; usage and hints follow.
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    print::error(format_args!("{line}; see --help"));
    BAD_INPUT
}

type Outcome = Result<u8, ExperimentError>;
