//! The `svn` command.

use std::process::ExitCode;

use svn_bench::{cli, engine};

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os(), &engine::networks))
}
