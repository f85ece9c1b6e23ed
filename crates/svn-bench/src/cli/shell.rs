//! Completions for shells and the manual page, both made from the arguments.

use clap::Args;
use clap_complete::Shell;

use super::Outcome;
use crate::terminal::{DONE, print};

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Name of the shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

pub(super) fn completions(arguments: &Completions, mut command: clap::Command) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "svn", &mut text);
    print::out(String::from_utf8_lossy(&text).trim_end())?;
    Ok(DONE)
}

/// The page of the command, and behind it one of each subcommand.
pub(super) fn man(mut command: clap::Command) -> Outcome {
    command.build();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for subcommand in command.get_subcommands() {
        clap_mangen::Man::new(subcommand.clone()).render(&mut text)?;
    }
    print::out(String::from_utf8_lossy(&text).trim_end())?;
    Ok(DONE)
}
