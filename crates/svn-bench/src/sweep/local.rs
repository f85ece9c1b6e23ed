//! Worker processes on this machine: as many as there are cores, as far as memory goes.
//!
//! A worker reads a job a line and answers with what came of it, so that data are loaded once for many jobs. When its input
//! ends it ends, in the midst of a job too: no worker outlives the process that it works for, however that went.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::task::{Done, Lack};
use super::{Folder, Job, SweepError};
use crate::engine::lock_mutex;

/// What is to be done with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errand {
    /// The run, to its record.
    Run,
    /// A few epochs of it, to see how long it takes.
    Probe,
}

/// Who works, and within which bounds.
#[derive(Debug, Clone, Copy)]
pub struct Local<'a> {
    /// The program, which is started with the arguments below.
    pub program: &'a Path,
    /// Arguments that make it [`serve`].
    pub arguments: &'a [String],
    /// Processes at a time.
    pub workers: usize,
    /// Bytes of memory that all jobs together may take.
    pub memory: f64,
    /// Where logs are.
    pub folder: &'a Folder,
}

/// Jobs that wait, and what those that run take.
struct Waiting {
    jobs: Vec<usize>,
    used: f64,
    running: usize,
}

impl Local<'_> {
    /// Do all jobs. `begun` and `over` hear of each, from several threads at once.
    ///
    /// # Errors
    /// [`SweepError::Io`] if no process can be started. A process that dies is none: its job failed, and another one goes on.
    pub fn run(
        &self,
        jobs: &[Job],
        errand: Errand,
        begun: &(dyn Fn(usize) + Sync),
        over: &(dyn Fn(usize, &Done) + Sync),
    ) -> Result<(), SweepError> {
        let waiting = Mutex::new(Waiting {
            jobs: (0..jobs.len()).rev().collect(),
            used: 0.0,
            running: 0,
        });
        let (freed, fatal) = (Condvar::new(), Mutex::new(None));
        let work = || -> Result<(), SweepError> {
            let mut worker = None;
            while let Some(index) = self.next(jobs, &waiting, &freed) {
                begun(index);
                let done = self.give(&mut worker, &jobs[index], errand);
                {
                    let mut waiting = lock_mutex(&waiting);
                    waiting.used -= jobs[index].bytes;
                    waiting.running -= 1;
                    if done.is_err() {
                        waiting.jobs.clear();
                    }
                }
                freed.notify_all();
                over(index, &done?);
            }
            worker.map_or(Ok(()), |worker| worker.dismiss(self.program))
        };
        std::thread::scope(|scope| {
            for _ in 0..self.workers.min(jobs.len()) {
                scope.spawn(|| {
                    if let Err(error) = work() {
                        lock_mutex(&fatal).get_or_insert(error);
                    }
                });
            }
        });
        match fatal.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The first job that fits into memory beside those that run; one that fits nowhere runs alone.
    fn next(&self, jobs: &[Job], waiting: &Mutex<Waiting>, freed: &Condvar) -> Option<usize> {
        let mut waiting = lock_mutex(waiting);
        loop {
            if waiting.jobs.is_empty() {
                return None;
            }
            let left = self.memory - waiting.used;
            let alone = waiting.running == 0;
            let fits = |&index: &usize| alone || jobs[index].bytes <= left;
            if let Some(place) = waiting.jobs.iter().rposition(fits) {
                let index = waiting.jobs.remove(place);
                waiting.used += jobs[index].bytes;
                waiting.running += 1;
                return Some(index);
            }
            waiting = freed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give(
        &self,
        worker: &mut Option<Worker>,
        job: &Job,
        errand: Errand,
    ) -> Result<Done, SweepError> {
        let mut able = match worker.take() {
            Some(worker) => worker,
            None => Worker::start(self).map_err(|source| SweepError::io(self.program, source))?,
        };
        match able.ask(job, errand) {
            Some(done) => {
                *worker = Some(able);
                Ok(done)
            }
            None => {
                let message = match able.child.wait() {
                    Ok(status) => format!("its process ended: {status}"),
                    Err(error) => format!("its process is lost: {error}"),
                };
                if errand == Errand::Run {
                    Lack::note(job, self.folder, &message);
                }
                Ok(Done::failed(message))
            }
        }
    }
}

struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(local: &Local<'_>) -> std::io::Result<Self> {
        let mut command = Command::new(local.program);
        command.args(local.arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self {
                child,
                input,
                output: BufReader::new(output),
            }),
            _ => Err(std::io::Error::other("a process without pipes")),
        }
    }

    /// What came of a job; none if the process is gone.
    fn ask(&mut self, job: &Job, errand: Errand) -> Option<Done> {
        let line = serde_json::to_string(&(errand, job)).ok()? + "\n";
        self.input.write_all(line.as_bytes()).ok()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).ok()?;
        serde_json::from_str(&answer).ok()
    }

    /// Its work is done; it ends by itself.
    fn dismiss(self, program: &Path) -> Result<(), SweepError> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        let ended = child.wait();
        ended
            .map(drop)
            .map_err(|source| SweepError::io(program, source))
    }
}

/// The other side: do the jobs of standard input, one after the other, and answer on standard output. The process ends at once
/// when its input does.
///
/// # Errors
/// [`SweepError::Io`] if nobody hears the answers.
pub fn serve(mut perform: impl FnMut(&Job, Errand) -> Done) -> Result<(), SweepError> {
    let jobs = heard();
    for line in jobs {
        let done = match serde_json::from_str(&line) {
            Ok((errand, job)) => perform(&job, errand),
            Err(error) => Done::failed(format!("no job of this version of svn ({error})")),
        };
        let answer = serde_json::to_string(&done).unwrap_or_default() + "\n";
        let mut output = std::io::stdout();
        let written = output.write_all(answer.as_bytes());
        let io = |source| SweepError::io(Path::new("standard output"), source);
        written.and_then(|()| output.flush()).map_err(io)?;
    }
    Ok(())
}

/// The lines of standard input, heard by a thread of its own.
fn heard() -> Receiver<String> {
    let (say, hear) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if say.send(line).is_err() {
                return;
            }
        }
        // Nobody waits for an answer any more, and every file is whole at every moment.
        std::process::exit(0);
    });
    hear
}
