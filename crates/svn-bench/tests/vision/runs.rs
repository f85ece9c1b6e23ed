//! Runs by seed, size and mode; runs that are killed, damaged, or out of patience.

use std::time::{Duration, Instant};

use super::*;

const TINY: &str = "--dataset synthetic-digits --split official --test-subset 50 --particles 2 --batch-size 16 \
                    --corruption-images 0 --device cpu";

#[test]
fn seeds_sizes_and_folds_are_runs_and_a_rerun_has_nothing_to_do() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments =
        format!("{TINY} --method svgd --method ll-svn --subset 60,100 --seeds 2 --epochs 2");
    let (code, _, stderr) = finish(&mut svn(&format!("{arguments} --jobs 2"), a.path()));
    assert_eq!(code, 0, "{stderr}");
    let all = without_timings(a.path());
    assert_eq!(all.len(), 8);
    let summary = json(&a.path().join("summary.json"));
    let results = summary["results"].as_array().unwrap();
    let sizes: Vec<_> = results
        .iter()
        .map(|row| row["design"]["limits"]["learning"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [60, 60, 100, 100]);
    assert!(
        results
            .iter()
            .all(|row| row["runs"] == 2 && row["metrics"]["nll"]["se"].is_f64())
    );
    for name in [
        "low-data-synthetic-digits.svg",
        "reliability-synthetic-digits-60.svg",
    ] {
        assert!(a.path().join(name).is_file(), "{name}");
    }
    // One thread, in two calls: the same bytes.
    let first = arguments.replace("60,100", "60");
    assert_eq!(
        finish(&mut svn(&format!("{first} --jobs 1"), b.path())).0,
        0
    );
    let (code, _, stderr) = finish(&mut svn(&format!("{arguments} --jobs 1"), b.path()));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("4 runs are done already, 4 to go"),
        "{stderr}"
    );
    assert_eq!(without_timings(b.path()), all);
    let (_, _, stderr) = finish(&mut svn(&arguments, b.path()));
    assert!(
        stderr.contains("8 runs are done already, 0 to go"),
        "{stderr}"
    );
}

#[test]
fn a_killed_run_goes_on_from_its_last_epoch() {
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = format!("{TINY} --method ll-svn --subset 400 --epochs 40");
    assert_eq!(finish(&mut svn(&arguments, whole.path())).0, 0);
    let mut child = svn(&arguments, killed.path()).spawn().unwrap();
    let folder = killed.path().join("checkpoints");
    let has_checkpoint = || {
        std::fs::read_dir(&folder).is_ok_and(|files| {
            files
                .flatten()
                .any(|file| file.path().extension().is_some_and(|end| end == "ckpt"))
        })
    };
    let start = Instant::now();
    while !has_checkpoint() {
        assert!(start.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        std::fs::read_to_string(killed.path().join("records.jsonl")).unwrap(),
        ""
    );
    let checkpoint = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|file| file.path())
        .find(|path| path.extension().is_some_and(|end| end == "ckpt"))
        .unwrap();
    let done = svn_models::fit::Checkpoint::read(&checkpoint)
        .unwrap()
        .epoch();
    assert!((1..40).contains(&done), "{done}");
    let (code, _, stderr) = finish(&mut svn(&arguments, killed.path()));
    assert_eq!(code, 0, "{stderr}");
    assert!(!stderr.contains("starts anew"), "{stderr}");
    assert_eq!(
        without_timings(killed.path()),
        without_timings(whole.path())
    );
    assert!(!folder.exists());
}

/// A checkpoint that cannot be read costs its epochs, not the run.
#[test]
fn a_damaged_checkpoint_is_told_and_done_without() {
    let (whole, damaged) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = format!("{TINY} --method ensemble --subset 60 --epochs 2");
    assert_eq!(finish(&mut svn(&arguments, whole.path())).0, 0);
    let config = records(whole.path())[0]["config"]
        .as_str()
        .unwrap()
        .to_owned();
    let folder = damaged.path().join("checkpoints");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(format!("{config}-0-0.ckpt")), "half").unwrap();
    let (code, _, stderr) = finish(&mut svn(&arguments, damaged.path()));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("the run starts anew"), "{stderr}");
    assert_eq!(
        without_timings(damaged.path()),
        without_timings(whole.path())
    );
}

