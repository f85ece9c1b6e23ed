//! A posterior of the size of a UCI set, by a long Hamiltonian Monte Carlo run, and how far the methods are from it.
//!
//! ```text
//! cargo run --release -p svn-bench --no-default-features --example yacht_hmc -- hmc > crates/svn-bench/experiments/yacht/hmc.json
//! cargo run --release -p svn-bench --no-default-features --example yacht_hmc -- methods --seconds 60 > runs.jsonl
//! cargo run --release -p svn-bench --no-default-features --example yacht_hmc -- table runs.jsonl
//! ```
//!
//! 6-50-50-2 tanh network, the outputs mean and noise of a Gaussian, on the training rows of fold 0 of the paper's protocol. The chains
//! move all weights but those of the mean's output, which are integrated out, see `marginal`. Convergence is judged by the function, as
//! for the toy study.

#[path = "../chains/mod.rs"]
mod chains;
mod fidelity;
mod marginal;
mod methods;
mod output;
mod problem;
mod reference;
mod table;

use std::path::PathBuf;

use chains::hmc::Failure;
use clap::{Parser, Subcommand};
use problem::Problem;

#[derive(Debug, Parser)]
struct Arguments {
    /// Folder with the data file, searched before all others
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sample the posterior; JSON to standard output
    Hmc(reference::Length),
    /// Train each method for the same time; JSON to standard output, a line a run
    Methods(methods::Options),
    /// Compare such runs with the posterior; a Markdown table to standard output
    Table {
        /// Lines of runs
        runs: PathBuf,
    },
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let problem = || Problem::load(arguments.data.as_deref(), 0, 0);
    match &arguments.command {
        Command::Hmc(length) => {
            let output = reference::sample(&problem()?, *length)?;
            serde_json::to_writer_pretty(std::io::stdout().lock(), &output)?;
            println!();
            Ok(())
        }
        Command::Methods(options) => methods::train(&problem()?, options),
        Command::Table { runs } => table::print(output::TEXT, runs),
    }
}
