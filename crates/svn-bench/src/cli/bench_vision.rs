//! `svn bench-vision`: plan, run, report, print.

use super::progress::Progress;
use super::vision_args::BenchVision;
use super::{DONE, FAILED, Outcome, bench_uci, print, table};
use crate::data::SearchPath;
use crate::experiment::EpochProgress;
use crate::experiment::uci::{JobLabel, Observer};
use crate::experiment::vision::train;
use crate::experiment::vision::{
    self, DeviceKind, VisionObserver, VisionPlan, VisionRecord, VisionStore,
};
use crate::report;

pub(super) fn run(arguments: &BenchVision) -> Outcome {
    let device = arguments.device;
    train::prepare(device)?;
    let cores = match DeviceKind::from(device) {
        DeviceKind::Cpu => std::thread::available_parallelism().map_or(1, usize::from),
        DeviceKind::Cuda => 1,
    };
    let options = arguments.options(cores);
    let path = SearchPath::standard(arguments.data.as_deref());
    let plan = VisionPlan::new(&options, &path, device.into())?;
    let mut store = VisionStore::open(&arguments.out)?;
    let watch = Watch(Progress::new(arguments.quiet));
    let finished = vision::run(
        &plan,
        options.jobs,
        device,
        &arguments.out,
        &mut store,
        &watch,
    )?;
    watch.0.clear();

    let mut env = bench_uci::environment();
    env.extend(train::environment(device));
    let summary = report::vision::write(&arguments.out, store.entries(), env)?;
    let ours: Vec<_> = summary
        .results
        .iter()
        .filter(|row| plan.groups.iter().any(|group| group.config == row.config))
        .collect();
    print::out(table::render(&report::vision::brief(&ours)));
    print::out(arguments.out.join("report.md").display());
    for failure in &finished.failures {
        print::error(format_args!("failed: {}: {}", failure.job, failure.message));
    }
    if finished.failures.is_empty() {
        return Ok(DONE);
    }
    print::error(format_args!(
        "error: {} of {} runs failed; a rerun tries them again",
        finished.failures.len(),
        plan.jobs()
    ));
    Ok(FAILED)
}

/// The bars of the other benchmark, with a line of their own for each finished run.
struct Watch(Progress);

impl VisionObserver for Watch {
    fn warning(&self, text: &str) {
        Observer::warning(&self.0, text);
    }

    fn planned(&self, runs: usize, done: usize) {
        Observer::planned(&self.0, runs, done);
    }

    fn started(&self, run: &JobLabel) {
        Observer::started(&self.0, run);
    }

    fn progress(&self, run: &JobLabel, progress: EpochProgress) {
        Observer::progress(&self.0, run, progress);
    }

    fn finished(&self, run: &JobLabel, record: &VisionRecord) {
        let shown = |key| {
            record
                .metric(key)
                .map_or_else(|| "–".to_owned(), report::number)
        };
        let line = format!(
            "accuracy {}, nll {}, best epoch {}/{}, {:.1} s",
            shown("accuracy"),
            shown("nll"),
            record.best_epoch,
            record.epochs,
            record.timing.wall_s,
        );
        self.0.done(run, &line, &record.warnings);
    }

    fn failed(&self, run: &JobLabel, message: &str) {
        Observer::failed(&self.0, run, message);
    }
}
