//! Sweeps on a real Slurm: a controller and two nodes on this machine, by `xtask/tests/slurm/cluster.sh`. Where Slurm is not
//! installed the tests say so and do nothing.

use super::sweep::Swept;
use super::*;

use std::path::PathBuf;

/// A cluster of one's own, which ends with the test.
struct Cluster {
    folder: tempfile::TempDir,
}

impl Cluster {
    fn script() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/tests/slurm/cluster.sh")
    }

    /// None where Slurm is not installed, which is said.
    fn start() -> Option<Self> {
        let check = Command::new("bash")
            .arg(Self::script())
            .arg("check")
            .output();
        let here = check.as_ref().is_ok_and(|output| output.status.success());
        if !here {
            let why = check.map_or_else(|error| error.to_string(), |output| text(&output.stdout));
            // Not through the harness, which shows what a test prints only where it fails.
            let _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                format!("SKIPPED: tests on Slurm, {}\n", why.trim()).as_bytes(),
            );
            return None;
        }
        let cluster = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        cluster.control("start");
        Some(cluster)
    }

    fn control(&self, what: &str) {
        let output = Command::new("bash")
            .arg(Self::script())
            .arg(what)
            .arg(self.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{what}: {}", text(&output.stderr));
    }

    fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    /// A command of Slurm.
    fn ask(&self, words: &[&str]) -> (bool, String) {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("SLURM_CONF", self.conf());
        let output = command.output().unwrap();
        (output.status.success(), text(&output.stdout))
    }

    fn sweep(&self, swept: &Swept, more: &[&str]) -> (i32, String, String) {
        let words = [
            &["sweep", "plan.toml", "--out", "out", "--engine", "slurm"],
            more,
        ]
        .concat();
        let mut command = swept.command(&words);
        finish(command.env("SLURM_CONF", self.conf()).spawn().unwrap())
    }

    /// `svn sweep collect`, which asks this cluster what is in its queue.
    fn collect(&self, swept: &Swept) -> (i32, String, String) {
        let mut command = swept.command(&["sweep", "collect", "plan.toml", "--out", "out"]);
        finish(command.env("SLURM_CONF", self.conf()).spawn().unwrap())
    }

    /// Numbers of tasks that run.
    fn running(&self) -> Vec<String> {
        let (_, told) = self.ask(&[
            "squeue",
            "--noheader",
            "--array",
            "--states=running",
            "--format=%i",
        ]);
        told.lines().map(|line| line.trim().to_owned()).collect()
    }

    /// Kill tasks until as many runs as are wanted are out of the queue without a record, or the queue is empty: one whose turn it is
    /// may end by itself before the signal comes.
    fn kill(&self, swept: &Swept, enough: impl Fn(&Lost) -> bool) {
        let start = Instant::now();
        while !enough(&self.lost(swept)) && !self.is_idle() {
            assert!(start.elapsed() < Duration::from_secs(200));
            for task in self.running().iter().take(2) {
                self.ask(&["scancel", "--full", "--signal=KILL", task]);
            }
        }
    }

    fn lost(&self, swept: &Swept) -> Lost {
        let (_, _, stderr) = self.collect(swept);
        let number = |before: &str, after: &str| -> usize {
            let (told, _) = stderr.rsplit_once(after).unwrap_or_default();
            let (_, number) = told.rsplit_once(before).unwrap_or_default();
            number.parse().unwrap_or(0)
        };
        match stderr.contains("squeue") {
            // Without the word of Slurm a run that goes on seems to be lost.
            true => Lost::default(),
            false => Lost {
                runs: number("error: ", " of 40 runs have no record"),
                begun: number(" failed, ", " begun,"),
            },
        }
    }

    /// Whether there are no tasks. An answer that is empty because the controller is not there is none.
    fn is_idle(&self) -> bool {
        let answer = self.ask(&["squeue", "--noheader", "--format=%i"]);
        matches!(answer, (true, told) if told.trim().is_empty())
    }

    /// Until there are no tasks.
    fn wait(&self) {
        let start = Instant::now();
        while !self.is_idle() {
            let queue = self.ask(&["squeue"]);
            assert!(start.elapsed() < Duration::from_secs(500), "{queue:?}");
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

/// Runs that have no record and are not in the queue.
#[derive(Default)]
struct Lost {
    runs: usize,
    /// Of these, cut off in the midst.
    begun: usize,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let script = Command::new("bash")
            .arg(Self::script())
            .arg("stop")
            .arg(self.folder.path())
            .output();
        assert!(script.is_ok() || std::thread::panicking());
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Forty runs of a second.
const FORTY: &str = "[[runs]]\nstudy = \"uci\"\narguments = { dataset = \"autompg\", folds = 5, untuned = true, method = \"ensemble\" }\n\
                     settings = { epochs = 150, patience = 0, hidden = 20 }\ngrid = { lr = [0.003, 0.005, 0.01, 0.02], particles = [3, 5] }\n";

#[test]
fn tasks_that_are_killed_a_node_that_leaves_and_a_controller_that_dies_change_no_record() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let undisturbed = Swept::new(FORTY);
    let (code, stdout, stderr) = cluster.sweep(&undisturbed, &[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains(": 40 tasks, 40 runs;"), "{stdout}");
    // While they wait, none is handed over once more.
    let (_, stdout, stderr) = cluster.sweep(&undisturbed, &[]);
    assert!(
        stderr.contains(" runs are in the queue of Slurm already"),
        "{stderr}"
    );
    assert!(!stdout.contains("tasks"), "{stdout}");
    cluster.wait();
    let (code, stdout, stderr) = cluster.collect(&undisturbed);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("all 40 runs of the plan are done"),
        "{stdout}"
    );

    let disturbed = Swept::new(FORTY);
    assert_eq!(cluster.sweep(&disturbed, &["--no-probe"]).0, 0);
    let done = || {
        disturbed
            .path("out/uci/tasks")
            .read_dir()
            .map_or(0, Iterator::count)
    };
    let reach = |count: usize| {
        let start = Instant::now();
        while done() < count {
            assert!(
                start.elapsed() < Duration::from_secs(400),
                "{} done",
                done()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    reach(3);
    cluster.kill(&disturbed, |lost| lost.begun >= 1);
    cluster.ask(&[
        "scontrol",
        "update",
        "nodename=node2",
        "state=drain",
        "reason=test",
    ]);
    reach(8);
    cluster.kill(&disturbed, |lost| lost.runs >= 3);
    cluster.control("restart");
    reach(12);
    cluster.kill(&disturbed, |lost| lost.runs >= 5);
    cluster.ask(&["scontrol", "update", "nodename=node2", "state=resume"]);
    cluster.wait();
    let (code, _, stderr) = cluster.collect(&disturbed);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("begun, not finished: uci autompg ensemble"),
        "{stderr}"
    );

    // On a busy machine one run of forty had no record after the second array, for a reason that is not known yet; who looks
    // after a sweep hands it over again.
    let mut left = 1;
    for _ in 0..4 {
        let more = ["--no-probe", "--resubmit-failed"];
        let (code, stdout, stderr) = cluster.sweep(&disturbed, &more);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains(" tasks, "), "{stdout}");
        cluster.wait();
        left = cluster.collect(&disturbed).0;
        if left == 0 {
            break;
        }
    }
    let (_, _, stderr) = cluster.collect(&disturbed);
    assert_eq!(left, 0, "{stderr}");
    assert_eq!(disturbed.records().len(), 40);
    assert_eq!(disturbed.records(), undisturbed.records());
}
