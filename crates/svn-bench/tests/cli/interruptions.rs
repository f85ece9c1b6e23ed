//! Runs that are killed, a disk that is full, two processes on one folder: nothing that was done is lost.

use super::*;

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
    assert!((3..30).contains(&done), "{done}");

    let (code, _, stderr) = finish(run(cut.path(), 0));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains(&format!(
            "{done} runs are done already, {} to go",
            30 - done
        )),
        "{stderr}"
    );
    assert_eq!(without_timings(cut.path()), without_timings(whole.path()));
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
    let said = format!("{done} runs are done already, {} to go", 30 - done);
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
    assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
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
            .args(["--epochs", "24", "--jobs", "1", "--out"])
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
    assert!((1..24).contains(&epoch().unwrap()));
    // What a process that was killed while it wrote would have left.
    std::fs::write(checkpoints.join(".tmpXXXXXX"), "half").unwrap();
    let (code, _, stderr) = finish(svn(cut.path()));
    assert_eq!(code, 0, "{stderr}");
    assert!(!stderr.contains("starts anew"), "{stderr}");
    assert_eq!(without_timings(cut.path()), without_timings(whole.path()));
    assert!(!checkpoints.exists());
}
