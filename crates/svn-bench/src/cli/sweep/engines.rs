//! Who does the jobs of a plan.

use std::path::{Path, PathBuf};

use super::super::Outcome;
use super::super::progress::Progress;
use super::planned::Planned;
use super::studies::Parser;
use super::{Engine, Sweep, show};
use crate::engine::{self, JobLabel, Observer, Shown};
use crate::sweep::{Array, Done, Errand, Job, Lack, Local, Plan, Request, SweepError};
use crate::terminal::{DONE, print};

/// Tasks of an array at most, unless it is said otherwise: Slurm's own limit is 1001.
const TASKS: usize = 1000;

/// `svn sweep PLAN.toml`.
pub(super) fn run(
    sweep: &Sweep,
    plan: &Plan,
    mut planned: Planned,
    parser: &mut Parser,
) -> Outcome {
    let jobs = to_do(sweep, &planned);
    let crew = Crew::new(sweep, &planned)?;
    if sweep.dry_run {
        crew.probe(sweep, &planned, &jobs)?;
        return show::estimated(&planned, &jobs, crew.workers);
    }
    if jobs.is_empty() {
        return show::state(&planned);
    }
    match sweep.engine {
        Engine::Local => {
            crew.run(sweep, &jobs, planned.jobs.len())?;
            planned.again(parser)?;
            show::state(&planned)
        }
        Engine::Parallel => {
            let array = array(sweep, plan, &planned, &jobs)?;
            let file = array.beside("commands");
            let text = array.commands(&crew.program, &crew.out);
            crate::sweep::put(&file, &text)?;
            print::out(format_args!("parallel < {}", file.display()))?;
            Ok(DONE)
        }
        Engine::Slurm => {
            crew.probe(sweep, &planned, &jobs)?;
            slurm(sweep, plan, &planned, &jobs, &crew)
        }
    }
}

/// Jobs without a record that nobody has been asked for, but for those that failed unless they are wanted.
fn to_do(sweep: &Sweep, planned: &Planned) -> Vec<Job> {
    let lacking = planned.lacking();
    let wanted = |lack: &Lack| sweep.resubmit_failed || !matches!(lack, Lack::Failed(_));
    let jobs = lacking.iter().filter(|(_, lack)| wanted(lack));
    let jobs: Vec<Job> = jobs.map(|(job, _)| (*job).clone()).collect();
    let (failed, waiting) = (lacking.len() - jobs.len(), planned.waiting());
    if waiting > 0 {
        print::error(format_args!(
            "{waiting} runs are in the queue of Slurm already"
        ));
    }
    if failed > 0 {
        print::error(format_args!(
            "{failed} runs failed; --resubmit-failed tries them again"
        ));
    }
    jobs
}

/// Processes of this program.
struct Crew {
    program: PathBuf,
    /// Folder of the sweep, wherever a process stands.
    out: PathBuf,
    arguments: Vec<String>,
    workers: usize,
}

