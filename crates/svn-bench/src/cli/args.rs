//! The arguments of `svn`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::training::{Training, Uci};
use super::value::{folds, positive_count};
use crate::experiment::Method;
use crate::experiment::uci::{ProtocolName, TunedSource, UciOptions};

/// Stein variational Newton neural network ensembles.
#[derive(Debug, Parser)]
#[command(name = "svn", version, about)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Benchmark particle methods on UCI data sets
    BenchUci(Box<BenchUci>),
    /// Benchmark particle methods on images, with LeNet
    BenchVision(Box<super::vision_args::BenchVision>),
    /// Show the native libraries in use and check that they compute right
    Doctor,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Exit codes: 0 done, 2 bad arguments or input, 1 anything else (a fold that failed)."
)]
pub(super) struct BenchUci {
    /// Data set; may be repeated
    #[arg(long = "dataset", value_name = "NAME", required_unless_present = "all")]
    pub datasets: Vec<String>,

    /// All data sets but those with a leak
    #[arg(long, conflicts_with = "datasets")]
    pub all: bool,

    /// Method: ensemble, wgd, svgd, svn, ll-svn or ssvn; may be repeated [default: ensemble wgd svgd svn]
    #[arg(long = "method", value_name = "NAME")]
    pub methods: Vec<Method>,

    /// Splits: paper (cross-validation, 64/16/20 %) or standard (random 90/10 %)
    #[arg(long, value_name = "NAME", default_value = "paper", value_parser = protocol)]
    pub protocol: ProtocolName,

    /// Folds or random splits [default: 5 (paper), 20 or for large sets 5 (standard)]
    #[arg(long, value_name = "K", value_parser = folds)]
    pub folds: Option<usize>,

    /// Seed of splits and training
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Worker threads, one fold each [default: number of cores]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    pub jobs: Option<usize>,

    /// Folder for records, summary, report and figures; a rerun resumes
    #[arg(long, value_name = "DIR", default_value = "results/bench-uci")]
    pub out: PathBuf,

    /// Folder that is searched first for NAME.csv and NAME.csv.gz
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    #[command(flatten)]
    pub training: Training<Uci>,

    /// Settings instead of those built in: a file of one TOML table a method, or a folder of DATASET.toml
    #[arg(long, value_name = "PATH", conflicts_with = "untuned")]
    pub settings: Option<PathBuf>,

    /// No tuned settings: the methods' defaults
    #[arg(long)]
    pub untuned: bool,

    #[command(flatten)]
    pub tuning: Tuning,

    /// No progress, only warnings and the table
    #[arg(short, long)]
    pub quiet: bool,
}

/// Choice of settings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tuning")]
pub(super) struct Tuning {
    /// Choose settings on the validation rows instead of running the benchmark; OUT/tuned gets a file a data set, for
    /// --settings. What the command line sets is fixed. A rerun resumes
    #[arg(long, conflicts_with_all = ["settings", "untuned"])]
    pub tune: bool,

    /// Configurations a method and data set
    #[arg(long, value_name = "N", value_parser = positive_count, default_value = "18", requires = "tune")]
    pub tune_budget: usize,

    /// Folds a configuration is tried on, the first ones [default: all]
    #[arg(long, value_name = "K", value_parser = positive_count, requires = "tune")]
    pub tune_folds: Option<usize>,
}

impl BenchUci {
    fn tuned(&self) -> TunedSource {
        match &self.settings {
            _ if self.tuning.tune => TunedSource::Untuned,
            Some(path) => TunedSource::Path(path.clone()),
            None if self.untuned => TunedSource::Untuned,
            None => TunedSource::BuiltIn,
        }
    }

    /// What to run, but for the names behind `--all`.
    pub(super) fn options(&self, all: impl FnOnce() -> Vec<String>) -> UciOptions {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        UciOptions {
            datasets: if self.all {
                all()
            } else {
                self.datasets.clone()
            },
            methods: if self.methods.is_empty() {
                Method::STANDARD.to_vec()
            } else {
                self.methods.clone()
            },
            protocol: self.protocol,
            folds: self.folds,
            seed: self.seed,
            settings: self.training.recipe.clone(),
            tuned: self.tuned(),
            jobs: self.jobs.unwrap_or_else(cores),
        }
    }
}

fn protocol(text: &str) -> Result<ProtocolName, String> {
    match text {
        "paper" => Ok(ProtocolName::Paper),
        "standard" => Ok(ProtocolName::Standard),
        _ => Err("expected paper or standard".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
