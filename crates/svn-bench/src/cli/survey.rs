//! `svn report` without a folder: every study and figure on one page.

use std::path::{Path, PathBuf};

use clap::Parser;

use super::report::Report;
use super::{Arguments, Outcome, TrainerFactory, dispatch};
use crate::survey::{self, RUNS, Sources};
use crate::terminal::{DONE, print};

/// Where the results of a checkout are.
const RESULTS: &str = "docs/results";

pub(super) fn run(report: &Report, trainer: TrainerFactory<'_>) -> Outcome {
    let shipped = || Some(PathBuf::from(RESULTS)).filter(|folder| folder.is_dir());
    let sources = Sources {
        out: report
            .out
            .clone()
            .unwrap_or_else(|| Path::new("results").join("report")),
        results: report.results.clone().or_else(shipped),
        quick: report.quick,
        commit: std::env::var("SVN_COMMIT")
            .ok()
            .filter(|commit| !commit.is_empty()),
    };
    if report.quick {
        for run in RUNS {
            for command in run.quick {
                quick(command, &sources.out.join(run.folder), trainer);
            }
        }
    }
    let sections = survey::sections(&sources)?;
    let page = survey::write(&sources, &sections)?;
    print::out(page.display())?;
    Ok(DONE)
}

/// A small part of a study, into its folder. What fails is told; the page then says what is missing.
fn quick(command: &str, folder: &Path, trainer: TrainerFactory<'_>) {
    print::error(command);
    let words = ["svn"].into_iter().chain(command.split(' '));
    let mut given: Vec<String> = words
        .chain(["--quiet", "--out"])
        .map(str::to_owned)
        .collect();
    given.push(folder.to_string_lossy().into_owned());
    let done = match Arguments::try_parse_from(&given) {
        Ok(arguments) => dispatch(&arguments.command, &given, trainer).map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = done {
        print::error(format_args!("warning: {command}: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command of the page that the command line does not understand would only be seen by who runs it.
    #[test]
    fn commands_of_the_page_are_commands() {
        for run in RUNS {
            for command in run.quick.iter().chain([&run.whole]) {
                let words = ["svn"].into_iter().chain(command.split(' '));
                let parsed = Arguments::try_parse_from(words);
                assert!(parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
            }
        }
    }
}
