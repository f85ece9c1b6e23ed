//! Sweeps: plans that are refused, work that is shared, processes that die, files that are none of ours.

use super::*;

use std::path::PathBuf;

/// A folder with a plan.
pub(super) struct Swept {
    folder: tempfile::TempDir,
}

impl Swept {
    pub(super) fn new(plan: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.toml"), plan).unwrap();
        Self { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svn"));
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .env_remove("SVN_DATA_MIRROR")
            .env_remove("SVN_DATA_DIR")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn svn(&self, arguments: &[&str]) -> (i32, String, String) {
        finish(self.command(arguments).spawn().unwrap())
    }

    /// `svn sweep plan.toml --out out`, and more.
    fn sweep(&self, more: &[&str]) -> (i32, String, String) {
        self.svn(&[&["sweep", "plan.toml", "--out", "out"], more].concat())
    }

    pub(super) fn collect(&self) -> (i32, String, String) {
        self.svn(&["sweep", "collect", "plan.toml", "--out", "out"])
    }

    pub(super) fn records(&self) -> Vec<String> {
        without_timings(&self.path("out/uci"))
    }

    fn tasks(&self) -> Vec<PathBuf> {
        let files = self.path("out/uci/tasks").read_dir().unwrap().flatten();
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.sort();
        files
    }
}

/// Twelve runs that take milliseconds: what does not use a coupling has one configuration, not two.
const SMALL: &str = r#"
[[runs]]
study = "uci"
arguments = { dataset = ["autompg", "breast"], folds = 2, untuned = true, method = ["linear", "ensemble"] }
settings = { epochs = 2, hidden = [5] }
grid = { coupling = ["gram", "exact"] }

[[runs]]
study = "uci"
arguments = { dataset = "autompg", folds = 2, untuned = true, method = "wgd" }
settings = { epochs = 2, hidden = [5] }
random = { samples = 2, lr = { log = [1e-3, 1e-2] } }
"#;

#[test]
fn what_a_study_refuses_is_said_with_its_table() {
    let table = |text: &str| format!("[[runs]]\nstudy = \"toy\"\n[[runs]]\n{text}");
    for (text, message) in [
        (
            "study = \"uzi\"\n",
            "unknown study `uzi`; expected one of uci, vision, mimic, toy",
        ),
        (
            "study = \"uci\"\narguments = { datset = \"autompg\" }\n",
            "unexpected argument '--datset' found; did you mean --dataset?",
        ),
        (
            "study = \"uci\"\narguments = { dataset = \"autompg\" }\ngrid = { coupling = [\"gram\", \"loose\"] }\n",
            "invalid value 'loose' for '--coupling <NAME>': expected exact, gram, block-repulsion, block-diagonal",
        ),
        (
            "study = \"uci\"\narguments = { dataset = \"autompg\", folds = 1000 }\n",
            "data set `autompg`: ",
        ),
    ] {
        let swept = Swept::new(&table(text));
        let (code, stdout, stderr) = swept.sweep(&["--dry-run"]);
        let start = format!("error: plan.toml, [[runs]] 2: {message}");
        assert!(stderr.starts_with(&start), "{stderr}");
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (2, "", 1));
    }
    let swept = Swept::new("");
    assert_eq!(
        swept.svn(&["sweep", "no.toml"]).2,
        "error: no.toml: no such plan\n"
    );
}

#[test]
fn records_are_those_of_the_benchmark_and_what_comes_to_the_same_is_done_once() {
    let swept = Swept::new(SMALL);
    let (code, stdout, stderr) = swept.sweep(&["--dry-run", "--no-probe"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("12 runs, 0 done, 12 to do"), "{stdout}");
    let (code, stdout, stderr) = swept.sweep(&["--workers", "2"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.ends_with("all 12 runs of the plan are done\n"),
        "{stdout}"
    );
    assert_eq!(
        stderr
            .lines()
            .filter(|line| line.contains(": nll "))
            .count(),
        12
    );
    let bench = [
        "bench-uci",
        "--folds",
        "2",
        "--untuned",
        "--epochs",
        "2",
        "--hidden",
        "5",
        "--out",
        "bench",
        "--jobs",
        "1",
    ];
    let datasets = ["--dataset", "autompg,breast", "--method", "linear,ensemble"];
    assert_eq!(swept.svn(&[&bench[..], &datasets].concat()).0, 0);
    let bench = without_timings(&swept.path("bench"));
    assert_eq!(bench.len(), 8);
    let records = swept.records();
    let missing: Vec<_> = bench
        .iter()
        .filter(|line| !records.contains(line))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");

    // Another plan that has a part in common, in the same folder.
    let more = "[[runs]]\nstudy = \"uci\"\narguments = { dataset = \"breast\", folds = 2, untuned = true, method = [\"linear\", \
                \"ensemble\"] }\nsettings = { epochs = 2, hidden = 5 }\ngrid = { particles = [3, 5] }\n";
    std::fs::write(swept.path("more.toml"), more).unwrap();
    let (code, stdout, stderr) = swept.svn(&["sweep", "more.toml", "--out", "out"]);
    assert_eq!(code, 0, "{stderr}");
    // Five particles are the default, and linear has none.
    assert!(
        stderr.contains("4 runs are done already, 2 to go"),
        "{stderr}"
    );
    assert!(stdout.contains("14 records, 2 new"), "{stdout}");
}

#[test]
fn collecting_again_changes_nothing_and_files_of_others_are_told_and_skipped() {
    let swept = Swept::new(SMALL);
    let (code, _, stderr) = swept.sweep(&[]);
    assert_eq!(code, 0, "{stderr}");
    let records = swept.path("out/uci/records.jsonl");
    let bytes = std::fs::read(&records).unwrap();
    let (code, stdout, _) = swept.collect();
    assert_eq!((code, std::fs::read(&records).unwrap()), (0, bytes.clone()));
    assert!(stdout.contains("12 records, 0 new"), "{stdout}");

    // From the files alone, of which one is torn, one another's, one changed and one none.
    std::fs::remove_file(&records).unwrap();
    let tasks = swept.tasks();
    let text = std::fs::read_to_string(&tasks[0]).unwrap();
    std::fs::write(&tasks[0], &text[..text.len() / 2]).unwrap();
    std::fs::copy(
        &tasks[1],
        swept.path("out/uci/tasks/0123456789abcdef-0-0.jsonl"),
    )
    .unwrap();
    // The first of those that have epochs among their settings.
    let setting = "\"settings\":{\"epochs\":2";
    let text = |task: &PathBuf| std::fs::read_to_string(task).unwrap();
    let changed = tasks[2..].iter().find(|task| text(task).contains(setting));
    let changed = changed.unwrap();
    let other = text(changed).replacen(setting, "\"settings\":{\"epochs\":3", 1);
    std::fs::write(changed, other).unwrap();
    std::fs::write(swept.path("out/uci/tasks/note.jsonl"), "{}\n").unwrap();
    std::fs::write(swept.path("out/uci/tasks/.tmpabc.partial"), "{").unwrap();
    let (code, stdout, stderr) = swept.collect();
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains("10 records, 10 new"), "{stdout}");
    let told = |start: &str, name: &str| {
        let lines = stderr
            .lines()
            .filter(|line| line.starts_with(start) && line.contains(name));
        assert_eq!(lines.count(), 1, "{start}{name}: {stderr}");
    };
    told("torn: ", tasks[0].file_name().unwrap().to_str().unwrap());
    told("foreign: ", "0123456789abcdef-0-0.jsonl");
    told("foreign: ", changed.file_name().unwrap().to_str().unwrap());
    told("foreign: ", "note.jsonl: no record of bench-uci");
    told(
        "error: 2 of 12 runs have no record: 0 failed, 0 begun, 2 not begun",
        "",
    );

    // What is torn or another's is done again.
    let (code, _, stderr) = swept.sweep(&[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("10 runs are done already, 2 to go"),
        "{stderr}"
    );
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.lines()
            .map(|line| line.split(",\"timing\":").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(swept.records(), lines(&bytes));

    // Once collected, files may go; one that says otherwise is told.
    for task in &tasks[4..] {
        std::fs::remove_file(task).unwrap();
    }
    let other = std::fs::read_to_string(&tasks[3]).unwrap().replacen(
        "\"best_epoch\":",
        "\"best_epoch\":1",
        1,
    );
    std::fs::write(&tasks[3], other).unwrap();
    let (code, stdout, stderr) = swept.collect();
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("12 records, 0 new"), "{stdout}");
    assert!(stderr.contains("double: "), "{stderr}");
    assert_eq!(swept.records(), lines(&bytes));
}

/// A likelihood of whole numbers, which half of the targets are not.
const LOST: &str = "[[runs]]\nstudy = \"uci\"\narguments = { dataset = \"autompg\", folds = 2, untuned = true, method = \"ensemble\" }\n\
                    settings = { epochs = 2, hidden = 5 }\ngrid = { likelihood = [\"gaussian\", \"ordinal\"] }\n";

#[test]
fn a_run_that_fails_is_told_with_its_log_and_tried_again_when_asked() {
    let swept = Swept::new(LOST);
    let (code, _, stderr) = swept.sweep(&[]);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.ends_with("error: 2 of 4 runs have no record: 2 failed, 0 begun, 0 not begun\n"),
        "{stderr}"
    );
    let (code, stdout, stderr) = swept.collect();
    assert_eq!(code, 1);
    assert!(stdout.contains("2 records, 0 new"), "{stdout}");
    let shown = stderr
        .lines()
        .filter(|line| line.starts_with("  failed: "))
        .count();
    assert_eq!(shown, 2, "{stderr}");
    assert!(
        stderr.contains("failed: uci autompg ensemble, seed 0 fold 1 ("),
        "{stderr}"
    );
    let (_, _, stderr) = swept.sweep(&[]);
    assert!(
        stderr.starts_with("2 runs failed; --resubmit-failed tries them again\n"),
        "{stderr}"
    );
    assert!(!stderr.contains("to go"), "{stderr}");
    let (_, _, stderr) = swept.sweep(&["--resubmit-failed"]);
    assert!(
        stderr.contains("2 runs are done already, 2 to go"),
        "{stderr}"
    );
}

#[test]
#[cfg(unix)]
fn commands_of_tasks_do_what_the_engine_here_does() {
    let swept = Swept::new(SMALL);
    let (code, stdout, stderr) = swept.sweep(&["--engine", "parallel", "--per-task", "5"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout, "parallel < out/plans/plan/array-1.commands\n");
    let commands = std::fs::read_to_string(swept.path("out/plans/plan/array-1.commands")).unwrap();
    assert_eq!(commands.lines().count(), 3);
    for line in commands.lines() {
        // From another place, as a scheduler may.
        let status = Command::new("sh")
            .args(["-c", line])
            .current_dir("/")
            .env_remove("SVN_DATA_DIR")
            .output()
            .unwrap()
            .status;
        assert!(status.success(), "{line}");
    }
    assert_eq!(swept.collect().0, 0);
    let here = Swept::new(SMALL);
    assert_eq!(here.sweep(&[]).0, 0);
    assert_eq!(swept.records(), here.records());
}

#[test]
#[cfg(unix)]
fn a_script_for_slurm_asks_for_what_was_estimated() {
    let swept = Swept::new(SMALL);
    let (code, stdout, stderr) = swept.sweep(&[
        "--engine",
        "slurm",
        "--no-submit",
        "--sbatch=--partition=short",
    ]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout, "out/plans/plan/array-1.sh\n");
    let script = std::fs::read_to_string(swept.path("out/plans/plan/array-1.sh")).unwrap();
    for line in [
        "#!/bin/bash",
        "#SBATCH --array=0-11",
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --time=00:03:00",
        "#SBATCH --partition=short",
    ] {
        assert!(
            script.lines().any(|found| found == line),
            "{line}: {script}"
        );
    }
    assert!(script.contains("#SBATCH --mem=1"), "{script}");
    let last = script.lines().last().unwrap();
    assert!(
        last.ends_with(" --index \"$SLURM_ARRAY_TASK_ID\""),
        "{last}"
    );

    // A task whose plan was made with other data or another program.
    let tasks = swept.path("out/plans/plan/array-1.tasks");
    let text = std::fs::read_to_string(&tasks).unwrap();
    let config = text.split("\"config\":\"").nth(1).unwrap()[..16].to_owned();
    std::fs::write(&tasks, text.replacen(&config, "0123456789abcdef", 1)).unwrap();
    let task = |index: &str| {
        swept.svn(&[
            "sweep",
            "task",
            "out/plans/plan/array-1.tasks",
            "--out",
            "out",
            "--index",
            index,
        ])
    };
    let (code, _, stderr) = task("0");
    assert_eq!(code, 1);
    assert!(
        stderr.contains("comes to other settings than those it was planned with"),
        "{stderr}"
    );
    let (code, _, stderr) = task("12");
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with("error: --index 12: expected 0 to 11, the tasks of "),
        "{stderr}"
    );
}

/// Hours of work.
#[cfg(target_os = "linux")]
const LONG: &str = "[[runs]]\nstudy = \"uci\"\narguments = { dataset = \"autompg\", folds = 4, untuned = true, method = \"ensemble\" }\n\
                    settings = { epochs = 1000000, patience = 0, hidden = 5 }\n";

/// Processes whose command line holds a word, but for this one.
#[cfg(target_os = "linux")]
fn processes(word: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let holds = |number: &u32| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    numbers.filter(holds).collect()
}

#[cfg(target_os = "linux")]
fn wait_for(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn no_worker_outlives_the_one_it_works_for() {
    let swept = Swept::new(LONG);
    let mut parent = swept
        .command(&["sweep", "plan.toml", "--out", "out", "--workers", "2"])
        .spawn()
        .unwrap();
    let out = swept.path("out").to_str().unwrap().to_owned();
    let logs = || {
        swept
            .path("out/uci/logs")
            .read_dir()
            .map_or(0, Iterator::count)
    };
    wait_for(|| logs() == 2);
    assert_eq!(processes(&out).len(), 2);
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_for(|| processes(&out).is_empty());
    let (code, _, stderr) = swept.collect();
    assert_eq!(code, 1);
    assert!(
        stderr.ends_with("4 of 4 runs have no record: 0 failed, 2 begun, 2 not begun\n"),
        "{stderr}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_that_is_killed_loses_its_run_alone() {
    let long = LONG
        .replace("1000000", "2000")
        .replace("folds = 4", "folds = 2");
    let swept = Swept::new(&long);
    let parent = swept
        .command(&["sweep", "plan.toml", "--out", "out", "--workers", "1"])
        .spawn()
        .unwrap();
    let out = swept.path("out").to_str().unwrap().to_owned();
    wait_for(|| {
        swept
            .path("out/uci/logs")
            .read_dir()
            .is_ok_and(|logs| logs.count() == 1)
    });
    let worker = processes(&out);
    assert_eq!(worker.len(), 1);
    let killed = Command::new("kill")
        .args(["-KILL", &worker[0].to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let (code, _, stderr) = finish(parent);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("its process ended: signal: 9 (SIGKILL)"),
        "{stderr}"
    );
    assert!(
        stderr.ends_with("1 of 2 runs have no record: 1 failed, 0 begun, 0 not begun\n"),
        "{stderr}"
    );
    let (code, _, stderr) = swept.sweep(&["--resubmit-failed"]);
    assert_eq!(code, 0, "{stderr}");
    let whole = Swept::new(&long);
    assert_eq!(whole.sweep(&[]).0, 0);
    assert_eq!(swept.records(), whole.records());
}

#[test]
fn the_plans_of_the_project_can_be_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plans");
    let mut found = 0;
    for entry in folder.read_dir().unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        // On a set that is here without a download.
        let text = text
            .replace("\"yacht\"", "\"autompg\"")
            .replace("all = true", "dataset = [\"autompg\", \"breast\"]");
        if text.contains("\"vision\"") && cfg!(not(feature = "torch")) {
            continue;
        }
        if text.contains("\"mnist\"") {
            continue;
        }
        found += 1;
        let swept = Swept::new(&text);
        let (code, stdout, stderr) = swept.sweep(&["--dry-run", "--no-probe"]);
        assert_eq!(code, 0, "{}: {stderr}", entry.path().display());
        assert!(stdout.contains(" 0 done, "), "{stdout}");
    }
    assert!(found >= 2);
}
