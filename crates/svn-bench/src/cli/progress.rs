//! Progress of a benchmark: a bar for each running fold on a terminal, a line for each finished one elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::experiment::EpochProgress;
use crate::experiment::tune::Trial;
use crate::experiment::uci::{JobLabel, Observer};
use crate::record::Record;
use crate::report::number;

/// Prints to standard error.
pub(super) struct Progress {
    bars: MultiProgress,
    total: ProgressBar,
    running: Mutex<BTreeMap<usize, ProgressBar>>,
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
        total.set_style(style(
            "{prefix} {bar:30} {pos}/{len} runs, {elapsed} gone, {eta} to go",
        ));
        total.set_prefix("all");
        Self {
            bars,
            total,
            running: Mutex::default(),
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
        if self.bars.is_hidden() || self.quiet {
            super::print::error(format_args!("{text}"));
        } else {
            // As in `clear`.
            let _ = self.bars.println(text);
        }
    }

    /// A run is done that has no record of the UCI benchmark.
    pub(super) fn done(&self, job: &JobLabel, text: &str, warnings: &[String]) {
        self.end(job);
        if !self.quiet {
            self.line(&format!("{job}: {text}"));
        }
        let said = lock(&self.said);
        for warning in warnings.iter().filter(|text| !said.contains(*text)) {
            self.line(&format!("warning: {job}: {warning}"));
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
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A template is checked by a test; a bad one would fall back to the default.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

const FOLD: &str = "{prefix:32} {bar:30} {pos}/{len} epochs, {eta} to go{msg}";

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
            let bar = self.bars.insert_before(&self.total, ProgressBar::new(0));
            bar.set_style(style(FOLD));
            bar.set_prefix(job.to_string());
            lock(&self.running).insert(job.index, bar);
        }
    }

    fn progress(&self, job: &JobLabel, progress: EpochProgress) {
        if let Some(bar) = lock(&self.running).get(&job.index) {
            bar.set_length(progress.epochs as u64);
            bar.set_position(progress.epoch as u64);
            if let Some(nll) = progress.validation_nll {
                bar.set_message(format!(", validation NLL {}", number(nll)));
            }
        }
    }

    fn finished(&self, job: &JobLabel, record: &Record) {
        self.end(job);
        if !self.quiet {
            let nll = record.metrics.get("nll").copied().flatten();
            let nll = nll.map_or_else(|| "–".to_owned(), number);
            let (best, seconds) = (record.best_epoch, record.timing.wall_s);
            self.line(&format!(
                "{job}: nll {nll}, best epoch {best}/{}, {seconds:.1} s",
                record.epochs
            ));
        }
        let said = lock(&self.said);
        for warning in record.warnings.iter().filter(|text| !said.contains(*text)) {
            self.line(&format!("warning: {job}: {warning}"));
        }
    }

    fn tried(&self, job: &JobLabel, trial: &Trial) {
        self.end(job);
        if !self.quiet {
            let nll = trial.validation_nll.map_or_else(
                || trial.failure.clone().unwrap_or_else(|| "–".to_owned()),
                number,
            );
            let (epochs, seconds) = (trial.epochs, trial.wall_s);
            self.line(&format!(
                "{job}: validation NLL {nll}, {epochs} epochs, {seconds:.1} s"
            ));
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
        assert!(ProgressStyle::with_template(FOLD).is_ok());
    }
}
