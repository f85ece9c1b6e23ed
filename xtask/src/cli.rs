//! The command line of `cargo xtask`.

use crate::{help, say};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Sets up native libraries and data, runs benchmarks and checks.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    version,
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// Forbid every set-up step and download; say what is missing instead
    #[arg(long, global = true)]
    pub offline: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Find or install libtorch and OpenBLAS, so that plain cargo commands work
    ///
    /// libtorch, first match wins: LIBTORCH of your own; LIBTORCH_USE_PYTORCH=1 (the PyTorch of your
    /// Python); the cache; an installation into the cache through pip. The cache is SVN_CACHE_DIR,
    /// else $XDG_CACHE_HOME/svn-ensembles, else ~/.cache/svn-ensembles, and is shared by checkouts.
    Setup,
    /// Print versions, paths, threads and data found, and check the numeric libraries
    ///
    /// Changes nothing but what `cargo build` changes. Exit code 1 if a required part is missing or
    /// a check fails.
    Doctor(DoctorArgs),
    /// Download data sets, verify them and convert them to the common CSV form; image sets stay IDX files
    FetchData(FetchArgs),
    /// Run the UCI benchmark: data first, then `svn bench-uci ARGS`
    ///
    /// Everything after `bench-uci` goes to the benchmark; once that is built, `cargo xtask bench-uci -- --help` lists
    /// all its options. Data sets named by `--dataset` or `--all` are fetched where needed. Built without libtorch and
    /// OpenBLAS, unless `--backend torch` asks for them.
    #[command(arg_required_else_help = true, after_help = help::UCI)]
    BenchUci(PassedOn),
    /// Run the image benchmark: libraries and data first, then `svn bench-vision ARGS`
    ///
    /// Everything after `bench-vision` goes to the benchmark; once that is built, `cargo xtask bench-vision -- --help`
    /// lists all its options. Image sets named by `--dataset` are fetched where needed, and those whose images are
    /// foreign to them.
    #[command(arg_required_else_help = true, after_help = help::VISION)]
    BenchVision(PassedOn),
    /// Compare methods with the posterior on a curve with a gap: `svn bench-toy ARGS`; needs no data
    ///
    /// Everything after `bench-toy` goes to the study; once that is built, `cargo xtask bench-toy -- --help` lists all
    /// its options.
    BenchToy(PassedOn),
    /// Predict lengths of stay of MIMIC-IV: `svn bench-mimic ARGS`; made-up patients where no data are found
    ///
    /// Everything after `bench-mimic` goes to the study; once that is built, `cargo xtask bench-mimic -- --help` lists all
    /// its options. Built in the release profile for `--data`, whose tables have hundreds of millions of rows.
    #[command(after_help = help::MIMIC)]
    BenchMimic(PassedOn),
    /// Do what a plan asks for, here or on a cluster: data first, then `svn sweep PLAN.toml ARGS`
    ///
    /// Everything after `sweep` goes to the command; once that is built, `cargo xtask sweep -- --help` lists all its options.
    /// `--offline` goes before `sweep`.
    #[command(arg_required_else_help = true, after_help = help::SWEEP)]
    Sweep(PassedOn),
    /// Every study and figure on one page: `svn report [--quick] --out DIR`; of one study with `--from DIR`
    ///
    /// The page shows the records in DIR and those of docs/results, and says for the rest which command makes them. `--quick` runs a
    /// small part of each study first.
    Report(PassedOn),
    /// Build the command `svn` where needed and run it: `cargo xtask svn fit data.csv --target price --out model`
    #[command(arg_required_else_help = true)]
    Svn(PassedOn),
    /// Measure time, allocations and operation counts of one step of each method
    ///
    /// Everything after `perf` goes to the suite; once that is built, `cargo xtask perf -- --help` lists its options.
    /// `--quick` is a smoke test on the dev profile. `--peers` also runs the Python scripts in `xtask/peers`, with
    /// `--python PATH` (repeated) instead of python3.
    #[command(after_help = help::PERF)]
    Perf(PassedOn),
    /// Run the tests of the crates in the build without native libraries; ARGS go to `cargo test`
    Test(TestArgs),
    /// Formatting, clippy and documentation, warnings denied
    Lint,
    /// Check that the crates, and the modules of svn-bench, depend on each other one way only
    Graph,
    /// lint, graph, perf --quick, test, test --native and test --kernels Prescott
    Ci,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// One JSON object instead of lines: ready, found, missing, numeric_check
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Data sets; `--list` shows the known ones
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Every table of the manifest; image sets are named
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// A folder of converted files (NAME.csv or NAME.csv.gz, NAME/train-images-idx3-ubyte.gz) used instead of the network
    #[arg(long, value_name = "DIR", env = "SVN_DATA_MIRROR")]
    pub mirror: Option<PathBuf>,
    /// Show the known data sets and which are here
    #[arg(long, conflicts_with_all = ["names", "all"])]
    pub list: bool,
    /// Another manifest than datasets/manifest.toml
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PassedOn {
    /// Options of the benchmark
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub args: Vec<String>,
}

#[derive(Args)]
pub(crate) struct TestArgs {
    /// All features and xtask: libtorch and OpenBLAS, which are set up first
    #[arg(long, conflicts_with = "kernels")]
    pub native: bool,
    /// Only the numeric crates, on these kernels of OpenBLAS (OPENBLAS_CORETYPE): Prescott, Nehalem, Haswell, …
    ///
    /// Doctests are left out, and so is everything where OpenBLAS has no kernels to choose from (other processors than
    /// x86-64, no DYNAMIC_ARCH). Nothing is built that `test --native` has not built.
    #[arg(long, value_name = "NAME")]
    pub kernels: Option<String>,
    /// Options of `cargo test`, after `--`
    #[arg(value_name = "ARGS", last = true)]
    pub args: Vec<String>,
}

/// Shows what the parser has to say instead of a command: help, the version, or what is wrong with the arguments.
pub(crate) fn show(answer: &clap::Error) -> ExitCode {
    if answer.use_stderr() {
        // Its text without colours: it repeats arguments.
        say::error(answer.render().to_string().trim_end());
        return ExitCode::from(2);
    }
    say::note(answer.print());
    ExitCode::SUCCESS
}

/// What `cargo xtask COMMAND --help` shows.
pub(crate) fn help_of(command: &str) -> String {
    let mut cli = Cli::command();
    // Names the commands in full.
    cli.build();
    let found = cli.find_subcommand_mut(command);
    found.map_or_else(String::new, |command| {
        command.render_long_help().to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn benchmark_options_pass_through() {
        let cli = Cli::try_parse_from(["xtask", "bench-uci", "--dataset", "yacht", "--out", "x"])
            .unwrap();
        let Command::BenchUci(args) = cli.command else {
            panic!("another command")
        };
        assert_eq!(args.args, ["--dataset", "yacht", "--out", "x"]);
    }
}
