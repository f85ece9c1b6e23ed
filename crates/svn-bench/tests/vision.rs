//! `svn bench-vision` from outside: what is refused, what five methods learn, what a run that is killed leaves behind.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use svn_bench::data::images::{Synthetic, synthetic};

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

/// Four sound IDX files of 40 training and 10 test images.
fn write_images(folder: &Path) {
    let set = synthetic(Synthetic::Digits, 40, 10, 0);
    let classes = set.classes();
    for (part, rows) in [("train", 0..40), ("t10k", 40..50)] {
        let count = (rows.len() as u32).to_be_bytes();
        let mut images = [&[0, 0, 8, 3], &count[..], &[0, 0, 0, 28, 0, 0, 0, 28]].concat();
        let mut labels = [&[0, 0, 8, 1], &count[..]].concat();
        for row in rows {
            images.extend(set.pixels().row(row));
            labels.push(classes[row] as u8);
        }
        std::fs::write(folder.join(format!("{part}-images-idx3-ubyte")), images).unwrap();
        std::fs::write(folder.join(format!("{part}-labels-idx1-ubyte")), labels).unwrap();
    }
}

#[test]
fn bad_arguments_are_one_line_and_exit_2() {
    let out = tempfile::tempdir().unwrap();
    let run = "--dataset synthetic-digits --split official";
    for (arguments, message) in [
        (
            String::new(),
            "the following required arguments were not provided: --dataset <NAME>",
        ),
        (
            "--dataset emnist".to_owned(),
            "error: unknown image set `emnist`; known: mnist, fashion-mnist, synthetic-digits, synthetic-letters\n",
        ),
        (
            format!("{run} --method sgd"),
            "unknown method `sgd`; known: ensemble, wgd,",
        ),
        (
            format!("{run} --device gpu"),
            "device is gpu; expected cpu, cuda, cuda:INDEX or auto",
        ),
        (
            format!("{run} --device cuda:99"),
            "error: --device cuda:99 was asked for; libtorch finds ",
        ),
        (
            "--dataset mnist --split random".to_owned(),
            "expected paper, official",
        ),
        (
            format!("{run} --folds 2"),
            "error: --folds is for --split paper; the official split has one test part\n",
        ),
        (
            "--dataset synthetic-digits --folds 6".to_owned(),
            "error: --folds 6: expected 1 to 5\n",
        ),
        (
            format!("{run} --subset 0"),
            "invalid value '0' for '--subset <N>'",
        ),
        (
            format!("{run} --subset 5000"),
            "error: data set `synthetic-digits`: 5000 rows asked for, the learning part has 4000\n",
        ),
        (
            format!("{run} --test-subset 1001"),
            "error: data set `synthetic-digits`: 1001 rows asked for, the test part has 1000\n",
        ),
        (
            format!("{run} --subset 100 --batch-size 81"),
            "error: --batch-size 81: expected at most the 80 training images of synthetic-digits\n",
        ),
        (
            format!("{run} --seeds 0"),
            "invalid value '0' for '--seeds <K>'",
        ),
        (
            format!("{run} --newton-lr nan"),
            "invalid value 'nan' for '--newton-lr <RATE>'",
        ),
        (
            format!("{run} --activation gelu"),
            "expected sigmoid, relu, tanh",
        ),
        (
            format!("{run} --ll-mode both"),
            "expected joint, pretrained",
        ),
        (
            format!("{run} --low-data"),
            "the argument '--split <NAME>' cannot be used with '--low-data'",
        ),
    ] {
        let (code, _, stderr) = finish(&mut svn(&arguments, out.path()));
        assert_eq!(code, 2, "{arguments}: {stderr}");
        assert!(stderr.contains(message), "{arguments}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
    }
}

#[test]
fn bad_files_are_one_line_and_exit_2() {
    let out = tempfile::tempdir().unwrap();
    let label = "train-labels-idx1-ubyte";
    let image = "t10k-images-idx3-ubyte";
    type Fault<'a> = (&'a str, &'a dyn Fn(&mut Vec<u8>), &'a str);
    let faults: [Fault<'_>; 5] = [
        (
            image,
            &|bytes| bytes[2] = 0x0d,
            "values of type 0x0d, expected unsigned bytes (0x08)",
        ),
        (
            image,
            &|bytes| bytes.truncate(1000),
            "truncated or damaged: 7840 values announced ([10, 28, 28]), 984 found",
        ),
        (
            label,
            &|bytes| {
                bytes[7] -= 1;
                bytes.pop();
            },
            "39 labels for the 40 images of ",
        ),
        (
            label,
            &|bytes| bytes[8 + 17] = 12,
            "label 12 of image 17 (counted from 0), expected 0 to 9",
        ),
        (
            image,
            &|bytes| *bytes = b"<html><body>moved</body></html>".to_vec(),
            "this is an HTML page, not data",
        ),
    ];
    for (name, damage, message) in faults {
        let data = tempfile::tempdir().unwrap();
        write_images(data.path());
        let path = data.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        damage(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let mut command = svn("--dataset mnist --split official --no-ood", out.path());
        let (code, _, stderr) = finish(command.arg("--data").arg(data.path()));
        assert_eq!(code, 2, "{stderr}");
        let start = format!("error: {}: ", path.display());
        assert!(
            stderr.starts_with(&start) && stderr.contains(message),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    let data = tempfile::tempdir().unwrap();
    let mut command = svn("--dataset mnist --split official", out.path());
    let command = command
        .arg("--data")
        .arg(data.path())
        .env_remove("SVN_DATA_MIRROR");
    let (code, _, stderr) = finish(command);
    assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
    assert!(
        stderr.starts_with("error: image set `mnist` not found: looked for its IDX files"),
        "{stderr}"
    );
    write_images(data.path());
    std::fs::remove_file(data.path().join(label)).unwrap();
    let (code, _, stderr) = finish(command);
    assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
    assert!(
        stderr.contains(&format!("no {label}, {label}.gz,")),
        "{stderr}"
    );
}

/// Images that are sound but not the published ones are used, and every result says so; a foreign set that is not at
/// hand is done without.
#[test]
fn images_of_ones_own_are_used_with_a_warning() {
    let (out, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_images(data.path());
    let mut command = svn(
        "--dataset mnist --split official --method ensemble --epochs 1 --particles 1 --corruption-images 0",
        out.path(),
    );
    command
        .arg("--data")
        .arg(data.path())
        .env_remove("SVN_DATA_MIRROR");
    std::fs::create_dir(data.path().join("fashion-mnist")).unwrap();
    let (code, _, stderr) = finish(&mut command);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("is not the published file"), "{stderr}");
    let record = &records(out.path())[0];
    assert_eq!(record["warnings"].as_array().unwrap().len(), 4);
    assert_eq!(
        record["rows"],
        serde_json::json!({"train": 32, "validation": 8, "test": 10})
    );
}

/// Five methods, two epochs, 256 images: every one gets from ln 10 = 2.30 to where it tells most digits of a kind, and
/// its second epoch is better than its first.
fn five_methods_learn(dataset: &str, bound: f64) {
    let out = tempfile::tempdir().unwrap();
    let arguments = format!(
        "--dataset {dataset} --split official --subset 256 --test-subset 200 --epochs 2 --activation relu \
         --batch-size 8 --lr 0.002 --jobs 2 --device cpu --corruption-images 50"
    );
    let (code, stdout, stderr) = finish(&mut svn(&arguments, out.path()));
    assert_eq!(code, 0, "{stderr}");
    let records = records(out.path());
    let method = |record: &Value| {
        record["configuration"]["method"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let methods: Vec<String> = records.iter().map(method).collect();
    assert_eq!(methods, ["ensemble", "wgd", "svgd", "svn", "ll-svn"]);
    for record in &records {
        let name = method(record);
        let nll = record["metrics"]["nll"].as_f64().unwrap();
        let curve: Vec<f64> = record["curve"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["validation_nll"].as_f64().unwrap())
            .collect();
        eprintln!("{dataset} {name}: test nll {nll:.3}, validation nll {curve:.3?}");
        assert!(nll < bound, "{name}: {nll}");
        assert!(curve[1] < curve[0], "{name}: {curve:?}");
        assert_eq!(record["best_epoch"], 2);
        assert_eq!(record["reliability"].as_array().unwrap().len(), 15);
        assert_eq!(record["corruption"].as_array().unwrap().len(), 12);
        assert!(stdout.contains(&name));
    }
    let summary = json(&out.path().join("summary.json"));
    let results = summary["results"].as_array().unwrap();
    assert_eq!(results.len(), 5);
    let ll_svn = results
        .iter()
        .find(|row| row["method"] == "ll-svn")
        .unwrap();
    assert_eq!(
        (&ll_svn["hessian"], &ll_svn["coupling"]),
        (&"kfac".into(), &"block-diagonal".into())
    );
    let baselines: Vec<_> = ll_svn["versus"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| &v["baseline"])
        .collect();
    assert_eq!(baselines, ["ensemble", "wgd", "svgd"]);
    assert!(ll_svn["step_ms"]["median"].as_f64().unwrap() > 0.0);
    let name = format!("reliability-{dataset}-256.svg");
    let figure = std::fs::read_to_string(out.path().join(&name)).unwrap();
    assert!(
        methods
            .iter()
            .all(|method| figure.contains(method.as_str()))
    );
    assert!(
        std::fs::read_to_string(out.path().join("report.md"))
            .unwrap()
            .contains(&name)
    );
    assert!(!out.path().join("checkpoints").exists());
}

#[test]
fn five_methods_learn_digits_drawn_here() {
    five_methods_learn("synthetic-digits", 1.9);
}

#[test]
fn five_methods_learn_mnist() {
    let mirror = std::env::var_os("SVN_DATA_MIRROR").map(std::path::PathBuf::from);
    match mirror.filter(|folder| folder.join("mnist").is_dir()) {
        Some(_) => five_methods_learn("mnist", 1.9),
        // To the terminal past the harness, which would swallow it.
        None => {
            use std::io::Write;
            let line =
                "skipped: five_methods_learn_mnist needs SVN_DATA_MIRROR with a folder mnist\n";
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
}

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
        .map(|row| row["limits"]["learning"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [60, 60, 100, 100]);
    assert!(
        results
            .iter()
            .all(|row| row["folds"] == 2 && row["metrics"]["nll"]["se"].is_f64())
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
    let arguments = format!("{TINY} --method ll-svn --subset 400 --epochs 8");
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
    assert!((1..8).contains(&done), "{done}");
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
    std::fs::write(folder.join(format!("{config}-0.ckpt")), "half").unwrap();
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
        let pretrained = record["configuration"]["vision"]["ll_mode"] == "pretrained";
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
        assert_eq!(record["warnings"], serde_json::json!([]));
    }
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
