//! The command from outside.

mod arguments;
mod interruptions;
mod output;
mod slurm;
#[path = "../support/mod.rs"]
mod support;
mod survey;
mod sweep;
mod tuning;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin_cmd;
use support::Ridge;
use svn_bench::cli;

const ARGUMENTS: &str = "SVN_TEST_ARGUMENTS";
const DELAY: &str = "SVN_TEST_DELAY_MS";

/// Not a test: the command with the test runner, for [`with_ridge`] to start as a process of its own.
#[test]
#[ignore = "started by other tests"]
fn svn_with_ridge() {
    let arguments = std::env::var(ARGUMENTS).expect("started by with_ridge");
    let delay = std::env::var(DELAY).map_or(0, |text| text.parse().unwrap());
    let trainer = move |_| -> Result<Box<dyn svn_bench::engine::Trainer>, _> {
        Ok(Box::new(Ridge {
            epoch_delay: Duration::from_millis(delay),
            ..Ridge::default()
        }))
    };
    let code = cli::run(
        std::iter::once("svn")
            .chain(arguments.split('\n'))
            .map(Into::into),
        &trainer,
    );
    std::process::exit(i32::from(code));
}

fn with_ridge(arguments: &[&str], delay_ms: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "svn_with_ridge", "--nocapture"])
        .env(ARGUMENTS, arguments.join("\n"))
        .env(DELAY, delay_ms.to_string())
        .env_remove("SVN_DATA_MIRROR")
        .env_remove("SVN_DATA_DIR")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A text whose tables may be searched for cells: without the blanks that make columns.
fn without_padding(text: &str) -> String {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn finish(child: Child) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

const SHORT: [&str; 7] = [
    "bench-uci",
    "--dataset",
    "autompg",
    "--epochs",
    "3",
    "--jobs",
    "1",
];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [SHORT.as_slice(), more].concat()
}

fn without_timings(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    text.lines()
        .map(|line| line.split(",\"timing\":").next().unwrap().to_owned())
        .collect()
}
