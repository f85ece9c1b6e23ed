//! Arguments that are refused, help, what is not built in.

use super::*;

#[test]
fn bad_arguments_are_one_line_and_exit_2() {
    let number = "expected a whole number, 1 to 1e9";
    let rate = "expected a positive finite number";
    for (arguments, message) in [
        (vec!["--particles", "0"], format!("invalid value '0' for '--particles <N>': {number}")),
        (vec!["--particles", "-3"], format!("invalid value '-3' for '--particles <N>': {number}")),
        (vec!["--particles", "five"], format!("invalid value 'five' for '--particles <N>': {number}")),
        (vec!["--folds", "1"], "invalid value '1' for '--folds <K>': expected a whole number, at least 2".to_owned()),
        (vec!["--epochs", "0"], format!("invalid value '0' for '--epochs <N>': {number}")),
        (vec!["--jobs", "0"], "invalid value '0' for '--jobs <N>': expected a whole number, at least 1".to_owned()),
        (vec!["--folds", "18446744073709551615"], "invalid value '18446744073709551615' for '--folds <K>': expected a whole number, at most 1000000".to_owned()),
        (vec!["--particles", "18446744073709551615"], format!("invalid value '18446744073709551615' for '--particles <N>': {number}")),
        (vec!["--tune", "--tune-budget", "100000"], "invalid value '100000' for '--tune-budget <N>': expected a whole number, at most 1000".to_owned()),
        (vec!["--ring", "0"], format!("invalid value '0' for '--ring <N>': {number}")),
        (vec!["--hidden", "50,0"], "invalid value '50,0' for '--hidden <UNITS>': expected whole numbers, each 1 to 1e6".to_owned()),
        (vec!["--lr", "-0.1"], format!("invalid value '-0.1' for '--lr <RATE>': {rate}")),
        (vec!["--lr", "nan"], format!("invalid value 'nan' for '--lr <RATE>': {rate}")),
        (vec!["--lr", "0"], format!("invalid value '0' for '--lr <RATE>': {rate}")),
        (vec!["--prior-precision", "inf"], format!("invalid value 'inf' for '--prior-precision <VALUE>': {rate}")),
        (
            vec!["--damping", "-1"],
            "invalid value '-1' for '--damping <VALUE>': expected a finite number, 0 or more".to_owned(),
        ),
        (
            vec!["--bandwidth", "-1"],
            "invalid value '-1' for '--bandwidth <VALUE>': expected median, 2d, a positive number, or one with the word medians".to_owned(),
        ),
        (
            vec!["--method", "sgd"],
            "invalid value 'sgd' for '--method <NAME>': unknown method `sgd`; known: ensemble, wgd, svgd, f-wgd, newton-ensemble, f-svn, svn, ll-svn, ssvn, linear".to_owned(),
        ),
        (
            vec!["--coupling", "none"],
            "invalid value 'none' for '--coupling <NAME>': expected exact, gram, block-repulsion, block-diagonal"
                .to_owned(),
        ),
        (
            vec!["--solver", "exact"],
            "invalid value 'exact' for '--solver <NAME>': expected auto, direct, dense, cg, preconditioned or minres".to_owned(),
        ),
        (
            vec!["--noise", "loud"],
            "invalid value 'loud' for '--noise <NAME>': expected homoscedastic or heteroscedastic".to_owned(),
        ),
        (vec!["--protocol", "mine"], "invalid value 'mine' for '--protocol <NAME>': expected paper or standard".to_owned()),
        (vec!["--epoch", "1"], "unexpected argument '--epoch' found; did you mean --epochs?".to_owned()),
        (vec!["--all"], "the argument '--dataset <NAME>' cannot be used with '--all'".to_owned()),
    ] {
        let mut command = cargo_bin_cmd!("svn");
        let assert = command.args(["bench-uci", "--dataset", "yacht"]).args(&arguments).assert().code(2);
        let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        assert_eq!(stderr, format!("error: {message}; see --help\n"), "{arguments:?}");
    }
}

#[test]
fn unknown_names_and_missing_files_are_one_line_and_exit_2() {
    let (data, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = |arguments: &[&str]| {
        let out = out.path().join("out");
        let all = [&["bench-uci", "--out", out.to_str().unwrap()], arguments].concat();
        finish(with_ridge(&all, 0))
    };
    let (code, _, stderr) = run(&["--dataset", "yaht"]);
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with(
            "error: unknown data set `yaht`, did you mean `yacht`?; known: yacht, energy,"
        ),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1);

    let folder = data.path().to_str().unwrap();
    let (code, _, stderr) = run(&["--dataset", "yacht", "--data", folder]);
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with(&format!(
            "error: data set `yacht` not found: looked for yacht.csv and yacht.csv.gz in {folder} (--data)"
        )) && stderr.ends_with("; fetch it with `cargo xtask fetch-data yacht` or name its folder with --data DIR\n"),
        "{stderr}"
    );
    std::fs::write(
        data.path().join("yacht.csv.gz"),
        "<html>404 Not Found</html>",
    )
    .unwrap();
    let (code, _, stderr) = run(&["--dataset", "yacht", "--data", folder]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("yacht.csv.gz: this is an HTML page, not data"),
        "{stderr}"
    );

    let fails = |arguments: &[&str], message: &str| {
        let (code, _, stderr) = run(&[&["--dataset", "autompg"], arguments].concat());
        let start = format!("error: {message}");
        assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
        assert!(stderr.starts_with(&start), "{stderr}");
    };
    fails(&["--particles", "1000000000"], "autompg, ensemble: ");
    fails(
        &["--data", folder],
        &format!("--data {folder} has no autompg, which would be read from "),
    );
    fails(
        &["--data", "/nonexistent"],
        "--data /nonexistent: no such folder",
    );
    let (code, _, stderr) = run(&[]);
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with("error: nothing to do: name a --dataset or say --all; known: yacht, "),
        "{stderr}"
    );
    fails(
        &["--batch-size", "300"],
        "autompg, ensemble: batch_size is 300; expected at most the 250 training rows",
    );
    fails(
        &["--folds", "400"],
        "data set `autompg`: 392 rows are too few for 400 folds: the test part of fold 393 would be empty",
    );
    assert!(
        !out.path().join("out").exists(),
        "bad input leaves nothing behind"
    );
    for name in ["~", " ", "-"] {
        let (code, _, stderr) = finish(with_ridge(&short(&["--out", name]), 0));
        let expected = format!("error: --out `{name}`: expected the name of a folder\n");
        assert_eq!((code, stderr), (2, expected));
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for (arguments, text) in [
        (vec!["--help"], "bench-uci"),
        (vec!["--version"], "svn 0."),
        (vec!["bench-uci", "--help"], "--trust-region <VALUE>"),
    ] {
        let assert = cargo_bin_cmd!("svn").args(&arguments).assert().success();
        assert!(
            String::from_utf8_lossy(&assert.get_output().stdout).contains(text),
            "{arguments:?}"
        );
    }
    cargo_bin_cmd!("svn").assert().code(2);
}

#[test]
#[cfg(not(feature = "torch"))]
fn what_is_not_built_in_is_named_with_the_command_that_gives_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = cargo_bin_cmd!("svn")
        .args(["bench-vision", "--dataset", "synthetic-digits", "--out"])
        .arg(folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    let start = "error: bench-vision needs the feature torch: cargo run ";
    assert!(error.starts_with(start), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}
