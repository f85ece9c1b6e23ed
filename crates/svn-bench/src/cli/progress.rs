//! Progress of a benchmark: a bar for each running fold on a terminal, a line for each finished one elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};

use crate::engine::{
    Design, EpochProgress, JobLabel, Observer, Plan, Shown, Study, Work, distinct,
};
use crate::report::number;
use crate::terminal::print;

/// Prints to standard error.
pub(super) struct Progress {
    bars: MultiProgress,
    total: ProgressBar,
    running: Mutex<BTreeMap<usize, ProgressBar>>,
    /// When a line was last printed, where there are no bars.
    last: Mutex<Instant>,
    /// Warnings about the data, which are in every record, but are said once.
    said: Mutex<BTreeSet<String>>,
    quiet: bool,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        let bars = MultiProgress::new();
        let total = if quiet {
            ProgressBar::hidden()
        } else {
            bars.add(ProgressBar::new(0))
        };
        total.set_style(style(ALL));
        total.set_prefix("all");
        Self {
            bars,
            total,
            running: Mutex::default(),
            last: Mutex::new(Instant::now()),
            said: Mutex::default(),
            quiet,
        }
    }

    /// Remove all bars.
    pub(super) fn clear(&self) {
        self.total.finish_and_clear();
        // The terminal may be gone; the results are on disk.
        let _ = self.bars.clear();
    }

    /// A line above the bars, or on standard error without them.
    fn line(&self, text: &str) {
        *lock(&self.last) = Instant::now();
        let text = &print::escaped(text);
        if self.bars.is_hidden() || self.quiet {
            print::error(format_args!("{text}"));
        } else {
            // As in `clear`.
            let _ = self.bars.println(text);
        }
    }

    /// What is to be done, in a line.
    pub(super) fn head<S: Study>(&self, plan: &Plan<'_, S>, amount: &str, work: &Work<'_>) {
        if self.quiet {
            return;
        }
        let methods: Vec<String> = distinct(
            &plan
                .groups
                .iter()
                .map(|group| group.configuration.method.to_string())
                .collect::<Vec<_>>(),
        );
        let designs = plan.groups.iter().map(|group| {
            let design = &group.configuration.design;
            let hash = design.data_sha256().get(..8).unwrap_or_default();
            format!("{} ({hash})", design.dataset())
        });
        let designs = distinct(&designs.collect::<Vec<_>>());
        self.line(&format!(
            "bench-{}: {} by {}; {amount}, {jobs} at a time, to {}",
            S::NAME,
            designs.join(", "),
            methods.join(", "),
            work.folder.display(),
            jobs = work.jobs,
        ));
    }

    /// How long the rest may take at the pace of the runs that are done.
    fn left(&self) -> String {
        let (done, all) = (self.total.position(), self.total.length().unwrap_or(0));
        let eta = self.total.eta();
        match all > done && eta >= Duration::from_secs(60) {
            true => format!("; about {} left", HumanDuration(eta)),
            false => String::new(),
        }
    }

    fn end(&self, job: &JobLabel) {
        if let Some(bar) = lock(&self.running).remove(&job.index) {
            bar.finish_and_clear();
        }
        self.total.inc(1);
    }
}

/// A thread that panicked while it held the lock left nothing half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A template is checked by a test; a bad one would fall back to the default.
pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// At most so long nothing is printed where there are no bars.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

/// Both fit 80 columns.
const ALL: &str = "{prefix:30!} {bar:14} {pos}/{len} runs, {elapsed} gone, {eta} left";
const FOLD: &str = "{prefix:30!} {bar:14} {pos}/{len}, {eta} left{msg}";

impl Observer for Progress {
    fn warning(&self, text: &str) {
        lock(&self.said).insert(text.to_owned());
        self.line(&format!("warning: {text}"));
    }

    fn planned(&self, jobs: usize, done: usize) {
        self.total.inc_length(jobs as u64);
        if done > 0 && !self.quiet {
            self.line(&format!("{done} runs are done already, {jobs} to go"));
        }
    }

    fn started(&self, job: &JobLabel) {
        if !self.quiet {
            // Empty until the first epoch tells how many there are.
            let bar = self.bars.insert_before(&self.total, ProgressBar::new(1));
            bar.set_style(style(FOLD));
            bar.set_prefix(job.to_string());
            lock(&self.running).insert(job.index, bar);
        }
    }

    fn progress(&self, job: &JobLabel, progress: EpochProgress) {
        let nll = progress.validation_nll.map(number);
        if let Some(bar) = lock(&self.running).get(&job.index) {
            bar.set_length(progress.epochs as u64);
            bar.set_position(progress.epoch as u64);
            if let Some(nll) = &nll {
                bar.set_message(format!(", NLL {nll}"));
            }
        }
        // Without bars, a sign of life.
        if !self.quiet && self.bars.is_hidden() && lock(&self.last).elapsed() >= SILENCE {
            let EpochProgress { epoch, epochs, .. } = progress;
            let nll = nll.map_or_else(String::new, |nll| format!(", validation NLL {nll}"));
            self.line(&format!("{job}: epoch {epoch}/{epochs}{nll}"));
        }
    }

    fn finished(&self, job: &JobLabel, shown: &Shown<'_>) {
        self.end(job);
        if !self.quiet {
            let metric = |key: &str| shown.metrics?.get(key).copied().flatten();
            let value = metric("nll").or(shown.validation_nll);
            let name = match shown.metrics {
                Some(_) => "nll",
                None => "validation NLL",
            };
            let accuracy = metric("accuracy");
            let accuracy =
                accuracy.map_or_else(String::new, |a| format!("accuracy {}, ", number(a)));
            // With bars the last of them tells.
            let left = match self.bars.is_hidden() {
                true => self.left(),
                false => String::new(),
            };
            self.line(&format!(
                "{job}: {accuracy}{name} {}, best epoch {}/{}, {:.1} s{left}",
                value.map_or_else(|| "–".to_owned(), number),
                shown.best_epoch,
                shown.epochs,
                shown.wall_s
            ));
        }
        for warning in shown.warnings {
            // Once for a data set and method, though it is in every record.
            let key = format!("{} {}: {warning}", job.dataset, job.method);
            let news = {
                let mut said = lock(&self.said);
                !said.contains(warning) && said.insert(key)
            };
            if news {
                self.line(&format!("warning: {job}: {warning}"));
            }
        }
    }

    fn failed(&self, job: &JobLabel, message: &str) {
        self.end(job);
        self.line(&format!("failed: {job}: {message}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_parse() {
        for template in [ALL, FOLD] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
