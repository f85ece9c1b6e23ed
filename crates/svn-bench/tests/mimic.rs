//! `svn bench-mimic` from outside: made-up patients end to end, the open demo where it is, what is refused.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Exit code, standard output, standard error.
fn svn(arguments: &str, out: &Path) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_svn"))
        .arg("bench-mimic")
        .args(arguments.split_whitespace())
        .arg("--out")
        .arg(out)
        .env_remove("SVN_DATA_DIR")
        .env_remove("SVN_DATA_MIRROR")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn records(folder: &Path) -> Vec<Value> {
    read(folder, "records.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const FEW: &str = "--demo-patients 150 --folds 2 --epochs 2 --method ensemble,svn";

#[test]
fn made_up_patients_go_through_the_whole_pipeline() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    let (code, shown, told) = svn(&format!("--demo {FEW}"), out);
    assert_eq!(code, 0, "{told}");
    for text in [
        "not the patient's first stay",
        "under 24 h in the unit",
        "│ made-up │ ensemble",
    ] {
        let plain = shown.replace('┆', "│");
        assert!(plain.contains(text), "{text}: {shown}");
    }
    assert!(
        told.contains("warning: made-up patients, not MIMIC-IV"),
        "{told}"
    );
    assert!(told.contains("chartevents: "), "{told}");
    let report = read(out, "report.md");
    for text in [
        "## Cohort, made-up",
        "## Events, made-up",
        "## By length of stay",
        "| 3 to 7 days ",
        "![intervals made up total](intervals-made-up-total.svg)",
        "coverage80",
    ] {
        assert!(report.contains(text), "{text}");
    }
    assert!(read(out, "intervals-made-up-total.svg").starts_with("<svg"));
    let records = records(out);
    assert_eq!(records.len(), 4);
    for record in &records {
        let metrics = &record["metrics"];
        for key in [
            "nll",
            "nll_paper",
            "rmse",
            "mae",
            "crps",
            "coverage50",
            "coverage80",
            "coverage90",
        ] {
            assert!(metrics[key].is_f64(), "{key}");
        }
        // Of an ensemble without training the error is that of the spread, some 28 hours.
        assert!((5.0..200.0).contains(&metrics["mae"].as_f64().unwrap()));
    }
    // Features and runs are there: nothing is read again.
    let (code, _, told) = svn(&format!("--demo {FEW}"), out);
    assert_eq!(code, 0, "{told}");
    assert!(
        told.contains("4 runs are done already") && !told.contains("chartevents: "),
        "{told}"
    );
}

#[test]
fn without_data_made_up_patients_run_and_that_is_said() {
    let out = tempfile::tempdir().unwrap();
    let (code, _, told) = svn(
        &format!("{FEW} --log-target --task los-remaining --quiet"),
        out.path(),
    );
    assert_eq!(code, 0, "{told}");
    assert!(
        told.starts_with("no MIMIC-IV here: made-up patients instead;"),
        "{told}"
    );
    for record in records(out.path()) {
        let design = &record["design"];
        assert_eq!(
            (&design["los"], &design["log_target"]),
            (&"los-remaining".into(), &true.into())
        );
        // In hours, though networks saw logarithms.
        let mae = record["metrics"]["mae"].as_f64().unwrap();
        assert!((5.0..500.0).contains(&mae), "{mae}");
        assert_eq!(record["metrics"].get("nll_epistemic"), None);
    }
}

/// Neither identifiers nor times of anybody are in what is printed and written.
#[test]
fn no_patient_is_told_of() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    let (code, shown, told) = svn(&format!("--demo {FEW}"), out);
    assert_eq!(code, 0);
    let mut texts = vec![shown, told];
    for name in [
        "records.jsonl",
        "summary.json",
        "report.md",
        "intervals-made-up-total.svg",
    ] {
        texts.push(read(out, name));
    }
    texts.push(read(&out.join("mimic-features"), "features.csv"));
    texts.push(read(&out.join("mimic-features"), "features.json"));
    for text in texts {
        // Identifiers of made-up patients, admissions and stays; times of 2100 and later. Decimals stay whole.
        for cell in text.split(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c)) {
            let whole = cell.len() == 8 && cell.bytes().all(|byte| byte.is_ascii_digit());
            let id = whole
                && ["10000", "20000", "30"]
                    .iter()
                    .any(|start| cell.starts_with(start));
            assert!(!id, "{cell}");
            let date = cell.len() == 10 && cell.starts_with('2') && cell.as_bytes()[4] == b'-';
            assert!(!date, "{cell}");
        }
    }
}

