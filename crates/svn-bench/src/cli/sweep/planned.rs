//! The jobs of a plan, and which of them are done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::bench::{Bench, StudyArgs};
use super::studies::{Parser, Studies, Visit};
use crate::engine::{self, EngineError, RecordOf, Study};
use crate::sweep::{
    Collected, Combination, Estimates, Folder, Job, Jobs, Lack, Plan, SweepError, collect, known,
    queued,
};
use crate::terminal::print;

/// A plan with its data, beside what is done.
pub(super) struct Planned {
    pub folder: Folder,
    /// Each once.
    pub jobs: Vec<Job>,
    /// By study.
    pub collected: BTreeMap<String, Collected>,
    /// Names of jobs that Slurm has still to do or is doing.
    pub queued: BTreeSet<String>,
}

impl Planned {
    /// Expand a plan, and collect what is done of its studies.
    pub(super) fn new(plan: &Plan, out: &Path, parser: &mut Parser) -> Result<Self, SweepError> {
        let folder = Folder::new(out);
        let jobs = jobs_of(plan, &folder, parser)?;
        let mut planned = Self {
            folder,
            jobs,
            collected: BTreeMap::new(),
            queued: BTreeSet::new(),
        };
        match queued(&planned.folder, &plan.name()) {
            Ok(queued) => planned.queued = queued,
            Err(error) => print::error(format_args!(
                "warning: {error}; what is in its queue counts as missing"
            )),
        }
        planned.collect(parser)?;
        Ok(planned)
    }

    /// Collect what is done now.
    pub(super) fn collect(&mut self, parser: &mut Parser) -> Result<(), SweepError> {
        for job in &self.jobs {
            if self.collected.contains_key(&job.study) {
                continue;
            }
            self.folder.make(&job.study)?;
            let merge = Merge(&self.folder);
            let home = self.folder.study(&job.study);
            let collected = parser.visit(&job.arguments, &home, merge);
            let collected = collected.map_err(SweepError::Arguments)??;
            self.collected.insert(job.study.clone(), collected);
        }
        Ok(())
    }

    /// As [`collect`](Self::collect), once more.
    pub(super) fn again(&mut self, parser: &mut Parser) -> Result<(), SweepError> {
        let before = std::mem::take(&mut self.collected);
        self.collect(parser)?;
        // What is new is so since the plan was read.
        for (study, collected) in &mut self.collected {
            collected.new += before.get(study).map_or(0, |before| before.new);
        }
        Ok(())
    }

    pub(super) fn is_done(&self, job: &Job) -> bool {
        let collected = self.collected.get(&job.study);
        collected.is_some_and(|collected| collected.keys.contains(&job.key()))
    }

    /// Jobs without a record that Slurm does not have either, and why.
    pub(super) fn lacking(&self) -> Vec<(&Job, Lack)> {
        let lacks = |job: &&Job| !self.is_done(job) && !self.queued.contains(&job.key());
        let lacking = self.jobs.iter().filter(lacks);
        lacking
            .map(|job| (job, Lack::of(job, &self.folder)))
            .collect()
    }

    /// How many jobs Slurm has that have no record.
    pub(super) fn waiting(&self) -> usize {
        let waiting = |job: &&Job| !self.is_done(job) && self.queued.contains(&job.key());
        self.jobs.iter().filter(waiting).count()
    }

    /// How long runs take, as far as that is known.
    pub(super) fn known(&self) -> Estimates {
        let of_study = |(study, collected): (&String, &Collected)| {
            let jobs = self.jobs.iter().filter(|job| job.study == *study);
            known(&self.folder, jobs, collected)
        };
        self.collected.iter().flat_map(of_study).collect()
    }
}

/// Merges the records of a study.
struct Merge<'a>(&'a Folder);

impl Visit for Merge<'_> {
    type Output = Result<Collected, SweepError>;

    fn bench<A: StudyArgs + 'static>(self, _: &Bench<A>) -> Self::Output {
        collect::<RecordOf<A::Study>>(self.0, A::Study::NAME)
    }
}

/// Adds the runs of a command line.
struct Add<'a> {
    studies: &'a mut Studies,
    jobs: &'a mut Jobs,
    combination: &'a Combination,
}

impl Visit for Add<'_> {
    /// Warnings of the plan.
    type Output = Result<Vec<String>, EngineError>;

    fn bench<A: StudyArgs + 'static>(self, bench: &Bench<A>) -> Self::Output {
        let study = self.studies.of(bench)?;
        let plan = engine::Plan::new(study, &bench.asked())?;
        self.jobs.add(&plan, self.combination);
        Ok(plan.warnings)
    }
}

/// Every job of a plan, once.
fn jobs_of(plan: &Plan, folder: &Folder, parser: &mut Parser) -> Result<Vec<Job>, SweepError> {
    let known = parser.studies();
    let (mut studies, mut jobs) = (Studies::keeping(usize::MAX), Jobs::default());
    let mut warnings = Vec::new();
    for combination in plan.combinations() {
        let (number, study) = (combination.number, combination.study());
        if !known.iter().any(|known| known == study) {
            let known = known.join(", ");
            let message = format!("unknown study `{study}`; expected one of {known}");
            return Err(plan.wrong(number, message));
        }
        let add = Add {
            studies: &mut studies,
            jobs: &mut jobs,
            combination: &combination,
        };
        let said = parser
            .visit(&combination.arguments(), &folder.study(study), add)
            .map_err(|message| plan.wrong(number, message))?
            .map_err(|error| plan.refused(number, error))?;
        warnings.extend(said);
    }
    for text in engine::distinct(&warnings) {
        print::error(format_args!("warning: {text}"));
    }
    match jobs.is_empty() {
        true => Err(SweepError::Arguments(
            "nothing to do: the plan has no [[runs]]".to_owned(),
        )),
        false => Ok(jobs.sorted()),
    }
}
