//! The command line from outside: help, exit codes, messages. Needs no native library.

use assert_cmd::Command;
use predicates::prelude::*;
use std::path::Path;

fn xtask(cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    for name in [
        "SVN_DATA_DIR",
        "SVN_DATA_MIRROR",
        "LIBTORCH",
        "LIBTORCH_USE_PYTORCH",
    ] {
        command.env_remove(name);
    }
    command.env("SVN_CACHE_DIR", cache);
    command
}

#[test]
fn every_command_has_help() {
    let cache = tempfile::tempdir().unwrap();
    for command in [
        "setup",
        "doctor",
        "fetch-data",
        "bench-uci",
        "bench-vision",
        "perf",
        "test",
        "lint",
        "graph",
        "ci",
    ] {
        let usage = predicate::str::contains(format!("Usage: cargo xtask {command}"));
        xtask(cache.path())
            .args([command, "--help"])
            .assert()
            .success()
            .stdout(usage);
    }
}

#[test]
fn bad_arguments_end_with_2() {
    let cache = tempfile::tempdir().unwrap();
    xtask(cache.path()).assert().code(2);
    xtask(cache.path()).arg("fetch").assert().code(2);
    xtask(cache.path())
        .args(["fetch-data", "--all", "yacht"])
        .assert()
        .code(2);
}

#[test]
fn unknown_data_sets_are_answered_with_the_known_ones() {
    let cache = tempfile::tempdir().unwrap();
    let known = "unknown data set `yatch`: did you mean `yacht`? known: yacht, energy, energy_y1y2, concrete, autompg, kin8nm, naval, power, \
                 protein, wine, australian, breast, ionosphere, parkinsons, heart\n";
    let said = predicate::eq(format!("error: {known}"));
    let with_images = known.replace("heart\n", "heart, mnist, fashion-mnist\n");
    xtask(cache.path())
        .args(["fetch-data", "yatch"])
        .assert()
        .code(2)
        .stderr(format!("error: {with_images}"));
    xtask(cache.path())
        .args(["bench-vision", "--dataset", "emnist"])
        .assert()
        .code(2)
        .stderr(predicate::str::starts_with(
            "error: unknown image set `emnist`: did you mean `mnist`? known: mnist, ",
        ));
    xtask(cache.path())
        .args(["bench-uci", "--dataset", "yatch"])
        .assert()
        .code(2)
        .stderr(said);
    let nothing = predicate::str::starts_with("error: name data sets, or --all; known: yacht, ");
    xtask(cache.path())
        .arg("fetch-data")
        .assert()
        .code(2)
        .stderr(nothing);
}

/// `cargo` that cannot run and no program that is built.
fn before_the_first_build(folder: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = xtask(folder);
    command
        .args(args)
        .env("CARGO", folder.join("no-cargo"))
        .env("CARGO_TARGET_DIR", folder.join("target"));
    let done = command.assert();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "{args:?}");
    done
}

#[test]
fn help_and_wrong_arguments_of_a_benchmark_build_and_fetch_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (benchmark, example) in [
        ("bench-uci", "bench-uci --dataset yacht "),
        ("bench-vision", "bench-vision --dataset synthetic-digits "),
    ] {
        let all =
            format!("cargo run --no-default-features --package svn-bench -- {benchmark} --help");
        let told = || {
            predicate::str::contains(example)
                .and(predicate::str::contains("--method NAME"))
                .and(predicate::str::contains(all.clone()))
        };
        for help in [
            &[benchmark, "--", "--help"][..],
            &[benchmark, "--help"],
            &[benchmark, "-h"],
        ] {
            before_the_first_build(folder.path(), help)
                .success()
                .stdout(told());
        }
        before_the_first_build(folder.path(), &[benchmark])
            .code(2)
            .stderr(told());
        let unnamed =
            predicate::str::is_match(r"^error: name (data|image) sets: --dataset NAME ").unwrap();
        before_the_first_build(folder.path(), &[benchmark, "--seed", "1"])
            .code(2)
            .stderr(unnamed.and(predicate::str::contains("\n").count(1)));
    }
    before_the_first_build(folder.path(), &["perf", "--", "--help"])
        .success()
        .stdout(predicate::str::contains("--bin svn-perf -- --help"));
    before_the_first_build(folder.path(), &["bench-uci", "--all", "--dataset", "yacht"])
        .code(2)
        .stderr("error: --all and --dataset exclude each other\n");
}

#[cfg(unix)]
#[test]
fn a_built_benchmark_lists_its_options_itself() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("debug")).unwrap();
    std::os::unix::fs::symlink("/bin/echo", folder.path().join("debug/svn")).unwrap();
    xtask(folder.path())
        .args(["bench-uci", "--dataset", "yacht", "--help"])
        .env("CARGO_TARGET_DIR", folder.path())
        .assert()
        .success()
        .stdout("bench-uci --help\n");
}

#[test]
fn the_version_is_printed() {
    let cache = tempfile::tempdir().unwrap();
    xtask(cache.path())
        .arg("--version")
        .assert()
        .success()
        .stdout(concat!("cargo xtask ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn bundled_sets_need_no_network_and_land_in_the_cache() {
    let cache = tempfile::tempdir().unwrap();
    let fetch = |expected: &'static str| {
        let mut command = xtask(cache.path());
        command
            .args(["--offline", "fetch-data", "autompg", "breast"])
            .assert()
            .success()
            .stdout(expected);
    };
    fetch("autompg: from the checkout\nbreast: from the checkout\n");
    fetch("autompg: already in the cache\nbreast: already in the cache\n");
    assert_eq!(
        std::fs::read_dir(cache.path().join("data"))
            .unwrap()
            .count(),
        2
    );
    let listed = predicate::str::is_match("(?m)^yacht +regression +308 +6  no$").unwrap();
    let listed = listed.and(
        predicate::str::is_match("(?m)^breast +classification +569 +30  in the cache$").unwrap(),
    );
    xtask(cache.path())
        .args(["fetch-data", "--list"])
        .assert()
        .success()
        .stdout(listed);
}

#[test]
fn a_cache_that_cannot_be_written_is_told_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("file/cache");
    std::fs::write(folder.path().join("file"), "").unwrap();
    let said = predicate::str::contains(format!("cannot write {}", cache.display()))
        .and(predicate::str::contains("set SVN_CACHE_DIR to a folder"));
    xtask(&cache)
        .args(["--offline", "fetch-data", "autompg"])
        .assert()
        .code(1)
        .stderr(said);
}

#[test]
fn offline_forbids_downloads() {
    let cache = tempfile::tempdir().unwrap();
    let said = predicate::str::contains("yacht: not in")
        .and(predicate::str::contains("--offline forbids downloading it"))
        .and(predicate::str::contains("error: 1 of 2 data sets failed"));
    xtask(cache.path())
        .args(["fetch-data", "autompg", "yacht", "--offline"])
        .assert()
        .code(1)
        .stderr(said);
}

#[test]
fn a_wrong_libtorch_of_the_users_own_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let said = predicate::str::contains(
        "LIBTORCH=/no/such/folder: expected a folder with lib/libtorch.so and include/",
    );
    xtask(cache.path())
        .env("LIBTORCH", "/no/such/folder")
        .args(["setup", "--offline"])
        .assert()
        .code(2)
        .stderr(said);
}
