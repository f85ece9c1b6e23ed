//! What programs of this crate say, and how they end: lines, tables, exit codes.

pub(crate) mod print;
mod table;

pub(crate) use table::markdown_table;
#[cfg(test)]
pub(crate) use table::without_padding;
pub use table::{Grid, render};

use clap::error::{ContextKind, ErrorKind};

/// Everything was done.
pub const DONE: u8 = 0;
/// Something failed that is not the user's fault, or a run failed.
pub const FAILED: u8 = 1;
/// Arguments or input are wrong; one line on standard error says how.
pub const BAD_INPUT: u8 = 2;

/// Help and version as they are; anything else as one line.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    let shown = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if shown || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A closed pipe is no reason to complain.
        let _ = error.print();
        return if shown { DONE } else { BAD_INPUT };
    }
    print::error(format_args!("{}; see --help", sentence(error)));
    BAD_INPUT
}

/// What is wrong with arguments, in one line that begins with `error: `.
pub(crate) fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    // The first paragraph says what is wrong; usage and hints follow.
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
    let near = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
        ContextKind::SuggestedSubcommand,
    ];
    let near = near.into_iter().find_map(|kind| error.get(kind));
    let near = near.map_or_else(String::new, |name| format!("; did you mean {name}?"));
    lines.join(" ") + &near
}