impl Crew {
    fn new(sweep: &Sweep, planned: &Planned) -> Result<Self, SweepError> {
        let here = Path::new(".");
        let program = std::env::current_exe().map_err(|source| SweepError::io(here, source))?;
        let root = planned.folder.root();
        let out = std::path::absolute(root).map_err(|source| SweepError::io(root, source))?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            program,
            arguments: ["sweep", "work", "--out"]
                .map(str::to_owned)
                .into_iter()
                .chain([out.to_string_lossy().into_owned()])
                .collect(),
            out,
            workers: sweep.workers.unwrap_or_else(cores),
        })
    }

    /// See how long configurations take that nothing is known of.
    fn probe(&self, sweep: &Sweep, planned: &Planned, jobs: &[Job]) -> Result<(), SweepError> {
        let mut known = planned.known();
        let mut unknown = Vec::new();
        for job in jobs {
            if !known.contains_key(&job.config) {
                // One job of each.
                known.insert(job.config.clone(), crate::sweep::Estimate::NONE);
                unknown.push(job.clone());
            }
        }
        if unknown.is_empty() || sweep.no_probe {
            return Ok(());
        }
        print::error(format_args!(
            "{} configurations are trained for two epochs to see how long they take",
            unknown.len()
        ));
        let local = self.local(&planned.folder);
        local.run(&unknown, Errand::Probe, &|_| {}, &|index, done| {
            if let Some(message) = &done.failure {
                let job = &unknown[index];
                print::error(format_args!("warning: {job}: {message}"));
            }
        })
    }

    /// Do all jobs, of so many.
    fn run(&self, sweep: &Sweep, jobs: &[Job], all: usize) -> Result<(), SweepError> {
        let progress = Progress::new(sweep.quiet);
        progress.planned(jobs.len(), all - jobs.len());
        let seeds: Vec<u64> =
            engine::distinct(&jobs.iter().map(|job| job.seed).collect::<Vec<_>>());
        let labels: Vec<JobLabel> = jobs
            .iter()
            .enumerate()
            .map(|(index, job)| label(index, job, seeds.len() > 1))
            .collect();
        let folder = crate::sweep::Folder::new(&self.out);
        let local = self.local(&folder);
        let begun = |index: usize| progress.started(&labels[index]);
        let over = |index: usize, done: &Done| match &done.failure {
            Some(message) => progress.failed(&labels[index], message),
            None => {
                let metrics = [("nll".to_owned(), done.nll)].into();
                progress.finished(
                    &labels[index],
                    &Shown {
                        metrics: Some(&metrics),
                        best_epoch: done.best_epoch,
                        epochs: done.epochs,
                        wall_s: done.wall_s,
                        warnings: &done.warnings,
                        ..Shown::default()
                    },
                );
            }
        };
        let ran = local.run(jobs, Errand::Run, &begun, &over);
        progress.clear();
        ran
    }

    fn local<'a>(&'a self, folder: &'a crate::sweep::Folder) -> Local<'a> {
        Local {
            program: &self.program,
            arguments: &self.arguments,
            workers: self.workers,
            memory: engine::of_this_machine() * SHARE,
            folder,
        }
    }
}

/// Share of the machine's memory that runs may take together.
const SHARE: f64 = 0.8;

fn label(index: usize, job: &Job, seeds: bool) -> JobLabel {
    let seed = seeds.then(|| format!("seed {}", job.seed));
    let notes = [Some(job.note.clone()).filter(|note| !note.is_empty()), seed];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    JobLabel {
        index,
        dataset: job.dataset.clone(),
        method: job.method,
        note: notes.join(" "),
        fold: job.fold,
        folds: job.folds,
    }
}

fn array(sweep: &Sweep, plan: &Plan, planned: &Planned, jobs: &[Job]) -> Result<Array, SweepError> {
    let per_task = sweep.per_task.unwrap_or(jobs.len().div_ceil(TASKS));
    Array::new(&planned.folder, &plan.name(), jobs, per_task)
}

fn slurm(sweep: &Sweep, plan: &Plan, planned: &Planned, jobs: &[Job], crew: &Crew) -> Outcome {
    let array = array(sweep, plan, planned, jobs)?;
    let known = planned.known();
    // Unknown times are no reason for a limit.
    let seconds = |task: &Vec<Job>| {
        task.iter()
            .map(|job| Some(known.get(&job.config)?.seconds))
            .sum()
    };
    let here = Path::new(".");
    let place = std::env::current_dir().map_err(|source| SweepError::io(here, source))?;
    let script = array.script(&Request {
        plan: &plan.name(),
        program: &crew.program,
        out: &crew.out,
        place: &place,
        seconds: array.tasks.iter().map(seconds).collect(),
        options: &sweep.sbatch,
    });
    let path = array.beside("sh");
    crate::sweep::put(&path, &script)?;
    let (tasks, runs) = (array.tasks.len(), jobs.len());
    if sweep.no_submit {
        print::out(path.display())?;
        return Ok(DONE);
    }
    let number = array.submit(&path)?;
    print::out(format_args!(
        "Slurm array {number}: {tasks} tasks, {runs} runs; once it is over: svn sweep collect"
    ))?;
    Ok(DONE)
}
