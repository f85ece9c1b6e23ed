//! The command from outside: exact messages, exit codes, files, a run that is killed and resumed.

mod support;

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
            "invalid value '-1' for '--bandwidth <VALUE>': expected median, 2d or a positive number".to_owned(),
        ),
        (
            vec!["--method", "sgd"],
            "invalid value 'sgd' for '--method <NAME>': unknown method `sgd`; known: ensemble, wgd, svgd, newton-ensemble, svn, ll-svn, ssvn".to_owned(),
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
            "error: data set `yacht` not found: looked for yacht.csv and yacht.csv.gz in {folder} (--data), "
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
fn a_run_leaves_records_summary_report_and_figures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (code, stdout, stderr) = finish(with_ridge(
        &short(&["--dataset", "breast", "--out", out]),
        0,
    ));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("autompg svn fold 5/5: nll "), "{stderr}");
    let svn_line = stdout
        .lines()
        .find(|line| line.contains("autompg") && line.contains("svn"))
        .unwrap();
    assert!(svn_line.contains("5/5"), "{svn_line}");
    assert!(
        stdout
            .lines()
            .all(|line| line.chars().count() <= 80 || line.ends_with("report.md")),
        "{stdout}"
    );
    let mut files: Vec<_> = folder
        .path()
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            ".lock",
            "curve-autompg.svg",
            "curve-breast.svg",
            "nll.svg",
            "records.jsonl",
            "report.md",
            "summary.json",
            "time-autompg.svg",
            "time-breast.svg"
        ]
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["schema"], 3);
    let results = summary["results"].as_array().unwrap();
    assert_eq!(results.len(), 10);
    for result in results {
        assert_eq!(
            (&result["runs"], &result["planned"]),
            (&5.into(), &5.into())
        );
        assert!(
            result["metrics"]["nll"]["mean"].is_f64() && result["metrics"]["nll"]["se"].is_f64()
        );
        assert!(result["cost"]["step_ms"].is_f64());
        // The paper has no control.
        let printed = result["method"] != "newton-ensemble";
        assert_eq!(result["paper"].is_object(), printed);
    }
    let report = read("report.md");
    assert!(report.contains("| autompg | svn | 5/5 |") && report.contains("3.94 ± 0.99"));

    // A rerun does nothing and says the same, quietly.
    let before = read("records.jsonl");
    let (code, again, stderr) = finish(with_ridge(
        &short(&["--dataset", "breast", "--out", out, "-q"]),
        0,
    ));
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(again.contains(svn_line));
    assert_eq!(read("records.jsonl"), before);
}

#[test]
fn a_killed_run_resumes_and_loses_nothing() {
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run =
        |folder: &Path, delay| with_ridge(&short(&["--out", folder.to_str().unwrap()]), delay);
    assert_eq!(finish(run(whole.path(), 0)).0, 0);

    let mut child = run(cut.path(), 40);
    let start = Instant::now();
    let records = cut.path().join("records.jsonl");
    let lines = || std::fs::read_to_string(&records).map_or(0, |text| text.matches('\n').count());
    while lines() < 3 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "three folds take half a second"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let done = lines();
    assert!((3..25).contains(&done), "{done}");

    let (code, _, stderr) = finish(run(cut.path(), 0));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains(&format!(
            "{done} runs are done already, {} to go",
            25 - done
        )),
        "{stderr}"
    );
    assert_eq!(without_timings(cut.path()), without_timings(whole.path()));
}

#[test]
fn a_folder_with_other_files_of_that_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("records.jsonl"), "hello\n").unwrap();
    let (code, _, stderr) = finish(with_ridge(
        &short(&["--out", folder.path().to_str().unwrap()]),
        0,
    ));
    assert_eq!(code, 2);
    assert!(
        stderr.contains("records.jsonl, line 1: not a record of bench-uci"),
        "{stderr}"
    );
}

