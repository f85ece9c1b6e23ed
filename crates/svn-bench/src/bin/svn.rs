//! The `svn` command.

use std::process::ExitCode;

use svn_bench::cli;
use svn_bench::experiment::uci::train;

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os(), &train::runner))
}
