//! Progress of one fit: a bar on a terminal, lines elsewhere.

use std::sync::Mutex;
use std::time::Instant;

use indicatif::ProgressBar;

use super::progress::{SILENCE, lock, style};
use crate::engine::EpochProgress;
use crate::report::number;
use crate::tabular::Watch;
use crate::terminal::print;

/// Prints to standard error.
pub(super) struct Epochs {
    bar: ProgressBar,
    quiet: bool,
    state: Mutex<State>,
}

struct State {
    started: Option<Instant>,
    last: Option<Instant>,
    best: Option<(usize, f64)>,
    /// Epochs that an earlier call has done.
    before: usize,
}

const BAR: &str = "{bar:20} {pos}/{len} epochs, {eta} left at most{msg}";

impl Epochs {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = match quiet {
            true => ProgressBar::hidden(),
            false => ProgressBar::no_length(),
        };
        bar.set_style(style(BAR));
        Self {
            bar,
            quiet,
            state: Mutex::new(State {
                started: None,
                last: None,
                best: None,
                before: 0,
            }),
        }
    }

    /// A line above the bar, or on standard error without it.
    pub(super) fn line(&self, text: &str) {
        let text = print::escaped(text);
        match self.bar.is_hidden() {
            true => print::error(text),
            false => self.bar.println(text),
        }
    }

    /// Remove the bar.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Epochs {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Watch for Epochs {
    fn tell(&self, text: &str) {
        if !self.quiet {
            self.line(text);
        }
    }

    fn warn(&self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    fn epoch(&self, progress: EpochProgress) {
        if self.quiet {
            return;
        }
        let EpochProgress { epoch, epochs, .. } = progress;
        let mut state = lock(&self.state);
        if let Some(nll) = progress.validation_nll
            && state.best.is_none_or(|(_, best)| nll < best)
        {
            state.best = Some((epoch, nll));
        }
        let nll = progress
            .validation_nll
            .map_or_else(|| "–".to_owned(), number);
        // Without rows that choose there is none.
        let score = state.best.map_or_else(String::new, |(at, best)| {
            format!(", validation NLL {nll} (best {} at {at})", number(best))
        });
        if !self.bar.is_hidden() {
            self.bar.set_length(epochs as u64);
            self.bar.set_position(epoch as u64);
            self.bar.set_message(score);
            return;
        }
        let now = Instant::now();
        let Some(started) = state.started else {
            (state.started, state.before) = (Some(now), epoch);
            return;
        };
        if state.last.is_none_or(|last| now - last >= SILENCE) {
            state.last = Some(now);
            let each = (now - started).as_secs_f64() / (epoch - state.before).max(1) as f64;
            let left = each * epochs.saturating_sub(epoch) as f64;
            self.line(&format!(
                "epoch {epoch}/{epochs}{score}, {left:.0} s left at most"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        assert!(indicatif::ProgressStyle::with_template(BAR).is_ok());
    }
}
