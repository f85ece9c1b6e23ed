//! Running other programs: cargo above all, with the environment it would have on its own.

use crate::say;
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

/// `cargo` in the root of the checkout.
///
/// `cargo run`, which started this program, left variables about this package; a build script that
/// watches them would run again at each switch between plain cargo and `cargo xtask`.
pub(crate) fn cargo(root: &Path, offline: bool) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|n| n.starts_with("CARGO_PKG_") || n.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(&name);
        }
    }
    if offline {
        command.env("CARGO_NET_OFFLINE", "true");
    }
    command
}

/// What `cargo metadata` says of the checkout in `root`, as far as `T` asks for it.
pub(crate) fn cargo_metadata<T: DeserializeOwned>(root: &Path, arguments: &[&str]) -> Result<T> {
    let output = cargo(root, false)
        .args(["metadata", "--format-version", "1"])
        .args(arguments)
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("cannot read the answer of cargo metadata")
}

/// The command line as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_stem()
        .unwrap_or(command.get_program());
    let mut text = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&say::word(argument.to_string_lossy()));
    }
    text
}

/// Prints the command, runs it with this program's input and output, and waits.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    say::error(format_args!("+ {}", shown(command)));
    let name = shown(command);
    command
        .status()
        .with_context(|| format!("cannot run `{name}`"))
}

/// As [`status`]; anything but success is an error.
pub(crate) fn check(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("`{}` failed: {status}", shown(command));
    }
    Ok(())
}

/// The output of a program that is asked something; `None` where it is missing or fails.
pub(crate) fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    answer_of(Command::new(program).args(arguments))
}

/// As [`answer`].
pub(crate) fn answer_of(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The exit code of a child as this program's own; a signal counts as 1.
pub(crate) fn pass_on(status: ExitStatus) -> ExitCode {
    ExitCode::from(
        status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_failing_programs_give_no_answer() {
        assert_eq!(answer("no-such-program-here", &[]), None);
        assert!(
            answer("rustc", &["--version"])
                .unwrap()
                .starts_with("rustc ")
        );
        assert_eq!(answer("rustc", &["--no-such-option"]), None);
    }

    #[test]
    fn shown_is_what_one_types() {
        assert_eq!(
            shown(Command::new("/usr/bin/cargo").args(["test", "--workspace"])),
            "cargo test --workspace"
        );
        assert_eq!(
            shown(Command::new("cargo").arg("a\nb\u{1b}")),
            "cargo a\\nb\\u{1b}"
        );
    }
}
