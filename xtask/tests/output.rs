//! Output that nobody reads or that does not fit: the work goes on, and the exit code tells.
#![cfg(target_os = "linux")]

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn xtask(cache: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(args)
        .env("SVN_CACHE_DIR", cache)
        .env_remove("SVN_DATA_DIR")
        .env_remove("SVN_DATA_MIRROR");
    command
}

/// The end of a pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// A file on a disk without room.
fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

fn text(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

const LOST: &str =
    "error: cannot write to standard output: No space left on device (os error 28)\n";

#[test]
fn a_closed_pipe_does_not_stop_a_fetch() {
    let cache = tempfile::tempdir().unwrap();
    let mut fetch = xtask(
        cache.path(),
        &["--offline", "fetch-data", "autompg", "breast"],
    );
    let output = fetch.stdout(closed()).output().unwrap();
    assert_eq!(text(&output), (0, String::new(), String::new()));
    for name in ["autompg.csv", "breast.csv"] {
        assert!(cache.path().join("data").join(name).is_file(), "{name}");
    }
}

#[test]
fn nobody_reads_lists_and_help_and_nothing_is_complained_of() {
    let cache = tempfile::tempdir().unwrap();
    for args in [&["fetch-data", "--list"][..], &["--help"]] {
        let output = xtask(cache.path(), args).stdout(closed()).output().unwrap();
        assert_eq!(text(&output), (0, String::new(), String::new()), "{args:?}");
    }
}

#[test]
fn a_full_disk_is_told_in_one_line() {
    let cache = tempfile::tempdir().unwrap();
    for args in [&["fetch-data", "--list"][..], &["--help"]] {
        let output = xtask(cache.path(), args).stdout(full()).output().unwrap();
        assert_eq!(text(&output), (1, String::new(), LOST.into()), "{args:?}");
    }
}

#[test]
fn a_full_disk_does_not_stop_a_fetch() {
    let cache = tempfile::tempdir().unwrap();
    let mut fetch = xtask(
        cache.path(),
        &["--offline", "fetch-data", "autompg", "breast"],
    );
    let output = fetch.stdout(full()).output().unwrap();
    assert_eq!(text(&output), (1, String::new(), LOST.into()));
    assert!(cache.path().join("data/breast.csv").is_file());
}

#[test]
fn errors_that_cannot_be_shown_keep_their_exit_code() {
    let cache = tempfile::tempdir().unwrap();
    for args in [&["fetch-data", "yatch"][..], &["no-such-command"]] {
        for stderr in [closed(), full().into()] {
            let output = xtask(cache.path(), args).stderr(stderr).output().unwrap();
            assert_eq!(text(&output), (2, String::new(), String::new()), "{args:?}");
        }
    }
}

#[test]
fn control_characters_of_arguments_reach_no_terminal() {
    let cache = tempfile::tempdir().unwrap();
    let (code, _, error) = text(
        &xtask(cache.path(), &["fetch-data", "a\n\u{1b}[2J\u{7}"])
            .output()
            .unwrap(),
    );
    assert_eq!(code, 2);
    let start = "error: unknown data set `a\\n\\u{1b}[2J\\u{7}`; ";
    assert!(error.starts_with(start), "{error:?}");
    for args in [&["\u{1b}[2Jx\u{7}"][..], &["graph", "\u{1b}[2Jx\u{9b}"]] {
        let (code, _, error) = text(&xtask(cache.path(), args).output().unwrap());
        assert_eq!(code, 2);
        let obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!error.contains(obeyed), "{error:?}");
    }
}

#[test]
fn control_characters_of_files_reach_no_terminal() {
    let cache = tempfile::tempdir().unwrap();
    let manifest = cache.path().join("manifest.toml");
    std::fs::write(&manifest, "schema = 1\n\u{1b}]0;title\u{7} = \n").unwrap();
    let mut fetch = xtask(cache.path(), &["fetch-data", "tiny", "--manifest"]);
    let (code, _, error) = text(&fetch.arg(&manifest).output().unwrap());
    assert_eq!(code, 2);
    assert!(error.contains("\\u{1b}]0;title\\u{7}"), "{error:?}");
    assert!(!error.contains(['\u{1b}', '\u{7}']), "{error:?}");
}
