//! The `svn` command: arguments, progress, tables, exit codes (0 done, 2 bad arguments or input, 1 anything else).

mod bench;
mod doctor;
mod epochs;
mod fit;
mod mimic;
mod predict;
mod progress;
mod report;
mod shell;
mod survey;
mod sweep;
mod toy;
mod training;
mod tune;
mod uci;
mod value;
mod vision;

pub use crate::terminal::{BAD_INPUT, DONE, FAILED};

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};
use svn_models::Device;

use crate::engine::{EngineError, RunError, Trainer};
use crate::report::ReportError;
use crate::survey::SurveyError;
use crate::sweep::SweepError;
use crate::tabular::TabularError;
use crate::terminal::{print, usage};

/// Stein variational Newton neural network ensembles.
#[derive(Debug, Parser)]
#[command(name = "svn", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fit a table of your own and keep the model in a folder
    Fit(Box<fit::Fit>),
    /// Predict the rows of a table by a model
    Predict(predict::Predict),
    /// Measure a model on a table that it has not seen
    Evaluate(predict::Evaluate),
    /// Show what a model is: columns, scores, settings
    Inspect(predict::Inspect),
    /// A page of a model, or the report of a benchmark again from its records
    Report(report::Report),
    /// Benchmark particle methods on UCI data sets
    BenchUci(Box<bench::Bench<uci::Tables>>),
    /// Benchmark particle methods on images, with LeNet
    BenchVision(Box<bench::Bench<vision::Images>>),
    /// Predict the length of intensive-care stays of MIMIC-IV
    BenchMimic(Box<bench::Bench<mimic::Stays>>),
    /// Compare methods with the posterior on a curve with a gap
    BenchToy(Box<bench::Bench<toy::NoData>>),
    /// Do what a plan asks for: many settings, methods and data sets, by processes here or on a cluster
    Sweep(sweep::Sweep),
    /// Show the native libraries in use and check that they compute right
    Doctor,
    /// Print completions for a shell
    Completions(shell::Completions),
    /// Print the manual page
    Man,
}

/// Makes the trainer for a device.
pub type TrainerFactory<'a> = &'a dyn Fn(Device) -> Result<Box<dyn Trainer>, RunError>;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Sweep(#[from] SweepError),
    #[error(transparent)]
    Survey(#[from] SurveyError),
    #[error(transparent)]
    Tabular(Box<TabularError>),
    /// Standard output takes no more.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}

impl From<TabularError> for Failure {
    fn from(error: TabularError) -> Self {
        Self::Tabular(Box::new(error))
    }
}

type Outcome = Result<u8, Failure>;

/// Run the command with its arguments (the first is the program's name) and give its exit code back.
pub fn run(arguments: impl IntoIterator<Item = OsString>, trainer: TrainerFactory<'_>) -> u8 {
    let given: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&given) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let given: Vec<String> = given
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    match dispatch(&arguments.command, &given, trainer) {
        Ok(code) => code,
        Err(failure) => {
            print::error(format_args!("error: {failure}"));
            match failure {
                Failure::Engine(error) if error.is_input() => BAD_INPUT,
                Failure::Sweep(error) if error.is_input() => BAD_INPUT,
                Failure::Tabular(error) if error.is_input() => BAD_INPUT,
                _ => FAILED,
            }
        }
    }
}

/// `given`: the words of the command line, the program's name first.
fn dispatch(command: &Command, given: &[String], trainer: TrainerFactory<'_>) -> Outcome {
    match command {
        Command::BenchUci(command) => bench::run(command, given, trainer),
        Command::BenchVision(command) => bench::run(command, given, trainer),
        Command::BenchMimic(command) => bench::run(command, given, trainer),
        Command::BenchToy(command) => bench::run(command, given, trainer),
        Command::Report(command) if command.is_survey() => survey::run(command, trainer),
        Command::Report(command) => report::run(
            command,
            &[
                report::Report::of::<uci::Tables>,
                report::Report::of::<vision::Images>,
                report::Report::of::<mimic::Stays>,
                report::Report::of::<toy::NoData>,
            ],
        ),
        Command::Sweep(command) => sweep::run(command, trainer),
        Command::Doctor => doctor::run(),
        Command::Fit(command) => fit::run(command),
        Command::Predict(command) => predict::predict(command),
        Command::Evaluate(command) => predict::evaluate(command),
        Command::Inspect(command) => predict::inspect(command),
        Command::Completions(command) => shell::completions(command, Arguments::command()),
        Command::Man => shell::man(Arguments::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