#[test]
fn last_layer_exactly_and_after_pretraining() {
    let out = tempfile::tempdir().unwrap();
    for more in [
        "--hessian full",
        "--ll-mode pretrained",
        "--hessian full --ll-mode pretrained",
    ] {
        let arguments = format!("{TINY} --method ll-svn --subset 200 --epochs 2 {more}");
        let (code, stdout, stderr) = finish(&mut svn(&arguments, out.path()));
        assert_eq!(code, 0, "{more}: {stderr}");
        let label = match more {
            "--hessian full" => "ll-svn, full ",
            "--ll-mode pretrained" => "ll-svn, pretrained ",
            _ => "ll-svn, full, pretrained ",
        };
        assert!(stdout.contains(label), "{stdout}");
    }
    for record in records(out.path()) {
        let pretrained = record["settings"]["ll_mode"] == "pretrained";
        let curve = record["curve"].as_array().unwrap();
        assert_eq!(curve.len(), if pretrained { 4 } else { 2 });
        let epochs: Vec<_> = curve
            .iter()
            .map(|point| point["epoch"].as_u64().unwrap())
            .collect();
        assert_eq!(epochs, (1..=curve.len() as u64).collect::<Vec<_>>());
        assert_eq!(record["epochs"], curve.len());
        // What is restored is the best of the curve.
        let best = record["best_epoch"].as_u64().unwrap() as usize;
        let nll = |index: usize| curve[index]["validation_nll"].as_f64().unwrap();
        assert!((0..curve.len()).all(|index| nll(best - 1) <= nll(index)));
        // The weights are too many for the kernel to move the particles; nothing else is odd.
        let warnings = record["warnings"].as_array().unwrap();
        let idle = |text: &Value| {
            text.as_str()
                .unwrap()
                .starts_with("the kernel does nothing here")
        };
        assert!(warnings.iter().all(idle), "{warnings:?}");
    }
}

/// Curvature rows of all 61 706 parameters, 9 an image, would take more than the largest square: the variances are the last layer's.
#[test]
fn a_prediction_may_have_the_laplace_variances_of_the_last_layer() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        format!("{TINY} --method ensemble --subset 100 --epochs 2 --predictive laplace");
    let (code, _, stderr) = finish(&mut svn(&arguments, folder.path()));
    assert_eq!(code, 0, "{stderr}");
    let record = &records(folder.path())[0];
    assert_eq!(record["settings"]["predictive"], "laplace");
    let precision = record["metrics"]["laplace_precision"].as_f64();
    assert!(precision.is_some_and(|chosen| chosen > 0.0), "{record}");
}

#[test]
fn patience_ends_a_run_without_a_warning() {
    let out = tempfile::tempdir().unwrap();
    let arguments = format!(
        "{TINY} --method ensemble --subset 60 --epochs 60 --patience 2 --lr 0.3 --schedule constant --temperature"
    );
    let (code, stdout, stderr) = finish(&mut svn(&arguments, out.path()));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("ensemble, temperature"), "{stdout}");
    let record = &records(out.path())[0];
    let (epochs, best) = (
        record["epochs"].as_u64().unwrap(),
        record["best_epoch"].as_u64().unwrap(),
    );
    assert!(epochs < 60 && epochs == best + 2, "{epochs} {best}");
    assert_eq!(record["warnings"], serde_json::json!([]));
    assert!(record["metrics"]["temperature"].as_f64().unwrap() > 0.0);
}

/// What `--lr` says is heard by every method: Newton steps have it where there are no others.
#[test]
fn a_step_size_is_that_of_the_steps_a_method_takes() {
    let out = tempfile::tempdir().unwrap();
    let run = |more: &str| {
        let arguments = format!("{TINY} --subset 60 --epochs 1 {more}");
        let (code, _, stderr) = finish(&mut svn(&arguments, out.path()));
        assert_eq!(code, 0, "{more}: {stderr}");
        stderr
    };
    let said = run("--method svgd --method svn --method ll-svn --lr 0.02");
    let warning = "--lr 0.02 is also the step size of the Newton steps of svn; --newton-lr gives them their own";
    assert!(said.contains(warning), "{said}");
    let rates: Vec<_> = records(out.path())
        .iter()
        .map(|record| {
            let rate = |value: &Value| value.as_f64();
            (
                record["method"].as_str().unwrap().to_owned(),
                rate(&record["settings"]["lr"]),
                rate(&record["settings"]["newton_lr"]),
            )
        })
        .collect();
    for expected in [
        ("svgd", Some(0.02), None),
        ("svn", None, Some(0.02)),
        ("ll-svn", Some(0.02), Some(0.3)),
    ] {
        let (name, lr, newton_lr) = expected;
        assert!(
            rates.contains(&(name.to_owned(), lr, newton_lr)),
            "{expected:?} in {rates:?}"
        );
    }
    // The same configuration by either name: nothing is left to do.
    let said = run("--method svn --newton-lr 0.02");
    assert!(said.contains("1 runs are done already, 0 to go"), "{said}");
    assert!(!run("--method svn --lr 0.02").contains("step size"));
}