#[test]
fn tuning_leaves_trials_and_settings_that_the_benchmark_takes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments = [
        "--method",
        "svn",
        "--tune",
        "--tune-budget",
        "4",
        "--tune-folds",
        "2",
    ];
    let tune = || {
        finish(with_ridge(
            &short(&[&arguments, &["--out", out][..]].concat()),
            0,
        ))
    };
    let (code, stdout, stderr) = tune();
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("autompg") && stdout.contains("validation NLL"),
        "{stdout}"
    );
    assert!(
        stderr.contains("autompg svn rung 1/2 trial 4/4 fold 2/5: validation NLL "),
        "{stderr}"
    );
    let file = folder.path().join("tuned/autompg.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains(
            "4 configurations on 2 of 5 folds, protocol paper, seed 0.\n[svn]\nepochs = 3\n"
        ),
        "{text}"
    );
    let trials = std::fs::read_to_string(folder.path().join("tune.jsonl")).unwrap();
    assert_eq!(trials.lines().count(), 4 * 2 + 2 * 2);
    assert!(!trials.contains("rmse"), "no test metric");

    let (code, again, stderr) = tune();
    assert_eq!((code, again), (0, stdout));
    assert!(
        stderr.contains("8 runs are done already, 0 to go"),
        "{stderr}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    let settings = folder.path().join("tuned");
    let (code, _, stderr) = finish(with_ridge(
        &short(&[
            "--method",
            "svn",
            "--settings",
            settings.to_str().unwrap(),
            "--out",
            out,
        ]),
        0,
    ));
    assert_eq!(code, 0, "{stderr}");

    std::fs::write(&file, "[svn]\nrate = 1\n").unwrap();
    let (code, _, stderr) = finish(with_ridge(
        &short(&["--settings", file.to_str().unwrap(), "--out", out]),
        0,
    ));
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with(&format!(
            "error: {}, line 2, column 1: unknown field `rate`",
            file.display()
        )),
        "{stderr}"
    );
    let (code, _, stderr) = finish(with_ridge(&short(&["--tune-budget", "4", "--out", out]), 0));
    assert_eq!(code, 2);
    assert!(stderr.contains("--tune"), "{stderr}");
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

/// A full disk: what could be written in part is cut off, so that a later call goes on with every record that was whole.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_what_did_not_fit_and_no_more() {
    let (whole, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = |folder: &Path| finish(with_ridge(&short(&["--out", folder.to_str().unwrap()]), 0));
    assert_eq!(run(whole.path()).0, 0);
    // Files end at 8 KiB, which is in the midst of a record; a write beyond fails instead of killing.
    let this = std::env::current_exe().unwrap();
    let output = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "bash"])
        .arg(this)
        .args(["--ignored", "--exact", "svn_with_ridge", "--nocapture"])
        .env(
            ARGUMENTS,
            short(&["--jobs", "2", "--out", full.path().to_str().unwrap()])
                .join("\n")
                .replacen("--jobs\n1\n", "", 1),
        )
        .env(DELAY, "0")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("records.jsonl: File too large"), "{stderr}");
    let text = std::fs::read_to_string(full.path().join("records.jsonl")).unwrap();
    assert!(text.ends_with('\n') && text.len() <= 8192, "{}", text.len());
    let done = text.lines().count();
    assert!(done > 0);
    let (code, _, stderr) = run(full.path());
    assert_eq!(code, 0, "{stderr}");
    let said = format!("{done} runs are done already, {} to go", 25 - done);
    assert!(stderr.contains(&said), "{stderr}");
    assert_eq!(without_timings(full.path()), without_timings(whole.path()));
}

/// Nobody else's records are lost, and none is counted twice.
#[test]
fn a_second_process_on_the_same_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap().to_owned();
    let mut first = with_ridge(&short(&["--out", &out]), 100);
    let records = folder.path().join("records.jsonl");
    let start = Instant::now();
    while !records.exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let (code, _, stderr) = finish(with_ridge(&short(&["--out", &out]), 0));
    assert_eq!((code, stderr.lines().count()), (2, 2), "{stderr}");
    assert!(
        stderr.ends_with("is in use by another process; wait for it, or choose another --out\n"),
        "{stderr}"
    );
    // A lock is not left behind by a process that is killed.
    first.kill().unwrap();
    first.wait().unwrap();
    let (code, _, stderr) = finish(with_ridge(&short(&["--out", &out]), 0));
    assert_eq!(code, 0, "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_table_that_cannot_be_written_is_an_error_and_a_reader_who_has_left_is_none() {
    let doctor = |to: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svn"));
        command.arg("doctor").stdout(to).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let (code, _, stderr) = finish(doctor(full.unwrap().into()));
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("error: cannot write to standard output: No space left"),
        "{stderr}"
    );
    let mut gone = doctor(Stdio::piped());
    drop(gone.stdout.take());
    let (code, _, stderr) = finish(gone);
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn a_report_is_made_again_from_records_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (out, again) = (folder.path().join("out"), folder.path().join("again"));
    let (out, again) = (out.to_str().unwrap(), again.to_str().unwrap());
    let (code, stdout, _) = finish(with_ridge(&short(&["-q", "--out", out]), 0));
    assert_eq!(code, 0);
    let read = |folder: &str, name: &str| std::fs::read(Path::new(folder).join(name)).unwrap();
    // As they are shipped.
    let records = Path::new(out).join("records.jsonl");
    let gzip = std::fs::File::create(Path::new(out).join("records.jsonl.gz")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(gzip, flate2::Compression::best());
    std::io::copy(&mut std::fs::File::open(&records).unwrap(), &mut gzip).unwrap();
    gzip.finish().unwrap();
    std::fs::remove_file(&records).unwrap();
    let report = |from: &str| finish(with_ridge(&["report", "--from", from, "--out", again], 0));
    let (code, told, stderr) = report(out);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(told.replace(again, out), stdout);
    for name in [
        "report.md",
        "summary.json",
        "nll.svg",
        "curve-autompg.svg",
        "time-autompg.svg",
    ] {
        assert_eq!(read(out, name), read(again, name), "{name}");
    }
    let (code, _, stderr) = report("/nonexistent");
    assert_eq!(code, 2);
    assert_eq!(
        stderr,
        "error: /nonexistent has no records.jsonl and no records.jsonl.gz\n"
    );
}