#[test]
fn the_open_demo_is_a_smoke_test() {
    let Some(mirror) = std::env::var_os("SVN_DATA_MIRROR") else {
        println!("skipped: no SVN_DATA_MIRROR");
        return;
    };
    let folder = Path::new(&mirror).join("mimic-iv-demo");
    if !folder.is_dir() {
        println!("skipped: no mimic-iv-demo in SVN_DATA_MIRROR");
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let arguments = format!(
        "--data {} --epochs 2 --folds 2 --method ensemble",
        folder.display()
    );
    let (code, shown, told) = svn(&arguments, out.path());
    assert_eq!(code, 0, "{told}");
    assert!(shown.contains("mimic-iv-demo"), "{shown}");
    assert!(read(out.path(), "report.md").contains("a smoke test, its figures are no benchmark"));
}

#[test]
fn what_is_no_folder_of_stays_is_refused_in_a_line() {
    let out = tempfile::tempdir().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let folder = empty.path().display().to_string();
    for (arguments, expected) in [
        (
            format!("--data {folder}"),
            "no hosp/patients.csv or hosp/patients.csv.gz",
        ),
        (format!("--data {folder}/none"), "no such folder"),
        (format!("--data {folder} --demo"), "cannot be used with"),
        ("--demo --task length".to_owned(), "invalid value 'length'"),
        (
            "--demo --folds 1".to_owned(),
            "expected a whole number, at least 2",
        ),
        (
            "--demo --demo-patients 3 --epochs 1".to_owned(),
            "would be empty",
        ),
    ] {
        let (code, _, told) = svn(&arguments, out.path());
        assert_eq!(code, 2, "{arguments}: {told}");
        let errors: Vec<&str> = told
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        assert!(
            errors.len() == 1 && errors[0].contains(expected),
            "{arguments}: {told}"
        );
        assert!(errors[0].len() < 400, "{told}");
    }
}

#[test]
fn a_truncated_table_is_told_and_leaves_no_features() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    assert_eq!(svn(&format!("--demo {FEW}"), out).0, 0);
    let path = out.join("mimic-made-up/icu/chartevents.csv.gz");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 3]).unwrap();
    let folder = out.join("mimic-made-up");
    let other = tempfile::tempdir().unwrap();
    let (code, _, told) = svn(&format!("--data {}", folder.display()), other.path());
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("; read up to line "), "{told}");
    assert!(!other.path().join("mimic-features").exists());
}

/// Where length of stay is known up to noise of 12 hours, intervals must hold what they say.
#[test]
fn svn_is_calibrated_on_made_up_patients_and_no_worse_than_the_ensemble() {
    let out = tempfile::tempdir().unwrap();
    let (code, _, told) = svn(
        "--demo --demo-patients 1400 --folds 2 --method ensemble,svn",
        out.path(),
    );
    assert_eq!(code, 0, "{told}");
    let mean = |method: &str, key: &str| -> f64 {
        let records = records(out.path());
        let own = records.iter().filter(|record| record["method"] == method);
        let values: Vec<f64> = own
            .map(|record| record["metrics"][key].as_f64().unwrap())
            .collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let coverage = mean("svn", "coverage90");
    assert!((0.86..=0.94).contains(&coverage), "{coverage}");
    let [svn, ensemble] = ["svn", "ensemble"].map(|method| mean(method, "nll"));
    assert!(svn <= ensemble, "{svn}, {ensemble}");
    // The entropy of the noise alone, ½ ln (2πe 12²), is the least there can be.
    assert!((3.85..4.3).contains(&svn), "{svn}");
}
