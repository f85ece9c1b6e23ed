//! What `--tune` leaves, and that the benchmark takes it.

use super::*;

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
    let arguments = ["--tune", "--select", "evidence", "--out", out];
    let (code, _, stderr) = finish(with_ridge(&short(&arguments), 0));
    let told =
        "--tune with the evidence as select: no rows score a trial; take validation or kfold";
    assert!(code == 2 && stderr.contains(told), "{code} {stderr}");
}
