//! `svn sweep`: what a plan asks for, done by processes here, by Slurm, or by commands for GNU parallel.

mod engines;
mod planned;
mod show;
mod studies;
mod work;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use self::planned::Planned;
use self::studies::Parser;
use super::value::{count, positive_count};
use super::{Outcome, TrainerFactory};
use crate::sweep::{Folder, Plan};

/// Runs of many settings, methods and data sets. What is done already, by this plan or by another one, is not done again.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "docs/cluster.md has a worked example; docs/plans are plans. Exit codes: 0 done, 2 bad arguments or input, 1 anything \
                  else (a run that failed or is missing)."
)]
pub(super) struct Sweep {
    #[command(subcommand)]
    part: Option<Part>,

    /// The plan, a TOML file: which study, options and settings, grids or random draws of them
    #[arg(value_name = "PLAN.toml", required = true)]
    plan: Option<PathBuf>,

    #[command(flatten)]
    home: Home,

    /// Say how many runs there are and about how long they take; do none
    #[arg(long)]
    dry_run: bool,

    /// Do not train configurations for two epochs to see how long they take
    #[arg(long)]
    no_probe: bool,

    /// Who does the runs
    #[arg(long, value_name = "NAME", default_value = "local")]
    engine: Engine,

    /// Processes at a time, for --engine local [default: number of cores]
    #[arg(long, value_name = "N", value_parser = count::<1024>)]
    workers: Option<usize>,

    /// Write the script for Slurm, but do not submit it
    #[arg(long)]
    no_submit: bool,

    /// Runs of a task, one after the other, for --engine slurm and parallel [default: as few as make at most 1000 tasks]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    per_task: Option<usize>,

    /// An option for every task, such as --partition=short; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,

    /// Try runs that failed once more
    #[arg(long)]
    resubmit_failed: bool,

    /// No progress, only warnings and results
    #[arg(short, long)]
    quiet: bool,
}

/// The folder of all sweeps.
#[derive(Debug, Args)]
struct Home {
    /// Folder of the records, which plans share
    #[arg(long, value_name = "DIR", default_value = "results/sweep")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Processes on this machine
    Local,
    /// An array of tasks for sbatch
    Slurm,
    /// A file of commands, for GNU parallel
    Parallel,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Merge the records of a plan, and say what is missing or failed
    Collect(Collect),
    /// Do one task of an array; what scripts call
    Task(Task),
    /// Do the jobs of standard input; what --engine local starts
    #[command(hide = true)]
    Work(Home),
}

#[derive(Debug, Args)]
struct Collect {
    /// The plan
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,

    #[command(flatten)]
    home: Home,
}

#[derive(Debug, Args)]
struct Task {
    /// The tasks
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Which of them, from 0
    #[arg(long, value_name = "I")]
    index: usize,

    #[command(flatten)]
    home: Home,
}

pub(super) fn run(sweep: &Sweep, trainer: TrainerFactory<'_>) -> Outcome {
    let mut parser = Parser::new();
    match (&sweep.part, &sweep.plan) {
        (Some(Part::Collect(collect)), _) => {
            let plan = Plan::read(&collect.plan)?;
            let planned = Planned::new(&plan, &collect.home.out, &mut parser)?;
            show::state(&planned)
        }
        (Some(Part::Task(task)), _) => work::task(task, parser, trainer),
        (Some(Part::Work(home)), _) => work::serve(&Folder::new(&home.out), parser, trainer),
        (None, Some(path)) => {
            let plan = Plan::read(path)?;
            let planned = Planned::new(&plan, &sweep.home.out, &mut parser)?;
            engines::run(sweep, &plan, planned, &mut parser)
        }
        // The parser asks for one of them.
        (None, None) => Ok(crate::terminal::BAD_INPUT),
    }
}
