//! What a run leaves: records, report, figures, models, exit codes.

use super::*;

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
    assert_eq!(results.len(), 12);
    for result in results {
        assert_eq!(
            (&result["runs"], &result["planned"]),
            (&5.into(), &5.into())
        );
        assert!(
            result["metrics"]["nll"]["mean"].is_f64() && result["metrics"]["nll"]["se"].is_f64()
        );
        assert!(result["cost"]["step_ms"].is_f64());
        // The paper has no controls.
        let printed = result["method"] != "newton-ensemble" && result["method"] != "linear";
        assert_eq!(result["paper"].is_object(), printed);
    }
    let report = without_padding(&read("report.md"));
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
    let (report, bands) = (without_padding(&read("report.md")), read("bands.svg"));
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
