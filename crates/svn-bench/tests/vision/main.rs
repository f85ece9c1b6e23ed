//! `svn bench-vision` from outside: what is refused, what six methods learn, what a run that is killed leaves behind.
#![cfg(feature = "torch")]

mod learning;
mod refusals;
mod runs;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn svn(arguments: &str, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svn"));
    command
        .arg("bench-vision")
        .args(arguments.split_whitespace())
        .arg("--out")
        .arg(out)
        .env_remove("SVN_DATA_DIR");
    command
}

/// Exit code, standard output, standard error.
fn finish(command: &mut Command) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn records(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn without_timings(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let head = |line: &str| line.split(",\"timing\":").next().unwrap().to_owned();
    text.lines().map(head).collect()
}
