//! The side that trains: one task of an array, or jobs as they come.

use super::super::bench::{Bench, StudyArgs};
use super::super::{Failure, Outcome, TrainerFactory};
use super::Task;
use super::studies::{Parser, Studies, Visit};
use crate::engine::{self, EngineError};
use crate::sweep::{self, Array, Done, Errand, Folder, Job, Lack, SweepError, perform, probe};
use crate::terminal::{DONE, FAILED, print};

/// Does jobs, whose data stay loaded from one to the next.
struct Worker<'a> {
    folder: &'a Folder,
    parser: Parser,
    studies: Studies,
    trainer: TrainerFactory<'a>,
}

/// Studies that are kept: jobs of one data set come one after the other.
const KEPT: usize = 2;

impl<'a> Worker<'a> {
    fn new(folder: &'a Folder, parser: Parser, trainer: TrainerFactory<'a>) -> Self {
        // Parallelism is over processes. A pool that is there already is not replaced, and results depend on neither.
        let _ = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build_global();
        Self {
            folder,
            parser,
            studies: Studies::keeping(KEPT),
            trainer,
        }
    }

    fn perform(&mut self, job: &Job, errand: Errand) -> Result<Done, SweepError> {
        let home = self.folder.study(&job.study);
        let go = Go {
            studies: &mut self.studies,
            folder: self.folder,
            trainer: self.trainer,
            job,
            errand,
        };
        let done = self.parser.visit(&job.arguments, &home, go);
        done.map_err(|message| SweepError::Arguments(format!("{job}: {message}")))?
    }

    /// What came of a job, whatever that is.
    fn done(&mut self, job: &Job, errand: Errand) -> Done {
        self.perform(job, errand).unwrap_or_else(|error| {
            let message = error.to_string();
            if errand == Errand::Run {
                Lack::note(job, self.folder, &message);
            }
            Done::failed(message)
        })
    }
}

struct Go<'a> {
    studies: &'a mut Studies,
    folder: &'a Folder,
    trainer: TrainerFactory<'a>,
    job: &'a Job,
    errand: Errand,
}

impl Visit for Go<'_> {
    type Output = Result<Done, SweepError>;

    fn bench<A: StudyArgs + 'static>(self, bench: &Bench<A>) -> Self::Output {
        let trainer = (self.trainer)(bench.common.device).map_err(EngineError::from)?;
        let study = self.studies.of(bench)?;
        let plan = engine::Plan::new(study, &bench.asked())?;
        match self.errand {
            Errand::Run => perform(&plan, self.job, self.folder, trainer.as_ref()),
            Errand::Probe => probe(&plan, self.job, self.folder, trainer.as_ref()).map(Done::after),
        }
    }
}

/// `svn sweep work`.
pub(super) fn serve(folder: &Folder, parser: Parser, trainer: TrainerFactory<'_>) -> Outcome {
    let mut worker = Worker::new(folder, parser, trainer);
    sweep::serve(|job, errand| worker.done(job, errand))?;
    Ok(DONE)
}

/// `svn sweep task FILE --index I`.
pub(super) fn task(task: &Task, parser: Parser, trainer: TrainerFactory<'_>) -> Outcome {
    let jobs = Array::task(&task.file, task.index)?;
    let folder = Folder::new(&task.home.out);
    for job in &jobs {
        folder.make(&job.study)?;
    }
    let mut worker = Worker::new(&folder, parser, trainer);
    let mut failed = 0;
    for job in &jobs {
        let done = worker.done(job, Errand::Run);
        match done.failure {
            None => {
                print::out(format_args!("{job}: {:.1} s", done.wall_s)).map_err(Failure::from)?
            }
            Some(message) => {
                failed += 1;
                print::error(format_args!("failed: {job}: {message}"));
            }
        }
    }
    Ok(if failed == 0 { DONE } else { FAILED })
}
