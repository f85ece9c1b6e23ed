//! `cargo xtask`: sets up native libraries and data, runs benchmarks and checks.
//!
//! Exit codes: 0 done, 2 bad arguments or bad input, 1 anything else.

// Through `say` instead: these panic where the reader has left.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod archive;
mod bench;
mod build;
mod checksum;
mod ci;
mod cli;
mod complete;
mod doctor;
mod failure;
mod fetch;
mod graph;
mod help;
mod kernels;
mod lint;
mod nearest;
mod paths;
mod perf;
mod process;
mod say;
mod setup;
mod test;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = match cli::Cli::try_parse() {
        Ok(cli) => run(cli).unwrap_or_else(|error| {
            say::error(format_args!("error: {error:#}"));
            failure::exit_code(&error)
        }),
        Err(answer) => cli::show(&answer),
    };
    say::finish(code)
}

fn run(cli: cli::Cli) -> anyhow::Result<ExitCode> {
    let place = paths::Place::from_environment()?;
    match dispatch(&place, cli) {
        Err(error) if error.is::<complete::Needed>() => complete::run_again(&place),
        done => done,
    }
}

fn dispatch(place: &paths::Place, cli: cli::Cli) -> anyhow::Result<ExitCode> {
    let offline = cli.offline;
    match cli.command {
        cli::Command::Setup => setup::run(place, offline),
        cli::Command::Doctor(args) => doctor::run(place, &args, offline),
        cli::Command::FetchData(args) => fetch::run(place, &args, offline),
        cli::Command::BenchUci(args) => {
            bench::run(place, bench::Benchmark::Uci, &args.args, offline)
        }
        cli::Command::BenchVision(args) => {
            bench::run(place, bench::Benchmark::Vision, &args.args, offline)
        }
        cli::Command::BenchToy(args) => bench::plain(place, "bench-toy", &args.args, offline),
        cli::Command::BenchMimic(args) => bench::plain(place, "bench-mimic", &args.args, offline),
        cli::Command::Sweep(args) => bench::sweep(place, &args.args, offline),
        cli::Command::Report(args) => bench::report(place, &args.args, offline),
        cli::Command::Svn(args) => bench::svn(place, &args.args, offline),
        cli::Command::Perf(args) => perf::run(place, &args.args, offline),
        cli::Command::Test(args) => match &args.kernels {
            Some(kernels) => kernels::run(place, kernels, &args.args, offline),
            None if args.native => test::run_native(place, &args.args, offline),
            None => test::run(place, &args.args, offline),
        },
        cli::Command::Lint => lint::run(place, offline),
        cli::Command::Graph => graph::run(place),
        cli::Command::Ci => ci::run(place, offline),
    }
}