#[test]
fn the_model_of_each_run_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let output = cargo_bin_cmd!("svn")
        .args(short(&[
            "--method",
            "svn",
            "--folds",
            "2",
            "--particles",
            "2",
            "--save-models",
            "--out",
        ]))
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let models: Vec<_> = folder.path().join("models").read_dir().unwrap().collect();
    assert_eq!(models.len(), 2);
    for model in models {
        let ensemble = svn_models::Ensemble::load(model.unwrap().path()).unwrap();
        assert_eq!(ensemble.members().particles().nrows(), 2);
        assert_eq!(ensemble.training().epochs, 3);
    }
}

/// The methods of the toy study, in a short run.
#[test]
fn the_toy_study_draws_every_method_beside_the_posterior() {
    let folder = tempfile::tempdir().unwrap();
    let output = cargo_bin_cmd!("svn")
        .args(["bench-toy", "--epochs", "2", "--particles", "3", "--out"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (report, bands) = (read("report.md"), read("bands.svg"));
    for method in [
        "ensemble",
        "wgd",
        "svgd",
        "newton-ensemble",
        "svn",
        "ll-svn",
    ] {
        assert!(
            report.contains(&format!("| cubic | {method} | 1/1 |")),
            "{report}"
        );
        assert!(bands.contains(&format!("\n{method}\n")), "{method}");
    }
    assert!(bands.contains("Hamiltonian"));
    assert!(report.contains("sd_outside"));
}

/// Within a fold: its state is kept while it is trained.
#[test]
fn a_killed_fold_goes_on_from_its_epoch() {
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let svn = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svn"));
        command
            .args([
                "bench-uci",
                "--dataset",
                "autompg",
                "--method",
                "svn",
                "--folds",
                "2",
            ])
            .args(["--epochs", "40", "--jobs", "1", "--out"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    assert_eq!(finish(svn(whole.path())).0, 0);
    let mut child = svn(cut.path());
    let checkpoints = cut.path().join("checkpoints");
    let epoch = || {
        let files = checkpoints.read_dir().into_iter().flatten().flatten();
        let path = files
            .map(|file| file.path())
            .find(|path| path.extension().is_some_and(|end| end == "ckpt"))?;
        svn_models::fit::Checkpoint::read(&path)
            .ok()
            .map(|checkpoint| checkpoint.epoch())
    };
    let start = Instant::now();
    while epoch().is_none() {
        assert!(start.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((1..40).contains(&epoch().unwrap()));
    // What a process that was killed while it wrote would have left.
    std::fs::write(checkpoints.join(".tmpXXXXXX"), "half").unwrap();
    let (code, _, stderr) = finish(svn(cut.path()));
    assert_eq!(code, 0, "{stderr}");
    assert!(!stderr.contains("starts anew"), "{stderr}");
    assert_eq!(without_timings(cut.path()), without_timings(whole.path()));
    assert!(!checkpoints.exists());
}

/// Steps without any measure: no fold is a result, and each says what happened.
#[test]
fn divergence_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let output = cargo_bin_cmd!("svn")
        .args(short(&[
            "--method", "ensemble", "--folds", "2", "--lr", "1e30", "--out",
        ]))
        .arg(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let told = "failed: autompg ensemble fold 1/2: particle 0 has run to 1.0e30, from a start of";
    assert!(stderr.contains(told), "{stderr}");
    assert!(
        stderr.ends_with("error: 2 of 2 runs failed; a rerun tries them again\n"),
        "{stderr}"
    );
    let text = std::fs::read_to_string(folder.path().join("records.jsonl")).unwrap();
    assert_eq!(text, "");
}
